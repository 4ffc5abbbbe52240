// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contexts of the perf events of the system, those that cost most first: a row a context, or,
 * by process, a row for each that opened some. And one step deeper the events themselves; Enter on
 * one of these shows it with those that were inherited from it.
 */
#include "list.h"
#include "note.h"

#include <errno.h>

struct view_contexts {
	struct list_view list;
	struct query_perf_sum sum; /* of this frame */
};

static struct query_perf_sum *sum_of(struct list_view *l)
{
	return &((struct view_contexts *)l)->sum;
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

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	(void)t;
	return view_perf_head(&l->v, s, r, sum_of(l), &top);
}

/* Rows of events that take turns have a colour, beside the column that shows it. */
static enum role turns_role(const struct table *t, size_t row)
{
	return table_u64(t, row, "rotating") ? ROLE_WARN : ROLE_NORMAL;
}

enum { PLACE_CONTEXT, PLACE_PROCESS };

static int contexts_ask(struct list_view *l, struct query_spec *spec, struct table *ret,
			struct error *err)
{
	int code = query_perf_sum(l->v.query, sum_of(l));

	spec->by = l->by == PLACE_PROCESS ? BY_PROCESS : BY_LOCK;
	return code < 0 ? code : query_perf_contexts(l->v.query, spec, ret, err);
}

static void contexts_fit(struct list_view *l, struct table *t)
{
	static const struct view_fit processes[] = {{"context", 0, 0}, {"contexts", 1, 0}};
	static const struct view_fit contexts[] = {{"contexts", VIEW_HIDE, 0}};
	bool by_process = l->by == PLACE_PROCESS;

	view_fit_columns(t, &l->pane.columns, by_process ? processes : contexts,
			 by_process ? 2 : 1);
}

static const char *contexts_empty(struct list_view *l, const struct table *t)
{
	return view_perf_empty(&l->v, t, sum_of(l), SNAP_NO_CONTEXTS,
			       "there is no perf event in the system");
}

static int open_context(struct list_view *l)
{
	bool by_process = l->by == PLACE_PROCESS;
	uint64_t id = l->pane.table.selected;
	struct query_spec all = {.by = by_process ? BY_PROCESS : BY_LOCK};
	struct query_events_scope scope = {0};
	struct table t;

	if (query_perf_contexts(l->v.query, &all, &t, NULL) < 0)
		return -ENOMEM;
	size_t row = table_row(&t, id);
	if (row == SIZE_MAX) {
		app_say(l->v.app, ROLE_NORMAL, "its last event has just gone");
		return 0;
	}
	if (by_process)
		scope.process = id ? (int32_t)id : QUERY_NOBODY;
	else
		scope.context = id;
	return app_push_events(l->v.app, &scope, table_text(&t, row, "context"));
}

static const char *const bys[] = {[PLACE_CONTEXT] = "context", [PLACE_PROCESS] = "process", NULL};

static const struct list_ops contexts_ops = {
	.ask = contexts_ask,
	.head = draw_head,
	.fit = contexts_fit,
	.empty = contexts_empty,
	.page = open_context,
	.bys = bys,
	.row_role = turns_role,
};

static int events_ask(struct list_view *l, struct query_spec *spec, struct table *ret,
		      struct error *err)
{
	int code = query_perf_sum(l->v.query, sum_of(l));

	return code < 0 ? code : query_perf_events(l->v.query, &l->v.events, spec, ret, err);
}

/* For one event, a line above it describes it. */
static int events_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	int y = draw_head(l, s, r, t);
	const char *text =
		l->v.events.event ? query_perf_event_text(l->v.query, l->v.events.event) : NULL;

	return text && y >= 0 ? y + view_draw_note(s, r, y, ROLE_NORMAL, text) : y;
}

static const char *events_empty(struct list_view *l, const struct table *t)
{
	return view_perf_empty(&l->v, t, sum_of(l), SNAP_NO_EVENTS, "these events are gone");
}

static int open_event(struct list_view *l)
{
	struct query_events_scope scope = {.event = l->pane.table.selected};

	if (l->v.events.event) {
		app_say(l->v.app, ROLE_NORMAL,
			"these are the event and what was inherited from it");
		return 0;
	}
	const char *title =
		arena_printf(&l->v.query->arena, "event %llu", (unsigned long long)scope.event);
	return app_push_events(l->v.app, &scope, title ? title : "event");
}

static const struct list_ops events_ops = {
	.ask = events_ask,
	.head = events_head,
	.empty = events_empty,
	.open = open_event,
	.row_role = turns_role,
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SORT, "sort"},  {CMD_NONE, NULL},
};

static const struct view_key event_keys[] = {
	{CMD_ENTER, "why?"},
	{CMD_FILTER, "filter"},
	{CMD_SORT, "sort"},
	{CMD_NONE, NULL},
};

const struct view_ops view_contexts = {
	.name = "contexts",
	.title = "contexts",
	.brief = "ctx",
	.digit = '5',
	.keys = keys,
	.help = "The perf events of the whole system, of all processes, by what they belong to: "
		"a context is the events of a CPU or of a task, as the kernel keeps them. Where "
		"there are more than the hardware has counters they take turns (ROTATES), and RUN% "
		"is the share of its time that an event could count. b changes to a row for each "
		"process that opened events, and back. Enter lists the events.",
	.tables = "contexts",
	.size = sizeof(struct view_contexts),
	.page = list_page,
	LIST_VIEW(&contexts_ops),
};

const struct view_ops view_events = {
	.name = "events",
	.title = "events",
	.keys = event_keys,
	.help = "Perf events: of a context, of a process (that opened them, or holds a "
		"descriptor), or one with those that were inherited from it. Those that wait for "
		"their turn come first. Enter narrows the list to one event and what was inherited "
		"from it, and says what it is: its attributes, what it watches, who opened it.",
	.tables = "events",
	.size = sizeof(struct view_contexts),
	LIST_VIEW(&events_ops),
};
