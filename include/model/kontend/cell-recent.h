/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_RECENT_H
#define KONTEND_CELL_RECENT_H

#include "kontend/cell.h"

/* What cell_wait() was told differs from the waits that cell_add() was told by so much. */
static inline void cell_recent_part(struct cell_table *t, const struct cell *c, uint64_t more_ns)
{
	if (more_ns)
		recent_add(&t->recent, RECENT_PART, (size_t)(c - t->cells), more_ns);
}

/*
 * What lies in a window of the last ticks, as cells of their own in @ret: a table of cells that has
 * been made. Their rates are of the whole window. @keep: of which cells, by index; NULL: of all. 0
 * or -ENOMEM.
 */
int cell_recent(const struct cell_table *t, const struct recent_window *w, const uint8_t *keep,
		struct cell_table *ret);

#endif
