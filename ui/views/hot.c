// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where CPUs spend their time: functions by their share of the samples, with what is waited for
 * locks below them; or files, processes, tasks, kinds of locks, CPUs, call chains. The first line
 * says what is sampled, and how much of it is in lock paths.
 */
#include "hot.h"
#include "flame.h"
#include "kontend/engine.h"
#include "kontend/query-load.h"
#include "kontend/units.h"
#include "list.h"
#include "widgets/layout.h"

#include <errno.h>

static const uint64_t LOAD_NS = 1000000ull * HOT_LOAD_MS;

struct view_hot {
	struct list_view list;
	bool locks;
	struct query_zoom zoom;
	struct query_hot_sum sum; /* of this frame */
};

static struct view_hot *hot_of(struct list_view *l)
{
	return (struct view_hot *)l;
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

	for (int g = PATH_IRQ_OFF; g < PATH_ALL; g++)
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
	if (sum->hidden)
		line_printf(&l, ROLE_WARN, ", %s of other events [V]",
			    units_count(buf, sum->hidden));
	if (sum->part < sum->samples)
		line_printf(&l, ROLE_DIM, ", %s%% of all",
			    units_pct(buf, 100.0 * (double)sum->part / (double)sum->samples));
	if (heat_part_any(&q->part))
		line_put(&l, ROLE_WARN, ", all");
	line_put(&l, ROLE_DIM, "  in lock paths ");
	line_printf(&l, ROLE_BOLD, "%s%%", units_pct(buf, 100.0 * (double)sum->locks / all));
	if (sum->shortened + sum->other)
		line_put(&l, ROLE_WARN, "  call chains cut");
	draw_groups(q, sum, all, &l);
}

/* A hot function that is in no figure of waits. */
static bool note_trylock(const struct table *t, struct line *l)
{
	size_t at = 0;
	const char *name = query_hot_trylock(t, &at);

	return name && (line_whole(l, ROLE_DIM, " %s: %s", name, sym_trylock_note) ||
			line_whole(l, ROLE_DIM, " %s: a trylock, no wait is reported", name));
}

static bool note_trusted(const struct query *q, struct line *l)
{
	size_t n = query_load_n_trusted(q);

	return n && line_whole(l, ROLE_WARN, " names of %zu file%s trusted by the path alone", n,
			       n == 1 ? "" : "s");
}

/* Notes that explain these rows, each only where it applies: 1 if there is any. */
static int draw_notes(const struct query *q, const struct query_hot_sum *sum, enum query_hot_by by,
		      const struct table *t, struct screen *s, struct rect r)
{
	struct line l = {.s = s, .r = r};
	char buf[UNITS_BUF];
	bool by_task = by == HOT_PROCESS || by == HOT_TASK, any = false;

	if (by_task && sum->no_task)
		any |= line_whole(&l, ROLE_DIM, " %s: %s%% of samples, names not kept",
				  sum->no_task_name,
				  units_pct(buf, 100.0 * (double)sum->no_task / (double)sum->part));
	any |= note_trusted(q, &l);
	any |= note_trylock(t, &l);
	if (sum->groups[PATH_IRQ_OFF])
		any |= line_whole(&l, ROLE_DIM,
				  " irq-off?: ran without interrupts, seen where they came on");
	if (sum->shortened + sum->other)
		any |= line_whole(&l, ROLE_DIM, " call chains cut: no room for callers of %s%%",
				  units_pct(buf, 100.0 * (double)(sum->shortened + sum->other) /
							 (double)sum->samples));
	return any;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	struct view_hot *o = hot_of(l);
	struct query_hot_spec hot = {
		.rows = *spec, .by = (enum query_hot_by)l->by, .locks = o->locks, .zoom = &o->zoom};
	int code = query_hot_sum(l->v.query, &o->zoom, &o->sum);

	hot_load_names(&l->v);
	return code < 0 ? code : query_hot(l->v.query, &hot, ret, err);
}

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	const struct query_hot_sum *sum = &hot_of(l)->sum;

	if (sum->samples) {
		hot_draw_sum(l->v.query, sum, s, r);
		return 1 + draw_notes(l->v.query, sum, (enum query_hot_by)l->by, t, s,
				      layout_below(r, 1));
	}
	view_draw_text(s, r, ROLE_DIM, query_hot_none(sum));
	return LIST_END;
}

