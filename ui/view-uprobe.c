// SPDX-License-Identifier: GPL-2.0-only
/*
 * One step below the view of uprobes: a probe, with where it is, why it costs what it does and its
 * hits by CPU; or the slots of a process over time, and the tasks in them.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/pane.h"
#include "view-uprobes.h"

#include <string.h>

struct view_row {
	struct view v;
	struct pane pane;
};

static struct view_row *of_view(struct view *v)
{
	return (struct view_row *)v;
}

/* The text of a column, "" where it is not known. */
static const char *text_of(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_value(t, row, table_column(t, key));

	return v->known ? v->s : "";
}

static int draw_pair(struct screen *s, struct rect r, int y, const char *what, const char *text)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	if (!*text)
		return y;
	line_printf(&l, ROLE_DIM, "%-9s", what);
	line_put(&l, ROLE_NORMAL, text);
	return y + 1;
}

/* What the row of the table above says in columns that have no room there. */
static int draw_probe(struct view *v, struct screen *s, struct rect r, int y, const struct table *t,
		      size_t row)
{
	struct arena *a = &v->query->arena;
	const char *binary = text_of(t, row, "binary"), *bytes = text_of(t, row, "bytes");
	uint64_t offset = table_value(t, row, table_column(t, "offset"))->u;
	const struct value *ref = table_value(t, row, table_column(t, "ref_ctr"));
	const char *place = arena_printf(a, "%s+0x%llx%s%s", binary, (unsigned long long)offset,
					 *bytes ? "  " : "", bytes);
	const char *class_ =
		arena_printf(a, "%s  %s", text_of(t, row, "class"), text_of(t, row, "reason"));
	const char *owner = arena_printf(a, "%s  by %s  %s", text_of(t, row, "owner"),
					 text_of(t, row, "source"), text_of(t, row, "name"));

	y = draw_pair(s, r, y, "place", place ? place : "");
	y = draw_pair(s, r, y, "class", class_ ? class_ : "");
	y = draw_pair(s, r, y, "cheaper", text_of(t, row, "hint"));
	y = draw_pair(s, r, y, "owner", owner ? owner : "");
	if (ref->known) {
		const char *text = arena_printf(a, "0x%llx", (unsigned long long)ref->u);
		y = draw_pair(s, r, y, "semaphore", text ? text : "");
	}
	return y;
}

static void draw_list(struct view_row *o, struct screen *s, struct rect r, const struct table *t,
		      const char *empty)
{
	struct table_style style = {.tick = o->v.query->model->n_ticks,
				    .search = app_search(o->v.app)};

	pane_draw_list(&o->pane, s, r, t, &style);
	if (!t->n_rows)
		view_draw_text(s, layout_below(r, 1), ROLE_DIM,
			       t->n_total ? view_empty_text(&o->v, t) : empty);
}

static void uprobe_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_row *o = of_view(v);
	struct query_spec all = {.average = app_averages(v->app)}, spec = {0};
	struct query_uprobe_sum sum;
	struct error err = {0};
	struct table probes, hits;

	view_fill_spec(v, &o->pane.table, &spec);
	if (query_uprobe_sum(v->query, all.average, &sum) < 0 ||
	    query_uprobe_probes(v->query, &all, &probes, &err) < 0 ||
	    query_uprobe_hits(v->query, v->row, &spec, &hits, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	size_t row = table_row(&probes, v->row);
	if (row == SIZE_MAX) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, "this probe is gone");
		return;
	}
	int y = view_uprobes_head(v, s, r, &sum);
	y = draw_probe(v, s, r, y, &probes, row);
	draw_list(o, s, layout_below(r, y + 1), &hits, "hits by CPU are not known of this probe");
}

/* "6/31 ■■■■■■□□□□□□□□□□□□□□□□□□□□□□□□□  max 15  avg 6.4": of at most so many slots. */
enum { MARKS = 64 };

static int draw_area(struct screen *s, struct rect r, int y, const struct upsnap_area *a)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	line_put(&l, ROLE_DIM, "slots  ");
	if (a->used < 0) {
		line_put(&l, ROLE_NORMAL, "-");
		return y + 1;
	}
	line_printf(&l, a->used >= a->slots ? ROLE_WARN : ROLE_BOLD, "%d/%d ", a->used, a->slots);
	for (int32_t i = 0; i < a->slots && a->slots <= MARKS; i++)
		line_put(&l, i < a->used ? ROLE_HEAT_MID : ROLE_DIM, i < a->used ? "■" : "□");
	line_printf(&l, ROLE_NORMAL, "  max %u  avg %.1f", a->max_used,
		    a->samples ? (double)a->sum_used / a->samples : 0.0);
	return y + 1;
}

/* The last looks, a column each: used slots of all, as a bar of eight steps. */
static int draw_recent(struct screen *s, struct rect r, int y, const struct upsnap_area *a)
{
	uint64_t recent[UPSNAP_RECENT];
	int w = r.w - 9;
	struct line l = {.s = s, .r = r, .x = 1, .y = y};

	if (!a->n_recent || a->slots <= 0 || w < 4)
		return y;
	for (uint32_t i = 0; i < a->n_recent; i++)
		recent[i] = a->recent[i];
	line_put(&l, ROLE_DIM, "course ");
	w = w > UPSNAP_RECENT ? UPSNAP_RECENT : w;
	widget_sparkline(s, r, 8, y, w, recent, a->n_recent, (uint64_t)a->slots);
	return y + 1;
}

static const struct upsnap_area *find_area(struct view *v)
{
	const char *why;
	const struct upsnap *snap = query_uprobe_snap(v->query, &why);

	for (size_t i = 0; snap && i < snap->n_areas; i++)
		if (snap->areas[i].mm == v->row)
			return &snap->areas[i];
	return NULL;
}

static void xol_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_row *o = of_view(v);
	const struct upsnap_area *a = find_area(v);
	struct query_spec spec = {0};
	struct query_uprobe_sum sum;
	struct error err = {0};
	struct table t;

	view_fill_spec(v, &o->pane.table, &spec);
	if (query_uprobe_sum(v->query, false, &sum) < 0 ||
	    query_uprobe_tasks(v->query, v->row, &spec, &t, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	if (!a) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, "this process is gone");
		return;
	}
	int y = view_uprobes_head(v, s, r, &sum);
	y = draw_recent(s, r, draw_area(s, r, y, a), a);
	draw_list(o, s, layout_below(r, y + 1), &t,
		  sum.missing & UPSNAP_NO_TASKS ? "who is in the slots is not known"
						: "nobody is in a slot");
}

static int row_command(struct view *v, enum command c, const struct command_arg *arg)
{
	int r = pane_list_command(&of_view(v)->pane, c, arg);

	return r == WIDGET_ENTER ? 0 : r;
}

static void row_deinit(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

const struct view_ops view_uprobe = {
	.name = "uprobe",
	.title = "uprobe",
	.help = "A probe: its place and the bytes that it replaced, what the kernel does with "
		"them and why, where it would cost less, and its hits by CPU.",
	.tables = "uphits",
	.size = sizeof(struct view_row),
	.deinit = row_deinit,
	.draw = uprobe_draw,
	.command = row_command,
};

const struct view_ops view_xol = {
	.name = "xol",
	.title = "slots",
	.help = "The slots of a process for instructions that are executed out of line: in use "
		"now, at most and on the average of all looks, over the last looks, and the tasks "
		"that are in them or wait for one.",
	.tables = "uptasks",
	.size = sizeof(struct view_row),
	.deinit = row_deinit,
	.draw = xol_draw,
	.command = row_command,
};
