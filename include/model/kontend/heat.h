/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HEAT_H
#define KONTEND_HEAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * When waits ended and how long they were, since the sums began: per column of time, cell and
 * bucket of the histogram the number of waits and their time. Columns are powers of two of
 * nanoseconds, aligned to the clock of the stream; the newest are HEAT_BASE bits long, older ones
 * longer: of each length there are `each` or more before they are joined in pairs. So any window
 * that ends now has at least half as many columns, and what a column has depends on the times of
 * events alone. Room is bounded: where it is not enough columns are joined sooner, then the oldest
 * are given up.
 */
enum {
	HEAT_BASE = 23,	  /* 8.4 ms */
	HEAT_LEVELS = 41, /* the last one has half of all time in a column */
	HEAT_EACH = 256,
	HEAT_EACH_LEAST = 16,
};

struct heat_entry {
	uint32_t cell, bucket;
	uint64_t n, ns;
};

struct heat_column {
	uint64_t at; /* begins there, in its own length */
	size_t first;
	uint8_t level; /* it is HEAT_BASE + level bits long */
};

struct heat {
	struct heat_entry *entries; /* the same cell and bucket may have several in a column */
	size_t n, cap;
	uint32_t max;		     /* 0: nothing is kept */
	struct heat_column *columns; /* by time; the last one is open */
	size_t n_columns, cap_columns;
	/* Entries from `base` on by the hash of cell and bucket; of an older stamp: empty. */
	struct heat_slot {
		uint32_t stamp, at;
	} * slots;
	uint32_t stamp;
	size_t base;
	uint32_t n_newest; /* columns of level 0 */
	uint32_t each;
	uint64_t end_ns;     /* of the open column */
	uint64_t dropped_ns; /* end of the latest column that was given up; 0: none */
	uint64_t n_lost;     /* waits for which there was no memory */
};

static inline uint64_t heat_begin_ns(const struct heat_column *c)
{
	return c->at << (HEAT_BASE + c->level);
}

static inline size_t heat_end(const struct heat *h, size_t column)
{
	return column + 1 < h->n_columns ? h->columns[column + 1].first : h->n;
}

void heat_deinit(struct heat *h);
int heat_copy(struct heat *dst, const struct heat *src); /* 0 or -ENOMEM */
void heat_clear(struct heat *h);
size_t heat_bytes(const struct heat *h);
/* Indices of cells have changed: @map has the new ones; NULL: not known, and all is given up. */
void heat_remap(struct heat *h, const uint32_t *map);
void heat_count(struct heat *h, size_t cell, unsigned bucket, uint64_t n, uint64_t ns,
		uint64_t end_ns);

/* @n waits of one bucket have ended, @ns long together. Late ones are in the open column. */
static inline void heat_add(struct heat *h, size_t cell, unsigned bucket, uint64_t n, uint64_t ns,
			    uint64_t end_ns)
{
	if (h->max)
		heat_count(h, cell, bucket, n, ns, end_ns);
}

#endif
