/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HIST_FINE_H
#define KONTEND_HIST_FINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Durations with 64 buckets an octave, from 64 ns to 268 ms: for a few quantities whose percentiles
 * are to be right within a percent, which those of hist.h are not. `= {0}` is a valid empty one;
 * it gets its memory (5.5 KiB) with the first value.
 */
enum {
	HIST_FINE_SUB = 64,
	HIST_FINE_LOW = 6,
	HIST_FINE_OCTAVES = 22,
	HIST_FINE_BUCKETS = HIST_FINE_SUB * HIST_FINE_OCTAVES
};

struct hist_fine {
	uint64_t n, total_ns, min_ns, max_ns;
	uint32_t *count; /* HIST_FINE_BUCKETS, or NULL */
};

/* 0, or -ENOMEM: then the sums have it, and the buckets have not. */
int hist_fine_add(struct hist_fine *f, uint64_t ns);
void hist_fine_clear(struct hist_fine *f); /* keeps the memory */
int hist_fine_copy(struct hist_fine *dst,
		   const struct hist_fine *src); /* into an empty one; 0 or -ENOMEM */
void hist_fine_deinit(struct hist_fine *f);
/* The value below which @pct percent lie; 0 when empty. */
uint64_t hist_fine_percentile(const struct hist_fine *f, double pct);
/* Values from @from_ns up to but not with @to_ns, by whole buckets. */
uint64_t hist_fine_between(const struct hist_fine *f, uint64_t from_ns, uint64_t to_ns);

#endif
