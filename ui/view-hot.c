// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where CPUs spend their time: functions by their share of the samples, with what is waited for
 * locks below them; or files, processes, tasks, kinds of locks, CPUs, call chains. The first line
 * says what is sampled, and how much of it is in lock paths.
 */
#include "view-hot.h"
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/units.h"
#include "view-flame.h"

#include <errno.h>
#include <string.h>

static const uint64_t LOAD_NS = 1000000ull * HOT_LOAD_MS;

struct view_hot {
	struct view v;
	struct pane pane;
	enum query_hot_by by;
	bool locks;
	struct query_zoom zoom;
};

static struct view_hot *of_view(struct view *v)
{
	return (struct view_hot *)v;
}

void hot_load_names(struct view *v)
{
	if (query_load_names(v->query, LOAD_NS))
		app_again(v->app);
	const char *note = query_load_note(v->query);
	if (note)
		app_say(v->app, ROLE_WARN, "%s", note);
}

void hot_draw_zoom(const struct query_zoom *zoom, struct line *l)
{
	for (size_t i = 0; i < zoom->n; i++)
		line_printf(l, ROLE_MATCH, "%s%s %s", i ? ", " : "",
			    query_zoom_kind_name(zoom->terms[i].kind), zoom->terms[i].name);
	if (zoom->n)
		line_put(l, ROLE_NORMAL, "  ");
}

/* As many as there is room for: by group, the table has all. */
static void draw_groups(const struct query *q, const struct query_hot_sum *sum, double all,
			struct line *l)
{
	char buf[UNITS_BUF];

	for (int g = PATH_IDLE; g < PATH_ALL; g++)
		if (sum->groups[g] &&
		    !line_whole(l, ROLE_DIM, "  %s %s%%",
				query_hot_group_name(q, (enum path_group)g),
				units_pct(buf, 100.0 * (double)sum->groups[g] / all))) {
			line_whole(l, ROLE_DIM, " …");
			return;
		}
}

void hot_draw_sum(const struct query *q, const struct query_hot_sum *sum, struct screen *s,
		  struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	double all = sum->part ? (double)sum->part : 1;
	char buf[UNITS_BUF];

	line_put(&l, ROLE_BOLD, sum->event);
	if (sum->hz)
		line_printf(&l, ROLE_DIM, " %llu Hz", (unsigned long long)sum->hz);
	line_printf(&l, ROLE_NORMAL, "  %s%s samples", query_hot_is_short(sum) ? "~" : "",
		    units_count(buf, sum->part));
	if (query_hot_is_short(sum))
		line_printf(&l, ROLE_WARN, ", counted %s%% of the time",
			    units_pct(buf, sum->running_pct));
	if (sum->part < sum->samples)
		line_printf(&l, ROLE_DIM, ", %s%% of all",
			    units_pct(buf, 100.0 * (double)sum->part / (double)sum->samples));
	line_put(&l, ROLE_DIM, "  in lock paths ");
	line_printf(&l, ROLE_BOLD, "%s%%", units_pct(buf, 100.0 * (double)sum->locks / all));
	if (sum->shortened + sum->other)
		line_put(&l, ROLE_WARN, "  call chains cut");
	draw_groups(q, sum, all, &l);
}

static void draw_keys(struct view_hot *o, struct screen *s, struct rect r, const struct table *t)
{
	const char *count = view_count_text(&o->v, t);
	int at = r.w - 1 - (int)strlen(count);
	struct line l = {.s = s, .r = {r.x, r.y, at > 0 ? at - 1 : r.w, r.h}, .x = 1};

	hot_draw_zoom(&o->zoom, &l);
	line_put(&l, ROLE_DIM, "by ");
	line_put(&l, ROLE_BOLD, query_hot_by_name(o->by));
	line_put(&l, ROLE_DIM, " [b]  ");
	line_put(&l, ROLE_BOLD, o->locks ? "lock paths" : "all samples");
	line_put(&l, ROLE_DIM, " [l]");
	if (t->sort_col < t->n_columns) {
		line_put(&l, ROLE_DIM, "  sort ");
		line_put(&l, ROLE_BOLD, t->columns[t->sort_col].title);
		line_put(&l, ROLE_NORMAL, table_rises(t) ? " ▲" : " ▼");
	}
	if (*app_filter(o->v.app)) {
		line_put(&l, ROLE_DIM, "  filter ");
		line_put(&l, ROLE_MATCH, app_filter(o->v.app));
	}
	screen_put(s, r, at, 0, ROLE_DIM, count);
}

