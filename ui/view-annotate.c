// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function by its instructions: the share of its samples that each has, and what is waited for
 * locks below each call. It opens at the hottest one. Where the code is not to be had the first
 * lines say why, and the places that were sampled are shown by their offsets.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/query-annotate.h"
#include "kontend/units.h"
#include "view-hot.h"

#include <errno.h>

enum { C_PCT, C_SAMPLES, C_WAIT, C_OFFSET, C_CODE, C_COLUMNS, SR = COLUMN_SCREEN };

static const struct column columns[C_COLUMNS] = {
	[C_PCT] = {"pct", "CPU%", "", COLUMN_PCT, 5, 0, SR},
	[C_SAMPLES] = {"samples", "SAMPLES", "", COLUMN_COUNT, 7, 3, SR},
	[C_WAIT] = {"wait_ns", "WAIT", "", COLUMN_NS, 6, 1, SR},
	[C_OFFSET] = {"offset", "OFFSET", "", COLUMN_TEXT, 8, 0, SR},
	[C_CODE] = {"text", "INSTRUCTION", "", COLUMN_TEXT, 24, 0, SR | COLUMN_WIDE},
};

struct view_annotate {
	struct view v; /* v.row: where the function begins */
	struct pane pane;
	uint64_t hottest; /* its row in the last frame */
	bool placed;	  /* at the hottest instruction, once */
};

static struct view_annotate *of_view(struct view *v)
{
	return (struct view_annotate *)v;
}

/* Offsets are no ids yet: 0 is none. */
static uint64_t id_of(const struct query_code_line *l)
{
	return l->offset + 1;
}

static void fill(struct query *q, const struct query_code_line *l, struct value *v)
{
	v[C_PCT] = (struct value){.d = l->pct, .known = true};
	v[C_SAMPLES] = (struct value){.u = l->samples, .known = true};
	v[C_WAIT] = (struct value){.u = l->wait_ns, .known = true};
	v[C_OFFSET].s = arena_printf(&q->arena, "+0x%llx", (unsigned long long)l->offset);
	v[C_OFFSET].known = v[C_OFFSET].s;
	v[C_CODE] = (struct value){.s = l->text, .known = l->text};
}

static int make_table(struct query *q, const struct query_annotate *a, struct table *ret)
{
	struct table t = {.name = "annotate",
			  .columns = columns,
			  .n_columns = C_COLUMNS,
			  .n_rows = a->n,
			  .n_total = a->n,
			  .n_match = a->n,
			  .sort_col = SIZE_MAX};

	t.values = arena_alloc(&q->arena, (a->n + 1) * C_COLUMNS * sizeof(*t.values));
	t.ids = arena_alloc(&q->arena, (a->n + 1) * sizeof(*t.ids));
	if (!t.values || !t.ids)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		t.ids[i] = id_of(&a->lines[i]);
		fill(q, &a->lines[i], t.values + i * C_COLUMNS);
	}
	*ret = t;
	return 0;
}

static void draw_head(const struct query_annotate *a, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_BOLD, a->symbol);
	line_printf(&l, ROLE_NORMAL, "  %s samples, ", units_count(buf, a->samples));
	line_printf(&l, ROLE_NORMAL, "%s%% of all", units_pct(buf, a->pct));
	if (a->waits && a->wait_ns)
		line_printf(&l, ROLE_NORMAL, "  waited below %s", units_ns(buf, a->wait_ns));
	if (a->source)
		line_printf(&l, ROLE_DIM, "  code: %s", a->source);
}

static void go_to_hottest(struct view_annotate *o)
{
	o->pane.table.selected = o->hottest;
	o->pane.table.has_rows = true;
	o->pane.moved = true;
	o->placed = true;
}

static int draw_lines(struct view_annotate *o, struct screen *s, struct rect r, struct error *err)
{
	struct query *q = o->v.query;
	struct table_style style = {.heat = "pct", .search = app_search(o->v.app)};
	struct query_annotate a;
	struct table t;
	int code = query_annotate(q, o->v.row, &a, err);

	if (code == 0)
		code = make_table(q, &a, &t);
	if (code < 0)
		return code;
	o->hottest = a.hottest < a.n ? id_of(&a.lines[a.hottest]) : 0;
	const struct rect list = layout_below(r, a.source ? 2 : 3);
	draw_head(&a, s, r);
	if (!a.source)
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, a.why);
	if (!o->placed && o->hottest) {
		/* The widget keeps its selection only among rows that it has drawn. */
		pane_draw_list(&o->pane, s, list, &t, &style);
		go_to_hottest(o);
		screen_fill(s, list, ' ', ROLE_NORMAL);
	}
	pane_draw_list(&o->pane, s, list, &t, &style);
	return 0;
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};

	if (draw_lines(of_view(v), s, r, &err) < 0) {
		if (!err.code)
			error_set(&err, -ENOMEM, "Out of memory");
		view_draw_error(s, r, &err);
	}
	hot_load_names(v);
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_annotate *o = of_view(v);

	if (c == CMD_HOTTEST && o->hottest) {
		go_to_hottest(o);
		return 0;
	}
	if (c == CMD_SORT || c == CMD_SORT_NEXT || c == CMD_SORT_PREV || c == CMD_SORT_REVERSE)
		return 0; /* the order is that of the code */
	int code = pane_list_command(&o->pane, c, arg);
	return code == WIDGET_ENTER ? 0 : code;
}

static void deinit_view(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

int hot_open_annotate(struct view *v, uint64_t row)
{
	const char *title = query_hot_title(v->query, HOT_SYMBOL, row);
	uint64_t start;

	if (!title || query_hot_start(v->query, row, &start) < 0) {
		app_say(v->app, ROLE_NORMAL, "it has no samples any more");
		return 0;
	}
	return app_push_row(v->app, &view_annotate, start, title);
}

const struct view_ops view_annotate = {
	.name = "annotate",
	.title = "annotate",
	.help = "A function by its instructions, as they are in memory now or in the recording: "
		"the share of its samples that each has, and what is waited for locks below each "
		"call. H goes to the hottest one, s searches.",
	.size = sizeof(struct view_annotate),
	.deinit = deinit_view,
	.draw = draw_view,
	.command = take_command,
};
