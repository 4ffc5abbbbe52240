/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ROTATION_H
#define KONTEND_QUERY_ROTATION_H

#include "kontend/pmus.h"
#include "kontend/query.h"

/*
 * Rotation of perf events where a PMU has fewer counters than it has events: what it costs, on
 * which CPU, because of whom. All answers lie in the query's arena, as those of query.h do.
 */

/* For the overview and the header line of the view. */
struct query_rotation_sum {
	bool known;	    /* the stream says which PMUs there are */
	const char *reason; /* why nothing is measured, or "" */
	uint32_t pmus;	    /* that rotate when there is need */
	const char *pmu;    /* "armv8_pmuv3 4ms, cpu 1ms"; "" = none */
	uint32_t timers;    /* that have rotated */
	uint64_t rotations, unpaired, total_ns;
	double per_s, ns_per_s; /* of the last bucket, or of all that was measured */
	uint64_t dropped, unmatched;
};

int query_rotation_sum(struct query *q, bool average, struct query_rotation_sum *ret);

/* Table "rotation": a row a CPU and PMU on which contexts have rotated. */
int query_rotation(struct query *q, const struct query_spec *s, struct table *ret,
		   struct error *err);
const struct column *query_rotation_columns(size_t *ret_n);
/* The sentence for a table without rows. */
const char *query_rotation_none(const struct query_rotation_sum *s);

#endif
