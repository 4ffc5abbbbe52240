// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that cannot run, by cause. The lines above the table say how many there are, as /proc shows
 * them, and in which calls the selected row sleeps.
 */
#include "kontend/query-blocked.h"
#include "kontend/units.h"
#include "list.h"

#include <string.h>

enum { BECAUSE_ROOM = 20 }; /* of that column where the screen is narrow */

static const enum query_by by_of[] = {BY_TYPE, BY_TASK, BY_PROCESS, BY_CALLER, BY_CGROUP};
static const char *const bys[] = {"cause", "task", "process", "caller", "cgroup", NULL};

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	spec->by = by_of[l->by];
	return query_blocked(l->v.query, spec, ret, err);
}

static void put_missing(struct line *line, const struct query_blocked_sum *s)
{
	char n[UNITS_BUF];

	if (s->dropped)
		line_printf(line, ROLE_WARN, "  without room: %s", units_count(n, s->dropped));
	if (s->unwatched)
		line_printf(line, ROLE_WARN, "  not looked at in state S: %s",
			    units_count(n, s->unwatched));
	if (s->by_proc)
		line_put(line, ROLE_WARN,
			 s->only_known ? "  by /proc, known tasks only" : "  by /proc");
	else if (*s->no_objects)
		line_put(line, ROLE_WARN, "  no objects: the report says why");
	if (s->is_short)
		line_put(line, ROLE_WARN, "  not all of the window is kept");
}

/* The task, lock or file that the selected row waits for, if its column has no room for that. */
static int draw_because(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	const struct value *v = NULL;

	for (size_t i = 0; i < t->n_rows && !v; i++)
		if (t->ids[i] == l->pane.table.selected)
			v = table_cell(t, i, "because_of");
	if (!v || !v->known || strlen(v->s) <= BECAUSE_ROOM)
		return 0;
	line_put(&line, ROLE_DIM, "because of ");
	line_put(&line, ROLE_NORMAL, v->s);
	return 1;
}

/* The line of the program, and the calls of the task that is blocked longest. */
static int draw_calls(struct list_view *l, struct screen *s, struct rect r)
{
	const enum query_by by = by_of[l->by];
	const char *calls = query_blocked_calls(l->v.query, by, l->pane.table.selected);
	const char *at = query_blocked_at(l->v.query, by, l->pane.table.selected);
	struct line line = {.s = s, .r = r, .x = 1};

	if (!calls)
		return 0;
	if (at) {
		line_put(&line, ROLE_DIM, "at ");
		line_printf(&line, ROLE_NORMAL, "%s  ", at);
	}
	line_put(&line, ROLE_DIM, "in ");
	line_put(&line, ROLE_NORMAL, calls);
	return 1;
}

/* "longest sleep 1.3s of sqlite/912, woken by jbd2/300; last 20ms, 0.4s ago, of make/70" */
static int draw_slept(struct list_view *l, struct screen *s, struct rect r)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_blocked_slept slept;
	char n[UNITS_BUF];

	if (query_blocked_slept(l->v.query, by_of[l->by], l->pane.table.selected, &slept) < 0 ||
	    !slept.has)
		return 0;
	line_put(&line, ROLE_DIM, "longest sleep ");
	line_put(&line, ROLE_BOLD, units_ns(n, slept.longest.length_ns));
	line_printf(&line, ROLE_NORMAL, " of %s, woken by %s", slept.longest.task,
		    slept.longest.waker);
	line_put(&line, ROLE_DIM, "  last ");
	line_put(&line, ROLE_NORMAL, units_ns(n, slept.last.length_ns));
	line_printf(&line, ROLE_NORMAL, ", %s ago", units_ns(n, slept.ago_ns));
	line_printf(&line, ROLE_NORMAL, ", of %s, woken by %s", slept.last.task, slept.last.waker);
	return 1;
}

/* Parts that are left out, as they would cost too much. */
static int draw_left_out(struct list_view *l, struct screen *s, struct rect r)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_sleeps sleeps;

	if (query_blocked_sleeps(l->v.query, &sleeps) < 0 || !sleeps.left_out)
		return 0;
	line_put(&line, ROLE_WARN, sleeps.left_out);
	return 1;
}

