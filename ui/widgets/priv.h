/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_PRIV_H
#define KONTEND_UI_WIDGETS_PRIV_H

#include "widget.h"

/* Shared by tables and trees: a set of ids, a selection that moves, a window on rows. */

bool widget_ids_has(const struct widget_ids *s, uint64_t id);
/* Replaces the set by @n ids in any order. 0 or -ENOMEM, with the set then empty. */
int widget_ids_set(struct widget_ids *s, const uint64_t *ids, size_t n);
int widget_ids_add(struct widget_ids *s, uint64_t id);
void widget_ids_remove(struct widget_ids *s, uint64_t id);
void widget_ids_deinit(struct widget_ids *s);

/* Moves @index among @n rows; false when @c is no movement. */
bool widget_move(enum command c, size_t n, size_t page, size_t *index);
/* The jump that a command of the search asks for: it happens at the next drawing. */
bool widget_search(enum command c, int *search);
/* The first row to show, near @top, so that @index is among @page rows. */
size_t widget_scroll(size_t top, size_t index, size_t n, size_t page);
/* Row under a click in a widget with one title line, or SIZE_MAX. */
size_t widget_row_at(struct rect r, const struct command_arg *arg, size_t top, size_t n);
bool widget_inside(struct rect r, const struct command_arg *arg);
/* Text cut to @w columns, the last one then "…". */
void widget_text(struct screen *s, struct rect r, int x, int y, int w, enum role role,
		 const char *text);

#endif
