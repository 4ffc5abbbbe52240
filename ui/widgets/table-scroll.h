/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_TABLE_SCROLL_H
#define KONTEND_UI_WIDGETS_TABLE_SCROLL_H

#include "layout.h"
#include <stdbool.h>

/* How far a table is scrolled sideways: `shift` is asked for, all else is answered. */
struct table_scroll {
	size_t shift;	  /* columns, at most so many as bring the last one into view */
	bool left, right; /* there are more that way */
};

/*
 * Columns of a table in @width: as layout_columns() has them, or scrolled. Where there are more to
 * the right the last title leaves a cell for the mark. @sorted: the column whose title has a mark.
 */
size_t table_scroll_columns(struct table_scroll *s, const struct column *columns, size_t n,
			    size_t sorted, int width, struct layout_column *ret, size_t max);

#endif