/* "212 blocked, 212 in state D, 3 of these kernel threads, longest 4.1s" */
static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_blocked_sum sum;
	char n[UNITS_BUF];

	if (query_blocked_sum(l->v.query, &sum) < 0 || !sum.known)
		return 0;
	line_put(&line, sum.tasks ? ROLE_WAITING : ROLE_BOLD, units_count(n, sum.tasks));
	line_put(&line, ROLE_NORMAL, " blocked, ");
	line_put(&line, sum.in_d ? ROLE_WAITING : ROLE_BOLD, units_count(n, sum.in_d));
	line_put(&line, ROLE_NORMAL, " in state D");
	if (sum.kthreads)
		line_printf(&line, ROLE_NORMAL, ", %s of these kernel threads",
			    units_count(n, sum.kthreads));
	if (sum.longest_ns)
		line_printf(&line, ROLE_NORMAL, ", longest %s", units_ns(n, sum.longest_ns));
	if (sum.stopped)
		line_printf(&line, ROLE_NORMAL, ", %s stopped", units_count(n, sum.stopped));
	if (sum.throttled)
		line_printf(&line, ROLE_NORMAL, "; %s throttled", units_count(n, sum.throttled));
	put_missing(&line, &sum);
	int n_lines = 1 + draw_left_out(l, s, layout_below(r, 1));
	n_lines += draw_calls(l, s, layout_below(r, n_lines));
	n_lines += draw_because(l, s, layout_below(r, n_lines), t);
	return n_lines + draw_slept(l, s, layout_below(r, n_lines));
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	struct query_blocked_sum sum;

	(void)t;
	if (query_blocked_sum(l->v.query, &sum) < 0)
		return "";
	return sum.known ? "no snapshot has seen a blocked task: all wait for work, or run"
			 : sum.reason;
}

static bool is_by_task(const struct list_view *l)
{
	return by_of[l->by] == BY_TASK;
}

/* The lock for which a task waits. */
static int open_page(struct list_view *l)
{
	const uint64_t row = l->pane.table.selected;
	const char *calls = query_blocked_calls(l->v.query, BY_TASK, row);
	uint64_t wait;

	if (query_blocked_wait(l->v.query, row, &wait))
		return view_open_waiter(&l->v, wait, BY_LOCK);
	app_say(l->v.app, ROLE_NORMAL, "it waits for no lock of the kernel, but sleeps in %s",
		calls ? calls : "calls that are not known");
	return 0;
}

static int open_row(struct list_view *l)
{
	const uint64_t row = l->pane.table.selected;
	const char *cause = query_blocked_cause(l->v.query, by_of[l->by], row);

	if (is_by_task(l))
		return open_page(l);
	const char *filter = cause ? arena_printf(&l->v.query->arena, "cause=\"%s\"", cause) : NULL;
	l->by = 1;
	if (filter)
		app_set_filter(l->v.app, filter);
	return 0;
}

/* Enter on the rows of other keys shows their tasks. */
static bool has_page(const struct view *v)
{
	return is_by_task((const struct list_view *)v);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.page = open_page,
	.open = open_row,
	.bys = bys,
	.has_window = list_has_window,
	.needs_looks = "most objects",
	.heat = "blocked_ns_per_s",
};

static const struct view_key keys[] = {{CMD_ENTER, "tasks"},
				       {CMD_FILTER, "filter"},
				       {CMD_BY, "by"},
				       {CMD_SORT, "sort"},
				       {CMD_NONE, NULL}};

const struct view_ops view_blocked = {
	.name = "blocked",
	.title = "blocked",
	.digit = 'U',
	.keys = keys,
	.help = "Which tasks cannot run, and why? All tasks in state D (uninterruptible), stopped "
		"ones, and those in state S in a call that a server, a device or another task "
		"keeps, by the cause that their call chain shows. NOW counts tasks in the latest "
		"snapshot: those of state D are as many as /proc shows. TASKS is their average "
		"over the snapshots, an estimate. LONGEST is how long the task has been blocked "
		"that is blocked longest, and BECAUSE OF the lock, task, file or cgroup that it "
		"waits for: of a work the kworker, and who keeps that off its CPU. Tasks that "
		"cpu.max throttles do not sleep, so they are counted apart. b groups by task, "
		"process, function or cgroup. Enter shows the tasks of a row, and "
		"of a task that waits for a kernel lock the page of that lock, which by task is "
		"beside the list of a wide screen.",
	.tables = "blocked",
	.size = sizeof(struct list_view),
	.page = list_page,
	.has_page = has_page,
	LIST_VIEW(&ops),
};
