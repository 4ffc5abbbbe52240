// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long it takes to get mmap_locks: a row a process, or a memory cgroup, and mode. The first
 * line says how it is measured and what that costs now; where no lock is known to be an mmap_lock
 * one sentence says why.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/pane.h"
#include "kontend/query-mmap.h"
#include "kontend/units.h"

#include <string.h>

struct view_mmap {
	struct view v;
	struct pane pane;
	bool by_memcg;
};

static struct view_mmap *of_view(struct view *v)
{
	return (struct view_mmap *)v;
}

/* "level all  18.2k ev/s × 212ns = ~0.4% of a CPU  unpaired 12" */
static void draw_level(struct view_mmap *o, const struct query_mmap_sum *sum, struct screen *s,
		       struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF], b[UNITS_BUF];

	line_put(&l, ROLE_DIM, "level ");
	line_put(&l, ROLE_BOLD, query_mmap_level_text(o->v.query, sum));
	if (*sum->missing)
		line_printf(&l, ROLE_WARN, "  not %s: %s", mmlevel_name(sum->asked), sum->missing);
	if (sum->level == MMLEVEL_CONTENDED) {
		line_put(&l, ROLE_DIM, "  waits alone: no events beside those of contention");
		return;
	}
	line_put(&l, ROLE_DIM, "  costs ");
	line_printf(&l, ROLE_NORMAL, "%s ev/s",
		    sum->events_per_s > 0 ? units_rate(a, sum->events_per_s) : "·");
	if (sum->event_ns) {
		line_printf(&l, ROLE_DIM, " × %s = ", units_ns(a, sum->event_ns));
		units_pct(b, sum->cost_pct);
		line_printf(&l, ROLE_BOLD, "%s%s%%", b[0] == '<' ? "" : "~", b);
		line_put(&l, ROLE_DIM, " of a CPU");
	}
	if (sum->unpaired) {
		line_put(&l, ROLE_DIM, "  unpaired ");
		line_put(&l, ROLE_NORMAL, units_count(a, sum->unpaired));
	}
}

/* "by process [b]  sort WAIT/s ▼" */
static void draw_head(struct view_mmap *o, struct screen *s, struct rect r, const struct table *t,
		      const struct query_mmap_sum *sum)
{
	char ns[UNITS_BUF];
	const char *count = view_count_text(&o->v, t);
	int at = r.w - 1 - (int)strlen(count);
	struct line l = {.s = s, .r = {r.x, r.y, at > 0 ? at - 1 : r.w, r.h}, .x = 1};

	line_put(&l, ROLE_DIM, "by ");
	line_put(&l, ROLE_BOLD, query_mmap_by_name(o->by_memcg ? BY_MMAP_MEMCG : BY_MMAP));
	line_put(&l, ROLE_DIM, " [b]  sort ");
	line_put(&l, ROLE_BOLD, t->sort_col < t->n_columns ? t->columns[t->sort_col].title : "-");
	line_put(&l, ROLE_NORMAL, table_rises(t) ? " ▲" : " ▼");
	if (sum->level != MMLEVEL_CONTENDED && sum->event_ns)
		line_printf(&l, ROLE_DIM, "  times include ~%s of measuring",
			    units_ns(ns, sum->event_ns));
	if (*app_filter(o->v.app)) {
		line_put(&l, ROLE_DIM, "  filter ");
		line_put(&l, ROLE_MATCH, app_filter(o->v.app));
	}
	screen_put(s, r, at, 0, ROLE_DIM, count);
}

static int draw_table(struct view_mmap *o, struct screen *s, struct rect r, bool *ret_missed,
		      struct error *err)
{
	struct query *q = o->v.query;
	struct query_spec spec = {.by = o->by_memcg ? BY_CGROUP : BY_PROCESS};
	struct table_style style = {
		.heat = "wait_ns_per_s", .search = app_search(o->v.app), .tick = q->model->n_ticks};
	struct query_mmap_sum sum;
	struct table t;

	view_fill_spec(&o->v, &o->pane.table, &spec);
	pane_window(&o->pane, r.h, &spec);
	int code = query_mmap_sum(q, app_averages(o->v.app), &sum);
	code = code < 0 ? code : query_mmap(q, &spec, &t, err);
	if (code < 0)
		return code;
	draw_level(o, &sum, s, r);
	if (!t.n_total) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, query_mmap_none(q, &sum));
		return 0;
	}
	draw_head(o, s, layout_below(r, 1), &t, &sum);
	pane_draw_list(&o->pane, s, layout_below(r, 2), &t, &style);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, 4), ROLE_DIM, view_empty_text(&o->v, &t));
	*ret_missed = pane_missed(&o->pane, &spec);
	return 0;
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};
	bool missed = false;
	int code = draw_table(of_view(v), s, r, &missed, &err);

	if (code == 0 && missed)
		code = draw_table(of_view(v), s, r, &missed, &err);
	if (code < 0)
		view_draw_error(s, r, &err);
}

static void set_by(struct view_mmap *o, bool by_memcg)
{
	pane_deinit(&o->pane);
	o->pane = (struct pane){0};
	o->by_memcg = by_memcg;
}

static int set_by_name(struct view_mmap *o, const char *name)
{
	bool is_memcg = name && (!strcmp(name, "memcg") || !strcmp(name, "cgroup"));

	if (is_memcg || (name && !strcmp(name, "process")))
		set_by(o, is_memcg);
	else
		app_say(o->v.app, ROLE_WARN, "by %s? One of: process memcg", name ? name : "what");
	return 0;
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_mmap *o = of_view(v);

	if (c == CMD_BY)
		return set_by_name(o, arg->text);
	if (c == CMD_BY_NEXT) {
		set_by(o, !o->by_memcg);
		return 0;
	}
	int code = pane_list_command(&o->pane, c, arg);
	if (code != WIDGET_ENTER)
		return code;
	return view_open(v, o->by_memcg ? BY_MMAP_MEMCG : BY_MMAP, o->pane.table.selected);
}

static void deinit_view(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

const struct view_ops view_mmap = {
	.name = "mmap",
	.title = "mmap",
	.digit = '8',
	.help = "Whose mmap_lock takes long to get? A row is a process, or with b a memory cgroup, "
		"and R for readers (page faults of most kinds, /proc/PID/maps), W for writers "
		"(mmap, munmap, mprotect, fork). The first line says what is measured, and what "
		"that costs now. On the level contended P50 to MAX are of those that had to wait, "
		"as the contention events tell; what was got at once is not seen. --mmap sampled, "
		"pid or all measure all acquisitions, and how long it was held. Enter shows how "
		"long it took, the call paths that led to waits, and by task.",
	.tables = "mmap",
	.size = sizeof(struct view_mmap),
	.deinit = deinit_view,
	.draw = draw_view,
	.command = take_command,
};
