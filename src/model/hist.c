// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms are sparse: a row of the model sees durations over 2 or 3 groups of 4 octaves, so it
 * refers to groups of 16 counters (one cache line) in a shared pool instead of holding all 160. A
 * full pool counts what it could not take; the exact figures (n, total, min, max) of the row live
 * elsewhere and stay right.
 */
#include "kontend/hist.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { FIRST_GROUPS = 64 };

uint64_t hist_lower(unsigned bucket)
{
	if (bucket < HIST_SUB)
		return bucket;
	unsigned e = bucket / HIST_SUB + 1;
	return (uint64_t)(HIST_SUB + bucket % HIST_SUB) << (e - 2);
}

uint64_t hist_upper(unsigned bucket)
{
	return hist_lower(bucket + 1);
}

uint64_t hist_percentile(const struct hist *h, double pct, uint64_t min, uint64_t max)
{
	double want = pct / 100.0 * (double)h->n;
	uint64_t seen = 0;
	unsigned b;

	if (!h->n)
		return 0;
	for (b = 0; b < HIST_BUCKETS - 1; b++) {
		seen += h->count[b];
		if (seen && (double)seen >= want)
			break;
	}
	uint64_t mid = hist_lower(b) + (hist_upper(b) - hist_lower(b)) / 2;
	if (mid < min)
		return min;
	return mid > max ? max : mid;
}

int hist_pool_init(struct hist_pool *p, uint32_t max_groups)
{
	*p = (struct hist_pool){
		.n_groups = 1, .cap_groups = FIRST_GROUPS, .max_groups = max_groups};
	p->groups = mem_calloc(p->cap_groups, sizeof(*p->groups));
	return p->groups ? 0 : -ENOMEM;
}

void hist_pool_deinit(struct hist_pool *p)
{
	mem_free(p->groups);
	*p = (struct hist_pool){0};
}

uint32_t hist_pool_group(struct hist_pool *p)
{
	uint32_t g = p->free;

	if (g) {
		p->free = p->groups[g][0];
	} else {
		if (p->n_groups >= p->max_groups)
			return 0;
		if (p->n_groups == p->cap_groups) {
			uint32_t cap = p->cap_groups * 2;
			void *groups = mem_resize(p->groups, cap, sizeof(*p->groups));
			if (!groups)
				return 0;
			p->groups = groups;
			p->cap_groups = cap;
		}
		g = p->n_groups++;
	}
	memset(p->groups[g], 0, sizeof(p->groups[g]));
	return g;
}

void hist_pool_give_back(struct hist_pool *p, uint32_t group)
{
	p->groups[group][0] = p->free;
	p->free = group;
}

void hist_pool_count(struct hist_pool *p, uint32_t refs, unsigned bucket, uint32_t n)
{
	uint32_t group = p->groups[refs][bucket / HIST_GROUP];

	if (!group) {
		group = hist_pool_group(p); /* which may move them all */
		p->groups[refs][bucket / HIST_GROUP] = group;
	}
	if (!group) {
		p->n_dropped += n;
		return;
	}
	uint32_t *count = &p->groups[group][bucket % HIST_GROUP];
	*count = *count + n < n ? UINT32_MAX : *count + n;
}

void hist_pool_sum(const struct hist_pool *p, const uint32_t refs[HIST_GROUPS], struct hist *sum)
{
	for (unsigned g = 0; g < HIST_GROUPS; g++) {
		if (!refs[g])
			continue;
		const uint32_t *from = p->groups[refs[g]];
		uint64_t *to = sum->count + g * HIST_GROUP;
		for (unsigned i = 0; i < HIST_GROUP; i++) {
			to[i] += from[i];
			sum->n += from[i];
		}
	}
}

static void merge_group(uint32_t *into, const uint32_t *from)
{
	for (unsigned i = 0; i < HIST_GROUP; i++) {
		uint64_t sum = (uint64_t)into[i] + from[i];
		into[i] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
	}
}

void hist_pool_move(struct hist_pool *p, uint32_t into[HIST_GROUPS], uint32_t from[HIST_GROUPS])
{
	for (unsigned g = 0; g < HIST_GROUPS; g++) {
		uint32_t f = from[g];
		if (!f)
			continue;
		from[g] = 0;
		if (!into[g]) {
			into[g] = f;
			continue;
		}
		merge_group(p->groups[into[g]], p->groups[f]);
		hist_pool_give_back(p, f);
	}
}

void hist_pool_clear(struct hist_pool *p)
{
	p->n_groups = 1;
	p->free = 0;
	p->n_dropped = 0;
}
