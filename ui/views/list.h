/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_LIST_H
#define KONTEND_UI_VIEWS_LIST_H

#include "kontend/screen.h"
#include "pane.h"
#include "widgets/layout.h"

/*
 * A view that is one table: its query, the line with what the rows are by and how they are sorted,
 * the table, and the keys for all that. The special parts of a view are in its list_ops.
 */
struct list_view {
	struct view v;
	struct pane pane;
	unsigned by; /* place in list_ops.bys */
};

enum { LIST_END = -1 };

struct list_ops {
	int (*ask)(struct list_view *l, struct query_spec *spec, struct table *ret,
		   struct error *err);
	/* All others may be NULL. Lines above the table: how many, or LIST_END: that was all. */
	int (*head)(struct list_view *l, struct screen *s, struct rect r, const struct table *t);
	/* Words in the line of keys, before "by", after "sort" and at its end. */
	void (*before)(struct list_view *l, struct line *line);
	void (*options)(struct list_view *l, struct line *line);
	void (*behind)(struct list_view *l, struct line *line);
	/* Which columns there are room and use for. */
	void (*fit)(struct list_view *l, struct table *t);
	/* The sentence for a table without rows, if it is not the one of locks; t->n_total is 0. */
	const char *(*empty)(struct list_view *l, const struct table *t);
	int (*page)(struct list_view *l); /* opens the page of the selected row, nothing more */
	int (*open)(struct list_view *l); /* Enter on it; NULL: page() */
	int (*command)(struct list_view *l, enum command c, const struct command_arg *arg);
	void (*drawn)(struct list_view *l, const struct table *t); /* after each frame */
	/* Is there a column of that name when the rows are by that? Else the order is the default
	 * again. */
	bool (*sorts)(unsigned by, const char *key);
	bool (*skips)(struct list_view *l, unsigned by); /* `b` passes it by */
	const char *const *bys;				 /* what `b` goes through, ended by NULL */
	/* Are figures of the window of time, or of all? The line shows it. */
	bool (*has_window)(const struct list_view *l);
	bool has_no_keys;	 /* the head says what that line would */
	const char *needs_looks; /* data that needs lock snapshots: named if there are none */
	const char *heat;	 /* as in table_style */
	enum role (*row_role)(const struct table *t, size_t row);
};

/* For view_ops: draw, command, deinit. `list` of the ops says what is special. */
void list_draw(struct view *v, struct screen *s, struct rect r);
int list_command(struct view *v, enum command c, const struct command_arg *arg);
void list_deinit(struct view *v);
int list_page(struct view *v); /* view_ops.page, where list_ops has one */
/* A row, by its id, before the first frame. */
void list_select(struct list_view *l, uint64_t row);
bool list_has_window(const struct list_view *l); /* always */

/*
 * The same for a page of several panes: the one table of it that sort keys and filters are for.
 * A wrong sort key or filter is reported in its place.
 */
struct list_part {
	struct view *v;
	struct pane_set *set;
	size_t pane; /* of the set */
	int lines;   /* at most, that will be seen */
	int (*ask)(struct view *v, struct query_spec *spec, struct table *ret, struct error *err);
	void (*fit)(struct view *v, struct table *t); /* or NULL */
	/* Answered. */
	struct table table;
	struct query_spec spec;
	struct error wrong;
};

/* 0 also for a filter or sort key that is wrong. */
int list_part_ask(struct list_part *p, struct error *err);
/* "@what, filter mm: 7 of 318 rows" */
const char *list_part_title(struct list_part *p, const char *what);
/* @empty: said below the titles of the columns where there are no rows; NULL: nothing. */
void list_part_draw(struct list_part *p, struct screen *s, struct rect r, const char *title,
		    const struct table_style *style, const char *empty);

static inline struct list_view *list_of(struct view *v)
{
	return (struct list_view *)v;
}

extern const struct view_choices list_choices;

#define LIST_VIEW(OPS)                                                                             \
	.list = (OPS), .deinit = list_deinit, .draw = list_draw, .command = list_command,          \
	.choices = &list_choices

#endif
