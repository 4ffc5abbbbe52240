/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_SUMS_H
#define KONTEND_METRICS_SUMS_H

#include "kontend/map64.h"
#include "kontend/metrics.h"
#include "kontend/named-sums.h"
#include "kontend/openmetrics.h"
#include "kontend/user-seen.h"

/* Limits: names of each metric, and new names per second: the first by time waited. */
enum { METRICS_LOCKS = 100, METRICS_CGROUPS = 100, METRICS_PROCESSES = 100 };
enum { METRICS_FIRST = 20 };
/* Locks and processes examined in a second; all others are `other`. */
enum { METRICS_LOOKED_AT = 80 };

enum { METRICS_PROBES = 100, METRICS_PROBES_BEGIN = 20 };

/* Hits of uprobes since the first snapshot, by place. */
struct metrics_probes {
	struct named_sums rows; /* "/usr/bin/app:parse", "...:parse%return" */
	struct map64 known;	/* id of a probe -> its index in `hits` */
	uint64_t *hits;		/* of the latest snapshot */
	size_t n_hits, cap_hits;
	uint64_t time_ns; /* of that snapshot; 0: none yet */
	bool missed;	  /* a snapshot did not have all probes */
};

/* All sums, which only grow. */
struct metrics_sums {
	struct openmetrics *types; /* all that files have as well */
	struct named_sums locks, cgroups, processes;
	struct metrics_probes probes;
	uint64_t rotations, rotation_ns;
	bool counts_futexes;
	struct user_counts futexes;			  /* sleeps there */
	uint64_t summed[LOCK_TYPES], counted[LOCK_TYPES]; /* waits without events: shorts.h */
};

int metrics_sums_init(struct metrics_sums *s, const char *version); /* -ENOMEM */
void metrics_sums_deinit(struct metrics_sums *s);
/*
 * Adds the sums of the model of @q, which then starts again from zero. -ENOMEM: some may be
 * missing.
 */
int metrics_sums_add(struct metrics_sums *s, struct query *q);
/* Resets the longest waits after they have been written. */
void metrics_sums_clear_longest(struct metrics_sums *s);

/* probes.c */
int metrics_probes_init(struct metrics_probes *p); /* -ENOMEM */
void metrics_probes_deinit(struct metrics_probes *p);
/* Adds new hits of the latest snapshot of @q, each snapshot once. -ENOMEM: some may be missing. */
int metrics_probes_add(struct metrics_probes *p, struct query *q);

/* put.c */
/* Writes the server's whole text to @t, except its end. -ENOMEM: it is incomplete. */
int metrics_put_all(const struct metrics_sums *s, struct query *q, const struct metrics_counts *c,
		    uint64_t n_scrapes, struct openmetrics_text *t);

#endif
