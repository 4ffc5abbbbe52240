/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_ANNOTATE_H
#define KONTEND_UI_VIEWS_ANNOTATE_H

#include "kontend/query-annotate.h"
#include "kontend/view.h"

/* The unit of the first column, of heat, marks and Tab. */
enum annotate_unit {
	ANNOTATE_PCT,
	ANNOTATE_SAMPLES,
	ANNOTATE_PERIOD,
	ANNOTATE_WAIT,
	ANNOTATE_UNITS,
};

enum { ANNOTATE_HEAD = 2 /* lines above the list */, ANNOTATE_JUMPS = 16, ANNOTATE_SHOWN = 256 };

struct view_annotate {
	struct view v; /* v.row: a place in the function; not its beginning: that is gone to */
	enum annotate_unit unit;
	bool bytes, addresses;
	bool no_source;	       /* lines of the source are not wanted */
	const char *lines_why; /* in the last frame; NULL: there are some */
	bool waits;	       /* the function has any */
	size_t line, n;	       /* the chosen one, of so many */
	uint64_t offset;       /* of it, as lines may be others when it is drawn again */
	bool placed;	       /* at the hottest one, once */
	bool moved;	       /* `line` is newer than `offset` */
	bool jumped;	       /* further than by keys: what is around it shall be seen */
	int search;	       /* pending jump: +1, -1 */
	size_t top;	       /* first row that is shown */
	struct rect list;
	uint32_t shown[ANNOTATE_SHOWN];	    /* lines of the rows that are */
	size_t n_shown, n_instructions;	    /* of them */
	uint64_t came_from[ANNOTATE_JUMPS]; /* offsets of jumps that were followed, oldest first */
	size_t n_came_from;
};

const char *annotate_unit_name(enum annotate_unit u); /* "percent"; NULL after the last */
uint64_t annotate_value(const struct query_code_line *l, enum annotate_unit u);
/* The line with most of the unit; SIZE_MAX: none has any. */
size_t annotate_hottest(const struct query_annotate *a, enum annotate_unit u);
/*
 * Lines with any of the unit, most first: *ret_n of them, and which of these @line is, from 1 on;
 * 0: none. Its neighbours in this order, round the end; SIZE_MAX: there are none.
 */
struct annotate_rank {
	size_t n, rank, next, prev;
};
struct annotate_rank annotate_rank(const struct query_annotate *a, enum annotate_unit u,
				   size_t line);
/* The line that @offset is in, or the last one before it; 0 if there is none. */
size_t annotate_line_at(const struct query_annotate *a, uint64_t offset);

/* A row of the list: a line, or what is in the source where it is from. */
struct annotate_row {
	uint32_t line;
	bool is_source;
};

struct annotate_rows {
	struct annotate_row *items;
	size_t n;
	uint32_t *of_line; /* the row of each line */
};

/* @source: with lines of the source, as far as they are known. 0 or -ENOMEM. */
int annotate_rows(const struct query_annotate *a, bool source, struct arena *arena,
		  struct annotate_rows *ret);
/* "rwsem.c:1273  while (...)", of an inlined function with its name; "": not known. Returns buf. */
enum { ANNOTATE_SOURCE = 600 };
const char *annotate_source(const struct query_code_line *l, char buf[ANNOTATE_SOURCE]);

/* annotate-head.c: the first lines of @r. */
void annotate_draw_head(const struct view_annotate *o, const struct query_annotate *a,
			struct screen *s, struct rect r);
/* annotate-draw.c: titles and the lines about the chosen one. 0 or -ENOMEM. */
int annotate_draw_list(struct view_annotate *o, const struct query_annotate *a, struct screen *s,
		       struct rect r);

#endif
