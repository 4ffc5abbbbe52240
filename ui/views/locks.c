// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of what was waited for, by any key. One view serves several roots (locks, callers,
 * tasks, types, CPUs): they differ in the key they begin with, and `b` or `:by` gives any other.
 * A new key is another set of rows, so the selection and the place are reset while the order that
 * the user chose stays.
 */
#include "flame.h"
#include "hot.h"
#include "kontend/engine.h"
#include "kontend/query-diff.h"
#include "kontend/view.h"
#include "list.h"

#include <string.h>

static const char locks_help[] =
	"Where tasks waited for locks: one row a lock, caller, task, process, type, CPU, "
	"cgroup, call stack, owner, system call or line of a program. b chooses one of these "
	"keys, :by caller jumps to one. NOW is the "
	"number of tasks waiting at this moment; the other figures, rates as well, are of the "
	"last ten seconds, and w goes to a minute, to all since the start or the last zero (z), "
	"and "
	"to one second. WAIT/s is the average number of tasks that wait: at 2.00 two "
	"tasks wait all the time. Enter opens a row: its histogram, call tree, waiters and course. "
	"f "
	"shows all call chains as a flame graph, F on two rows those of both as one, a the "
	"instructions of the locking code that the waits of a row pass, where most samples of the "
	"profile are.";

static bool sorts(unsigned by, const char *key)
{
	return query_locks_has((enum query_by)by, table_find(&query_locks_kind, key));
}

static bool owners_reported(const struct list_view *l)
{
	return l->v.query->model->owners_reported;
}

static bool skips(struct list_view *l, unsigned by)
{
	return by == BY_OWNER && !owners_reported(l);
}

static void put_remarks(struct list_view *l, struct line *line)
{
	if (l->by == BY_OWNER && !owners_reported(l))
		line_put(line, ROLE_WARN, "  not seen: start with --owner");
	if (app_compare_on(l->v.app))
		line_put(line, ROLE_WARN, "  B minus A");
	if (app_versus_chosen(l->v.app))
		line_whole(line, ROLE_WARN, "  A is %s: F on B", app_versus_chosen(l->v.app));
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	const bool compares = app_compare_on(l->v.app);
	const struct table_kind *kind = compares ? &query_compare_kind : &query_locks_kind;

	spec->by = (enum query_by)l->by;
	/* The order that was chosen for the other of the two tables. */
	if (spec->sort && table_find(kind, spec->sort) == SIZE_MAX)
		spec->sort = NULL;
	if (compares)
		return app_compare(l->v.app, spec, ret, err);
	return query_locks(l->v.query, spec, ret, err);
}

static void fit(struct list_view *l, struct table *t)
{
	if (!app_compare_on(l->v.app))
		view_fit_locks(&l->v, t, &l->pane.columns, (enum query_by)l->by);
}

static int open_row(struct list_view *l)
{
	return view_open(&l->v, (enum query_by)l->by, l->pane.table.selected);
}

/* The code in which the waits of the selected row are. */
static int annotate(struct list_view *l)
{
	struct query_scope scope = l->v.scope;

	if (!l->pane.table.has_rows)
		return 0;
	scope.mask |= 1u << l->by;
	scope.id[l->by] = l->pane.table.selected;
	return annotate_open_path(&l->v, &scope);
}

/* One of the two groups that a flame graph compares. */
static int choose_group(struct list_view *l)
{
	if (!l->pane.table.has_rows)
		return 0;
	return app_versus_row(l->v.app, &l->v.scope, (enum query_by)l->by, l->pane.table.selected);
}

static int take_command(struct list_view *l, enum command c, const struct command_arg *arg)
{
	(void)arg;
	if (c == CMD_FLAME)
		return flame_open_waits(&l->v, &l->v.scope);
	if (c == CMD_VERSUS)
		return choose_group(l);
	return c == CMD_ANNOTATE ? annotate(l) : VIEW_UNHANDLED;
}

const char *const view_by_names[] = {"lock",   "caller", "task",  "process", "type", "cpu",
				     "cgroup", "stack",	 "owner", "syscall", "at",   NULL};

static const struct list_ops ops = {
	.ask = ask_rows,
	.behind = put_remarks,
	.fit = fit,
	.page = open_row,
	.command = take_command,
	.sorts = sorts,
	.skips = skips,
	.has_window = list_has_window,
	.bys = view_by_names,
	.needs_looks = "names, holders",
	.heat = "wait_ns_per_s",
};

/* The key that each of the roots begins with. */
static int init_view(struct view *v)
{
	list_of(v)->by = v->ops == &view_callers ? BY_CALLER
			 : v->ops == &view_tasks ? BY_TASK
			 : v->ops == &view_types ? BY_TYPE
			 : v->ops == &view_cpus	 ? BY_CPU
						 : BY_LOCK;
	return 0;
}

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},	{CMD_FILTER, "filter"}, {CMD_BY, "by"},	  {CMD_FLAME, "flame"},
	{CMD_ANNOTATE, "code"}, {CMD_SORT, "sort"},	{CMD_NONE, NULL},
};

#define LOCKS_VIEW(NAME, DIGIT)                                                                    \
	{                                                                                          \
		.name = NAME, .title = NAME, .brief = DIGIT ? "lock" : NULL, .digit = DIGIT,       \
		.keys = keys, .help = locks_help, .tables = "locks", .compares = true,             \
		.size = sizeof(struct list_view), .init = init_view, .page = list_page,            \
		LIST_VIEW(&ops),                                                                   \
	}

const struct view_ops view_locks = LOCKS_VIEW("locks", '2');
const struct view_ops view_callers = LOCKS_VIEW("callers", 0);
const struct view_ops view_tasks = LOCKS_VIEW("tasks", 0);
const struct view_ops view_types = LOCKS_VIEW("types", 0);
const struct view_ops view_cpus = LOCKS_VIEW("cpus", 0);
