/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HEAT_CELLS_H
#define KONTEND_HEAT_CELLS_H

#include "kontend/cell.h"
#include "kontend/heat-part.h"

/* Is a part of the column in its time? */
static inline bool heat_cells_has_column(const struct heat_part *p, const struct heat_column *c)
{
	return c->at >= p->from_ns >> (HEAT_BASE + c->level) &&
	       (!p->to_ns || heat_begin_ns(c) < p->to_ns);
}

static inline bool heat_cells_has_bucket(const struct heat_part *p, unsigned bucket)
{
	return heat_part_has_length(p, hist_lower(bucket));
}

/*
 * These waits as cells of their own in @ret, an initialized table of cells: in whole columns of the
 * log and whole buckets of the histogram, so that the shortest and the longest of several in a
 * bucket are their average. @keep: of which cells, by index; NULL: of all. 0 or -ENOMEM.
 */
int heat_cells(const struct cell_table *t, const struct heat_part *p, const uint8_t *keep,
	       struct cell_table *ret);

#endif
