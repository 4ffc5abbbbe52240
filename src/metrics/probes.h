/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_PROBES_H
#define KONTEND_METRICS_PROBES_H

#include "kontend/named-sums.h"
#include "kontend/query.h"

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

int metrics_probes_init(struct metrics_probes *p); /* -ENOMEM */
void metrics_probes_deinit(struct metrics_probes *p);
/* Adds new hits of the latest snapshot of @q, each snapshot once. -ENOMEM: some may be missing. */
int metrics_probes_add(struct metrics_probes *p, struct query *q);

#endif
