// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the perf events of the system belong to, those that cost most first: a row a context, or, by
 * process, a row for each that opened some. And one step deeper the events themselves; Enter on one
 * of these shows it with those that were inherited from it.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "view-perf.h"

#include <errno.h>
#include <string.h>

struct view_contexts {
	struct view v;
	enum query_by by; /* BY_PROCESS, or any other: by context */
	struct pane pane;
};

struct view_events {
	struct view v;
	struct pane pane;
};

static struct view_contexts *of_contexts(struct view *v)
{
	return (struct view_contexts *)v;
}

static struct view_events *of_events(struct view *v)
{
	return (struct view_events *)v;
}

static void figures(const struct query_perf_sum *p, struct line *l)
{
	if (p->missing & SNAP_NO_EVENTS) {
		line_put(l, ROLE_DIM, "events -");
		return;
	}
	line_put(l, ROLE_DIM, "events ");
	line_printf(l, ROLE_BOLD, "%u", p->events);
	line_printf(l, ROLE_DIM, " + %u own", p->own);
	line_put(l, ROLE_DIM, "  short of time ");
	if (p->starved)
		line_printf(l, ROLE_WARN, "%u", p->starved);
	else
		line_put(l, ROLE_NORMAL, "·");
	view_perf_opened(p, l);
}

static const struct view_perf_top top = {QUERY_PERF_EVENTS, figures};

/* "by context [b]  filter x", and how many rows at the right. */
static void draw_keys(struct view *v, const char *by, struct screen *s, struct rect r,
		      const struct table *t)
{
	const char *count = view_count_text(v, t);
	int at = r.w - 1 - (int)strlen(count);
	struct line l = {.s = s, .r = {r.x, r.y, at > 0 ? at - 1 : r.w, 1}, .x = 1};

	if (by) {
		line_put(&l, ROLE_DIM, "by ");
		line_put(&l, ROLE_BOLD, by);
		line_put(&l, ROLE_DIM, " [b]  ");
	}
	if (t->sort_col < t->n_columns) {
		line_put(&l, ROLE_DIM, "sort ");
		line_put(&l, ROLE_BOLD, t->columns[t->sort_col].title);
		line_put(&l, ROLE_DIM, "  ");
	}
	if (*app_filter(v->app)) {
		line_put(&l, ROLE_DIM, "filter ");
		line_put(&l, ROLE_MATCH, app_filter(v->app));
	}
	screen_put(s, r, at, 0, ROLE_DIM, count);
}

/* Rows that take turns stand out, beyond the column that says so. */
static enum role turns_role(const struct table *t, size_t row)
{
	size_t col = table_column(t, "rotating");

	return col != SIZE_MAX && table_value(t, row, col)->u ? ROLE_WARN : ROLE_NORMAL;
}

static void draw_list(struct view *v, struct pane *pane, struct screen *s, struct rect r,
		      const struct table *t)
{
	struct table_style style = {.search = app_search(v->app),
				    .tick = v->query->model->n_ticks,
				    .row_role = turns_role};

	pane_draw_list(pane, s, r, t, &style);
}

static void contexts_draw(struct view *v, struct screen *s, struct rect r)
{
	static const struct view_fit fit_processes[] = {{"context", 0, 0}, {"contexts", 1, 0}};
	static const struct view_fit fit_contexts[] = {{"contexts", VIEW_HIDE, 0}};
	struct view_contexts *o = of_contexts(v);
	bool by_process = o->by == BY_PROCESS;
	struct query_spec spec = {.by = o->by};
	struct query_perf_sum sum;
	struct error err = {0};
	struct table t;

	view_fill_spec(v, &o->pane.table, &spec);
	if (query_perf_sum(v->query, &sum) < 0 ||
	    query_perf_contexts(v->query, &spec, &t, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	int y = view_perf_head(v, s, r, &sum, &top);
	draw_keys(v, by_process ? "process" : "context", s, layout_below(r, y), &t);
	view_fit_columns(&t, &o->pane.columns, by_process ? fit_processes : fit_contexts,
			 by_process ? 2 : 1);
	draw_list(v, &o->pane, s, layout_below(r, y + 1), &t);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, y + 3), ROLE_DIM,
			       view_perf_empty(v, &t, &sum, SNAP_NO_CONTEXTS,
					       "there is no perf event in the system"));
}

