/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HIST_H
#define KONTEND_HIST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Log2 histogram of durations with 4 sub-buckets an octave: a value is known to within 1/4 of its
 * octave, so a percentile read at the bucket's middle is off by less than 12.5 %. 160 buckets
 * reach 2^40 ns (18 minutes); longer ones go to the last.
 */
enum {
	HIST_SUB = 4,
	HIST_BUCKETS = 160,
	HIST_GROUP = 16, /* buckets of a group: 4 octaves, one cache line */
	HIST_GROUPS = HIST_BUCKETS / HIST_GROUP,
};

static inline unsigned hist_bucket(uint64_t v)
{
	if (v < HIST_SUB)
		return (unsigned)v;
	unsigned e = 63u - (unsigned)__builtin_clzll(v);
	unsigned b = (e - 1) * HIST_SUB + (unsigned)(v >> (e - 2) & (HIST_SUB - 1));
	return b < HIST_BUCKETS ? b : HIST_BUCKETS - 1;
}

uint64_t hist_lower(unsigned bucket); /* smallest value of the bucket */
uint64_t hist_upper(unsigned bucket); /* smallest value above it */

/* A whole histogram, as queries sum it up. */
struct hist {
	uint64_t n;
	uint64_t count[HIST_BUCKETS];
};

static inline void hist_count(struct hist *h, uint64_t v)
{
	h->n++;
	h->count[hist_bucket(v)]++;
}

/* The values of octave @octave, from hist_lower(octave * HIST_SUB) on. */
static inline uint64_t hist_octave(const struct hist *h, unsigned octave)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HIST_SUB; i++)
		n += h->count[octave * HIST_SUB + i];
	return n;
}

/*
 * Value below which @pct percent lie: the middle of its bucket, clamped to [min, max] which the
 * caller knows exactly. 0 when empty.
 */
uint64_t hist_percentile(const struct hist *h, double pct, uint64_t min, uint64_t max);

/*
 * Storage of many sparse histograms: groups of 16 u32 counters from one pool, 0 = no group. Bounded
 * by its owner. Counters saturate.
 */
struct hist_pool {
	uint32_t (*groups)[HIST_GROUP];
	uint32_t n_groups, cap_groups; /* group 0 is never handed out */
	uint32_t max_groups;
	uint32_t free;	    /* list through [0] of free groups */
	uint64_t n_dropped; /* values not counted since the pool was full */
};

int hist_pool_init(struct hist_pool *p, uint32_t max_groups);
void hist_pool_deinit(struct hist_pool *p);
/* A group of zeros; 0: the pool is full. */
uint32_t hist_pool_group(struct hist_pool *p);
void hist_pool_give_back(struct hist_pool *p, uint32_t group);

static inline void hist_pool_add(struct hist_pool *p, uint32_t refs[HIST_GROUPS], uint64_t value)
{
	unsigned b = hist_bucket(value);
	uint32_t *ref = &refs[b / HIST_GROUP];

	if (!*ref && !(*ref = hist_pool_group(p))) {
		p->n_dropped++;
		return;
	}
	uint32_t *count = &p->groups[*ref][b % HIST_GROUP];
	*count += *count != UINT32_MAX;
}
/* Counts @n values of @bucket in the histogram whose references are themselves group @refs. */
void hist_pool_count(struct hist_pool *p, uint32_t refs, unsigned bucket, uint32_t n);
/* Adds the histogram in @refs to @sum. */
void hist_pool_sum(const struct hist_pool *p, const uint32_t refs[HIST_GROUPS], struct hist *sum);
/* Moves the counts in @from to @into and frees @from's groups. */
void hist_pool_move(struct hist_pool *p, uint32_t into[HIST_GROUPS], uint32_t from[HIST_GROUPS]);
void hist_pool_clear(struct hist_pool *p);

#endif