static void put_zoom(struct list_view *l, struct line *line)
{
	hot_draw_zoom(&hot_of(l)->zoom, line);
}

static void put_paths(struct list_view *l, struct line *line)
{
	line_printf(line, ROLE_BOLD, "  %s", hot_of(l)->locks ? "lock paths" : "all samples");
	line_put(line, ROLE_DIM, " [l]");
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	const struct view_hot *o = hot_of(l);

	return o->zoom.n && !o->sum.part ? "no sample is in what is zoomed into; Esc goes back"
					 : view_empty_text(&l->v, t);
}

/* Narrows to the selected row, or to what the user typed: "pid=812". */
static int zoom_in(struct view_hot *o, const char *term)
{
	struct error err = {0};
	int code = -ENOENT;

	if (term)
		code = query_zoom_parse(term, o->list.v.query->engine->groups, &o->zoom, &err);
	else if (o->list.pane.table.has_rows)
		code = query_hot_zoom(o->list.v.query, (enum query_hot_by)o->list.by,
				      o->list.pane.table.selected, &o->zoom);
	if (code == -ENOMEM)
		return code;
	if (err.text[0])
		app_say(o->list.v.app, ROLE_WARN, "%s", err.text);
	else if (code == -EINVAL)
		app_say(o->list.v.app, ROLE_NORMAL,
			"a call chain is no part to zoom into; b changes rows");
	else if (code < 0)
		app_say(o->list.v.app, ROLE_NORMAL,
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

static int annotate(struct list_view *l)
{
	if (l->by == HOT_SYMBOL && l->pane.table.has_rows)
		return annotate_open_row(&l->v, l->pane.table.selected);
	app_say(l->v.app, ROLE_NORMAL, "instructions are of functions: :by symbol");
	return 0;
}

static int take_command(struct list_view *l, enum command c, const struct command_arg *arg)
{
	struct view_hot *o = hot_of(l);

	switch (c) {
	case CMD_LOCK_PATHS:
		o->locks = !o->locks;
		return 0;
	case CMD_FLAME:
		return flame_open_samples(&l->v, &o->zoom, o->locks);
	case CMD_ZOOM:
		return zoom_in(o, arg->text);
	case CMD_BACK:
		return zoom_out(o);
	case CMD_ANNOTATE:
		return annotate(l);
	default:
		return VIEW_UNHANDLED;
	}
}

static int open_row(struct list_view *l)
{
	struct view_hot *o = hot_of(l);

	return hot_open_tree(&l->v, (enum query_hot_by)l->by, o->locks, &o->zoom,
			     l->pane.table.selected);
}

static const char *const bys[] = {"symbol", "object", "process", "task",
				  "group",  "cpu",    "stack",	 NULL};

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.before = put_zoom,
	.options = put_paths,
	.empty = empty_text,
	.page = open_row,
	.command = take_command,
	.has_window = list_has_window,
	.bys = bys,
	.heat = "pct",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},  {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_FLAME, "flame"}, {CMD_ANNOTATE, "code"}, {CMD_LOCK_PATHS, "lock paths"},
	{CMD_ZOOM, "zoom"},   {CMD_SORT, "sort"},     {CMD_NONE, NULL},
};

const struct view_ops view_hot = {
	.name = "hot",
	.title = "hot",
	.brief = "hot",
	.digit = '9',
	.keys = keys,
	.help = "Where do the CPUs spend their time? Functions by their share of all samples "
		"(CPU%), with what was waited for locks below them (WAIT%). GROUP says what they "
		"are busy with: a kind of lock, contexts of perf events, breakpoint slots, "
		"uprobes. b counts by file, process, task, group, CPU or call chain instead, l "
		"leaves out what is not in a lock path. Enter shows the call paths of a row, a "
		"the instructions of a function, f all call chains as a flame graph. d "
		"shows only the part that a row stands for, of a function its file; Esc goes back. "
		"Samples are of the last ten seconds, w goes to a minute, to all and to one "
		"second. "
		"They are taken with -F, 499 Hz being plenty.",
	.tables = "hot",
	.size = sizeof(struct view_hot),
	.page = list_page,
	LIST_VIEW(&ops),
};