static void set_by(struct view_contexts *o, enum query_by by)
{
	pane_deinit(&o->pane);
	o->pane = (struct pane){0};
	o->by = by;
}

static int set_by_name(struct view_contexts *o, const char *name)
{
	if (name && !strcmp(name, "process"))
		set_by(o, BY_PROCESS);
	else if (name && !strcmp(name, "context"))
		set_by(o, BY_LOCK);
	else
		app_say(o->v.app, ROLE_WARN, "by %s? One of: context process",
			name ? name : "what");
	return 0;
}

static int open_context(struct view_contexts *o)
{
	uint64_t id = o->pane.table.selected;
	struct query_spec all = {.by = o->by};
	struct query_events_scope scope = {0};
	struct table t;

	if (query_perf_contexts(o->v.query, &all, &t, NULL) < 0)
		return -ENOMEM;
	size_t row = table_row(&t, id);
	if (row == SIZE_MAX) {
		app_say(o->v.app, ROLE_NORMAL, "its last event has just gone");
		return 0;
	}
	if (o->by == BY_PROCESS)
		scope.process = id ? (int32_t)id : QUERY_NOBODY;
	else
		scope.context = id;
	return app_push_events(o->v.app, &scope,
			       table_value(&t, row, table_column(&t, "context"))->s);
}

static int contexts_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_contexts *o = of_contexts(v);

	if (c == CMD_BY)
		return set_by_name(o, arg->text);
	if (c == CMD_BY_NEXT) {
		set_by(o, o->by == BY_PROCESS ? BY_LOCK : BY_PROCESS);
		return 0;
	}
	int r = pane_list_command(&o->pane, c, arg);
	return r == WIDGET_ENTER ? open_context(o) : r;
}

static void contexts_deinit(struct view *v)
{
	pane_deinit(&of_contexts(v)->pane);
}

static void events_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_events *o = of_events(v);
	struct query_spec spec = {0};
	struct query_perf_sum sum;
	struct error err = {0};
	struct table t;

	view_fill_spec(v, &o->pane.table, &spec);
	if (query_perf_sum(v->query, &sum) < 0 ||
	    query_perf_events(v->query, &v->events, &spec, &t, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	int y = view_perf_head(v, s, r, &sum, &top);
	draw_keys(v, NULL, s, layout_below(r, y), &t);
	draw_list(v, &o->pane, s, layout_below(r, y + 1), &t);
	if (!t.n_rows)
		view_draw_text(
			s, layout_below(r, y + 3), ROLE_DIM,
			view_perf_empty(v, &t, &sum, SNAP_NO_EVENTS, "these events are gone"));
}

static int events_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_events *o = of_events(v);
	int r = pane_list_command(&o->pane, c, arg);
	struct query_events_scope scope = {.event = o->pane.table.selected};

	if (r != WIDGET_ENTER)
		return r;
	if (v->events.event) {
		app_say(v->app, ROLE_NORMAL, "these are the event and what was inherited from it");
		return 0;
	}
	const char *title =
		arena_printf(&v->query->arena, "event %llu", (unsigned long long)scope.event);
	return app_push_events(v->app, &scope, title ? title : "event");
}

static void events_deinit(struct view *v)
{
	pane_deinit(&of_events(v)->pane);
}

const struct view_ops view_contexts = {
	.name = "contexts",
	.title = "contexts",
	.digit = '5',
	.help = "The perf events of the whole system, whoever opened them, by what they belong to: "
		"a context is the events of a CPU or of a task, as the kernel keeps them. Where "
		"there are more than the hardware has counters they take turns (ROTATES), and RUN% "
		"is the share of its time that an event could count. b changes to a row for each "
		"process that opened events, and back. Enter lists the events.",
	.tables = "contexts",
	.size = sizeof(struct view_contexts),
	.deinit = contexts_deinit,
	.draw = contexts_draw,
	.command = contexts_command,
};

const struct view_ops view_events = {
	.name = "events",
	.title = "events",
	.help = "Perf events: of a context, of a process (that opened them, or holds a "
		"descriptor), or one with those that were inherited from it. Those that wait for "
		"their turn come first. Enter narrows the list to one event and what was inherited "
		"from it.",
	.tables = "events",
	.size = sizeof(struct view_events),
	.deinit = events_deinit,
	.draw = events_draw,
	.command = events_command,
};
