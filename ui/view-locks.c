// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of what was waited for, by any key. One view serves several roots (locks, callers,
 * tasks, types, CPUs): they differ in the key they begin with, and `b` or `:by` gives any other.
 * A new key is another set of rows, so the selection and the place start anew while the order that
 * the user chose stays.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/pane.h"
#include "view-flame.h"
#include "view-hot.h"

#include <string.h>

struct view_locks {
	struct view v;
	enum query_by by;
	struct pane pane;
};

static const char locks_help[] =
	"Where tasks waited for kernel locks: one row a lock, caller, task, process, type, CPU, "
	"cgroup, call stack or owner. b goes through these keys, :by caller jumps to one. NOW is "
	"the "
	"number of tasks waiting at this moment, rates are of the last refresh interval, the other "
	"figures count from the start or the last zero (z). WAIT/s of 2s means that two tasks "
	"wait all the time. Enter opens a row: its histogram, call tree, waiters and course. f "
	"shows all call chains as a flame graph, a the instructions of the locking code that the "
	"waits of a row pass, where most samples of the profile are.";

static struct view_locks *of_view(struct view *v)
{
	return (struct view_locks *)v;
}

/* Is there a column of that name when the rows are those of @by? */
static bool sorts(enum query_by by, const char *key)
{
	size_t n;
	const struct column *columns = query_locks_columns(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(columns[i].key, key))
			return query_locks_has(by, i);
	return false;
}

static void set_by(struct view_locks *l, enum query_by by)
{
	struct table_widget fresh = {0};

	if (sorts(by, l->pane.table.sort)) {
		memcpy(fresh.sort, l->pane.table.sort, sizeof(fresh.sort));
		fresh.reverse = l->pane.table.reverse;
	}
	table_widget_deinit(&l->pane.table);
	l->pane.table = fresh;
	l->pane.moved = false;
	l->by = by;
}

static void draw_status(struct view_locks *l, struct screen *s, struct rect r,
			const struct table *t)
{
	struct view *v = &l->v;
	const char *count = view_count_text(v, t);
	int at = r.w - 1 - (int)strlen(count);
	struct line line = {.s = s, .r = {r.x, r.y, at > 0 ? at - 1 : r.w, r.h}, .x = 1};

	line_put(&line, ROLE_DIM, "by ");
	line_put(&line, ROLE_BOLD, query_by_name(l->by));
	line_put(&line, ROLE_DIM, " [b]  sort ");
	line_put(&line, ROLE_BOLD,
		 t->sort_col < t->n_columns ? t->columns[t->sort_col].title : "-");
	line_put(&line, ROLE_NORMAL, table_rises(t) ? " ▲" : " ▼");
	if (*app_filter(v->app)) {
		line_put(&line, ROLE_DIM, "  filter ");
		line_put(&line, ROLE_MATCH, app_filter(v->app));
	}
	if (l->by == BY_OWNER && !v->query->model->owners_told)
		line_put(&line, ROLE_WARN, "  not seen: start with --owner");
	screen_put(s, r, at, 0, ROLE_DIM, count);
}

static int draw_table(struct view_locks *l, struct screen *s, struct rect r, bool *ret_missed,
		      struct error *err)
{
	struct view *v = &l->v;
	struct query_spec spec = {.by = l->by};
	struct table_style style = {
		.heat = "wait_ns_per_s",
		.search = app_search(v->app),
		.tick = v->query->model->n_ticks,
	};
	struct table t;
	int ret;

	view_fill_spec(v, &l->pane.table, &spec);
	pane_window(&l->pane, r.h, &spec);
	ret = query_locks(v->query, &spec, &t, err);
	if (ret < 0)
		return ret;
	draw_status(l, s, r, &t);
	view_fit_locks(v, &t, &l->pane.columns, l->by);
	int y = 1 + view_draw_no_look(v, s, r, 1, "names, holders");
	pane_draw_list(&l->pane, s, layout_below(r, y), &t, &style);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, y + 2), ROLE_DIM, view_empty_text(v, &t));
	*ret_missed = pane_missed(&l->pane, &spec);
	return 0;
}

static void locks_draw(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};
	bool missed = false;
	int ret = draw_table(of_view(v), s, r, &missed, &err);

	if (ret == 0 && missed)
		ret = draw_table(of_view(v), s, r, &missed, &err);
	if (ret < 0)
		view_draw_error(s, r, &err);
}

/* The code in which the waits of the selected row are. */
static int annotate(struct view_locks *l)
{
	struct query_scope scope = l->v.scope;

	if (!l->pane.table.has_rows)
		return 0;
	scope.mask |= 1u << l->by;
	scope.id[l->by] = l->pane.table.selected;
	return annotate_open_path(&l->v, &scope);
}

static int locks_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_locks *l = of_view(v);
	enum query_by by;

	if (c == CMD_BY_NEXT) {
		by = (l->by + 1) % QUERY_BYS;
		set_by(l, by == BY_OWNER && !v->query->model->owners_told ? BY_LOCK : by);
		return 0;
	}
	if (c == CMD_FLAME)
		return flame_open_waits(v, &v->scope);
	if (c == CMD_ANNOTATE)
		return annotate(l);
	if (c == CMD_BY) {
		if (!arg->text || query_by_parse(arg->text, &by) < 0)
			app_say(v->app, ROLE_WARN, "by %s? One of: " VIEW_BY_NAMES,
				arg->text ? arg->text : "what");
		else
			set_by(l, by);
		return 0;
	}
	int r = pane_list_command(&l->pane, c, arg);
	if (r == WIDGET_ENTER)
		return view_open(v, l->by, l->pane.table.selected);
	return r;
}

static void locks_deinit(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

/* The key that each of the roots begins with. */
static const struct {
	const struct view_ops *ops;
	enum query_by by;
} first_by[] = {
	{&view_callers, BY_CALLER},
	{&view_tasks, BY_TASK},
	{&view_types, BY_TYPE},
	{&view_cpus, BY_CPU},
};

static int locks_init(struct view *v)
{
	for (size_t i = 0; i < sizeof(first_by) / sizeof(*first_by); i++)
		if (first_by[i].ops == v->ops)
			of_view(v)->by = first_by[i].by;
	return 0;
}

#define LOCKS_VIEW(NAME, DIGIT)                                                                    \
	{                                                                                          \
		.name = NAME, .title = NAME, .digit = DIGIT, .help = locks_help,                   \
		.tables = "locks", .size = sizeof(struct view_locks), .init = locks_init,          \
		.deinit = locks_deinit, .draw = locks_draw, .command = locks_command,              \
	}

const struct view_ops view_locks = LOCKS_VIEW("locks", '2');
const struct view_ops view_callers = LOCKS_VIEW("callers", 0);
const struct view_ops view_tasks = LOCKS_VIEW("tasks", 0);
const struct view_ops view_types = LOCKS_VIEW("types", 0);
const struct view_ops view_cpus = LOCKS_VIEW("cpus", 0);
