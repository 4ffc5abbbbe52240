/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_UPROBES_H
#define KONTEND_UI_VIEWS_UPROBES_H

#include "kontend/query-uprobe.h"
#include "kontend/view.h"
#include "widgets/line.h"

/*
 * The lines on top of the views of uprobes: figures, how and when they were found out, then what is
 * damaged or missing and why. Answers how many lines of @r that took.
 */
int view_uprobes_head(struct view *v, struct screen *s, struct rect r,
		      const struct query_uprobe_sum *p);

/* Their line in the overview. */
void view_uprobes_line(const struct query_uprobe_sum *p, struct line *l);

#endif
