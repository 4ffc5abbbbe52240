/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VIEW_CHOICES_H
#define KONTEND_VIEW_CHOICES_H

#include "kontend/query.h"

struct view;
struct table_widget;

/* Arguments of `:by` in a view, in the order of `by-next`. */
struct view_bys {
	const char *names[QUERY_BYS + 4];
	size_t n, now;
};

/* Choices of a view, for the lists over it. */
struct view_choices {
	/* NULL, or answers none: rows are what they are. */
	void (*bys)(struct view *v, struct view_bys *ret);
	/* The table that sort keys are for; NULL: there is a tree in its place. */
	struct table_widget *(*table)(struct view *v);
};

#endif
