/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SERIES_H
#define KONTEND_SERIES_H

#include <stdint.h>

enum { SERIES_LEN = 64 };

/* The last SERIES_LEN closed buckets of one quantity. `= {0}` is a valid empty series. */
struct series {
	uint64_t *v;	/* ring; NULL: all zero */
	uint64_t ticks; /* model ticks at the last push; older than the model's: zeros since */
};

int series_push(struct series *s, uint64_t tick, uint64_t value); /* bucket number @tick */
/* Value of the bucket @back ticks before tick @now (0 = the last closed one). */
uint64_t series_at(const struct series *s, uint64_t now, unsigned back);
int series_copy(struct series *dst, const struct series *src); /* into an empty one */
void series_deinit(struct series *s);

#endif
