/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DRAIN_POLICY_H
#define KONTEND_DRAIN_POLICY_H

/* How soon records leave the rings. */
enum drain_policy {
	DRAIN_EVENTS,	  /* the user or a program reads event by event: early */
	DRAIN_SCREEN,	  /* a user looks on from tick to tick, or pressing keys */
	DRAIN_REPORT,	  /* nothing is shown before the end: rings are read less often */
	DRAIN_THROUGHPUT, /* recording: few wake-ups, large pieces */
};

#endif
