/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FINE_H
#define KONTEND_FINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Durations with 64 buckets an octave, from 64 ns to 268 ms: for a few quantities whose percentiles
 * are to be right within a percent, which those of hist.h are not. `= {0}` is a valid empty one;
 * it gets its memory (5.5 KiB) with the first value.
 */
enum { FINE_SUB = 64, FINE_LOW = 6, FINE_OCTAVES = 22, FINE_BUCKETS = FINE_SUB * FINE_OCTAVES };

struct fine {
	uint64_t n, total_ns, min_ns, max_ns;
	uint32_t *count; /* FINE_BUCKETS, or NULL */
};

/* 0, or -ENOMEM: then the sums have it, and the buckets have not. */
int fine_add(struct fine *f, uint64_t ns);
void fine_clear(struct fine *f);			 /* keeps the memory */
int fine_copy(struct fine *dst, const struct fine *src); /* into an empty one; 0 or -ENOMEM */
void fine_deinit(struct fine *f);
/* The value below which @pct percent lie; 0 when empty. */
uint64_t fine_percentile(const struct fine *f, double pct);
/* Values from @from_ns up to but not with @to_ns, by whole buckets. */
uint64_t fine_between(const struct fine *f, uint64_t from_ns, uint64_t to_ns);

#endif
