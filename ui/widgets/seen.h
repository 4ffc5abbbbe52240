/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_SEEN_H
#define KONTEND_UI_WIDGETS_SEEN_H

#include "layout.h"

/* The room that rows of a table have needed lately. `= {0}` has seen none. */
struct seen {
	struct layout_need need[TABLE_COLUMNS];
	/* From here on private to ui/widgets/seen.c. */
	uint16_t longest[2][TABLE_COLUMNS]; /* of this period, and of the one before */
	uint8_t against[TABLE_COLUMNS];	    /* ticks in a row whose rows contradict `empty` */
	uint64_t tick;
	size_t page; /* rows that have had room */
	bool any;
};

/* Notes the @n rows from @first on, which are on the screen. */
void seen_rows(struct seen *s, const struct table *t, size_t first, size_t n, uint64_t tick);

#endif
