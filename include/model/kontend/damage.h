/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DAMAGE_H
#define KONTEND_DAMAGE_H

#include <stdint.h>

/* Errors and gaps in the data. Counts (uint64_t) since the start. */
struct model_damage {
	uint64_t lost;		  /* records the kernel dropped: ring full (LOST, LOST_SAMPLES) */
	uint64_t dropped;	  /* records our queue dropped */
	uint64_t throttled;	  /* THROTTLE records */
	uint64_t unmatched_begin; /* waits whose end was never seen */
	uint64_t unmatched_end;	  /* ends whose begin was never seen */
	uint64_t unmatched;	  /* the sum of both; model_damage() fills it in */
	uint64_t doubtful;	/* waits ended, but records were lost in between: not aggregated */
	uint64_t late;		/* events out of order */
	uint64_t bad;		/* records that could not be decoded */
	uint64_t folded;	/* waits whose identity was folded into "other" */
	uint64_t no_stack;	/* waits that came without call chain */
	uint64_t deep;		/* waits nested deeper than we keep */
	uint64_t snapshot_lost; /* taken, but not there or too large */
	uint64_t snapshot_unknown; /* of a kind or version that is not understood */
};

/* Counts at the begin of the range: they are subtracted from running sums. */
struct model_before {
	uint64_t n_events, n_ticks;
	struct model_damage damage;
};

#endif