static int draw_table(struct view_hot *o, struct screen *s, struct rect r, struct error *err)
{
	struct query *q = o->v.query;
	struct query_hot_spec spec = {.by = o->by, .locks = o->locks, .zoom = &o->zoom};
	struct table_style style = {
		.heat = "pct", .search = app_search(o->v.app), .tick = q->model->n_ticks};
	struct query_hot_sum sum;
	struct table t;

	view_fill_spec(&o->v, &o->pane.table, &spec.rows);
	int code = query_hot_sum(q, &o->zoom, &sum);
	if (code == 0 && !sum.samples) {
		view_draw_text(s, r, ROLE_DIM, query_hot_none(&sum));
		return 0;
	}
	code = code < 0 ? code : query_hot(q, &spec, &t, err);
	if (code < 0)
		return code;
	hot_draw_sum(q, &sum, s, r);
	draw_keys(o, s, layout_below(r, 1), &t);
	pane_draw_list(&o->pane, s, layout_below(r, 2), &t, &style);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, 4), ROLE_DIM,
			       o->zoom.n && !sum.part
				       ? "no sample is in what is zoomed into; Esc goes back"
				       : view_empty_text(&o->v, &t));
	return 0;
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};
	int code = draw_table(of_view(v), s, r, &err);

	if (code < 0)
		view_draw_error(s, r, &err);
	hot_load_names(v);
}

static void set_by(struct view_hot *o, enum query_hot_by by)
{
	pane_deinit(&o->pane);
	o->pane = (struct pane){0};
	o->by = by;
}

static int set_by_name(struct view_hot *o, const char *name)
{
	enum query_hot_by by;

	if (name && query_hot_by_parse(name, &by) == 0)
		set_by(o, by);
	else
		app_say(o->v.app, ROLE_WARN,
			"by %s? One of: symbol object process task group cpu stack",
			name ? name : "what");
	return 0;
}

/* Into what the selected row stands for, or what is said: "pid=812". */
static int zoom_in(struct view_hot *o, const char *term)
{
	struct error err = {0};
	int code = -ENOENT;

	if (term)
		code = query_zoom_parse(term, o->v.query->engine->groups, &o->zoom, &err);
	else if (o->pane.table.has_rows)
		code = query_hot_zoom(o->v.query, o->by, o->pane.table.selected, &o->zoom);
	if (code == -ENOMEM)
		return code;
	if (err.text[0])
		app_say(o->v.app, ROLE_WARN, "%s", err.text);
	else if (code == -EINVAL)
		app_say(o->v.app, ROLE_NORMAL,
			"a call chain is no part to zoom into; b changes rows");
	else if (code < 0)
		app_say(o->v.app, ROLE_NORMAL,
			code == -ENOSPC ? "no deeper: Esc zooms out"
					: "there is nothing to zoom into");
	return 0;
}

static int zoom_out(struct view_hot *o)
{
	if (!o->zoom.n)
		return VIEW_UNHANDLED;
	o->zoom.n--;
	return 0;
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_hot *o = of_view(v);

	switch (c) {
	case CMD_BY:
		return set_by_name(o, arg->text);
	case CMD_BY_NEXT:
		set_by(o, (enum query_hot_by)((o->by + 1) % QUERY_HOT_BYS));
		return 0;
	case CMD_LOCK_PATHS:
		o->locks = !o->locks;
		return 0;
	case CMD_FLAME:
		return flame_open_samples(v, &o->zoom, o->locks);
	case CMD_ZOOM:
		return zoom_in(o, arg->text);
	case CMD_BACK:
		return zoom_out(o);
	case CMD_ANNOTATE:
		if (o->by == HOT_SYMBOL && o->pane.table.has_rows)
			return annotate_open_row(v, o->pane.table.selected);
		app_say(v->app, ROLE_NORMAL, "instructions are of functions: :by symbol");
		return 0;
	default:
		break;
	}
	int code = pane_list_command(&o->pane, c, arg);
	if (code != WIDGET_ENTER)
		return code;
	return hot_open_tree(v, o->by, o->locks, &o->zoom, o->pane.table.selected);
}

static void deinit_view(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

const struct view_ops view_hot = {
	.name = "hot",
	.title = "hot",
	.digit = '9',
	.help = "Where do the CPUs spend their time? Functions by their share of all samples "
		"(CPU%), with what was waited for locks below them (WAIT%). GROUP says what they "
		"are busy with: a kind of lock, contexts of perf events, breakpoint slots, "
		"uprobes. b counts by file, process, task, group, CPU or call chain instead, l "
		"leaves out what is not in a lock path. Enter shows the call paths of a row, a "
		"the instructions of a function, f all call chains as a flame graph. d "
		"shows only the part that a row stands for, of a function its file; Esc goes back. "
		"Samples are taken with -F, 499 Hz being plenty.",
	.tables = "hot",
	.size = sizeof(struct view_hot),
	.deinit = deinit_view,
	.draw = draw_view,
	.command = take_command,
};
