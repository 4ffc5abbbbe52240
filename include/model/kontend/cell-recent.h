/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_RECENT_H
#define KONTEND_CELL_RECENT_H

#include "kontend/cell.h"

/* The time passed to cell_wait() differs by so much from that of the waits in cell_add(). */
static inline void cell_recent_part(struct cell_table *t, const struct cell *c, uint64_t more_ns)
{
	if (more_ns)
		recent_add(&t->recent, RECENT_PART, (size_t)(c - t->cells), more_ns);
}

/* Of that time so much was spinning for a mutex, in the open tick. */
static inline void cell_recent_spin(struct cell_table *t, const struct cell *c, uint64_t ns)
{
	if (ns)
		recent_add(&t->recent, RECENT_SPIN, (size_t)(c - t->cells), ns);
}

/* In so much of it a CPU was idle. */
static inline void cell_recent_lose(struct cell_table *t, const struct cell *c, uint64_t ns)
{
	if (ns)
		recent_add(&t->recent, RECENT_LOST, (size_t)(c - t->cells), ns);
}

/* In @of_ns of waits other threads of their processes ran for @ns. */
static inline void cell_recent_par(struct cell_table *t, const struct cell *c, uint64_t ns,
				   uint64_t of_ns)
{
	if (ns)
		recent_add(&t->recent, RECENT_PAR, (size_t)(c - t->cells), ns);
	if (of_ns)
		recent_add(&t->recent, RECENT_PAR_OF, (size_t)(c - t->cells), of_ns);
}

/*
 * The part of the sums in a window of the last ticks, as cells of their own in @ret: an initialized
 * table of cells. Their rates are of the whole window. @keep: of which cells, by index; NULL: of
 * all. 0 or -ENOMEM.
 */
int cell_recent(const struct cell_table *t, const struct recent_window *w, const uint8_t *keep,
		struct cell_table *ret);

#endif
