/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_SINCE_H
#define KONTEND_SRC_QUERY_SINCE_H

#include "kontend/model.h"

/* Finished ones, and those that are too short to be kept. */
static inline uint64_t query_waits_of(const struct model *m)
{
	uint64_t n = m->n_short;

	for (unsigned i = 0; i < LOCK_TYPES; i++)
		n += m->types[i].contended;
	return n;
}

/* Time that aggregates and averages are about. */
static inline uint64_t query_from(const struct model *m)
{
	return m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;
}

static inline uint64_t query_elapsed(const struct model *m)
{
	return m->now_ns > query_from(m) ? m->now_ns - query_from(m) : 0;
}

static inline uint64_t query_wait_ns(const struct model *m, const struct wait *w)
{
	return m->now_ns > w->begin_ns ? m->now_ns - w->begin_ns : 0;
}

/* The part since the sums began. */
static inline uint64_t query_wait_within_ns(const struct model *m, const struct wait *w)
{
	return wait_part_ns(w, query_from(m), m->now_ns);
}

static inline double query_per_s(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0.0;
}

#endif
