// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dense histogram of logarithmic buckets, each 1/64 of an octave wide: a value read at the middle
 * of its bucket is off by less than 0.8 %, and never outside of the smallest and the greatest value
 * that were seen. Values below the first octave or above the last one are counted at the edge.
 */
#include "kontend/hist-fine.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

static unsigned bucket_of(uint64_t ns)
{
	if (ns < 1u << HIST_FINE_LOW)
		return 0;
	unsigned e = 63u - (unsigned)__builtin_clzll(ns);
	if (e >= HIST_FINE_LOW + HIST_FINE_OCTAVES)
		return HIST_FINE_BUCKETS - 1;
	return (e - HIST_FINE_LOW) * HIST_FINE_SUB +
	       (unsigned)(ns >> (e - HIST_FINE_LOW) & (HIST_FINE_SUB - 1));
}

static uint64_t lower(unsigned bucket)
{
	return (uint64_t)(HIST_FINE_SUB + bucket % HIST_FINE_SUB) << bucket / HIST_FINE_SUB;
}

int hist_fine_add(struct hist_fine *f, uint64_t ns)
{
	f->min_ns = !f->n || ns < f->min_ns ? ns : f->min_ns;
	f->max_ns = ns > f->max_ns ? ns : f->max_ns;
	f->n++;
	f->total_ns += ns;
	if (!f->count)
		f->count = mem_calloc(HIST_FINE_BUCKETS, sizeof(*f->count));
	if (!f->count)
		return -ENOMEM;
	uint32_t *count = &f->count[bucket_of(ns)];
	*count += *count != UINT32_MAX;
	return 0;
}

void hist_fine_clear(struct hist_fine *f)
{
	uint32_t *count = f->count;

	if (count)
		memset(count, 0, HIST_FINE_BUCKETS * sizeof(*count));
	*f = (struct hist_fine){.count = count};
}

int hist_fine_copy(struct hist_fine *dst, const struct hist_fine *src)
{
	*dst = *src;
	dst->count = mem_dup(src->count, HIST_FINE_BUCKETS, sizeof(*src->count));
	return dst->count || !src->count ? 0 : -ENOMEM;
}

void hist_fine_deinit(struct hist_fine *f)
{
	mem_free(f->count);
	*f = (struct hist_fine){0};
}

static uint64_t clamp(const struct hist_fine *f, uint64_t ns)
{
	if (ns < f->min_ns)
		return f->min_ns;
	return ns > f->max_ns ? f->max_ns : ns;
}

uint64_t hist_fine_percentile(const struct hist_fine *f, double pct)
{
	uint64_t all = 0, seen = 0;
	unsigned b;

	if (!f->count)
		return f->n ? f->total_ns / f->n : 0;
	for (b = 0; b < HIST_FINE_BUCKETS; b++)
		all += f->count[b];
	double want = pct / 100.0 * (double)all;
	for (b = 0; b < HIST_FINE_BUCKETS - 1; b++) {
		seen += f->count[b];
		if (seen && (double)seen >= want)
			break;
	}
	return clamp(f, lower(b) + (lower(b + 1) - lower(b)) / 2);
}

uint64_t hist_fine_between(const struct hist_fine *f, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t n = 0;

	if (!f->count || to_ns <= from_ns)
		return 0;
	for (unsigned b = bucket_of(from_ns); b < HIST_FINE_BUCKETS && lower(b) < to_ns; b++)
		n += f->count[b];
	return n;
}
