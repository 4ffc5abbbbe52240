/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DRAIN_POLICY_H
#define KONTEND_DRAIN_POLICY_H

/* How soon records leave the rings. */
enum drain_policy {
	DRAIN_INTERACTIVE, /* a user looks on: early */
	DRAIN_REPORT,	   /* nobody looks before the end: rings are read less often */
	DRAIN_THROUGHPUT,  /* recording: few wake-ups, large pieces */
};

#endif
