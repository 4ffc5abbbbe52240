// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task that waits at this moment, rwsems first and the longest wait first: the rows of the
 * model's waits in flight, so they stay while paused and go when the task has got the lock. Enter
 * opens the wait with its calls and the holder's; the lock, with its other waiters, is one step
 * deeper.
 */
#include "kontend/units.h"
#include "list.h"
#include "wait-kept.h"

struct view_waiters {
	struct list_view list;
	struct wait_kept seen; /* the selected row as it was drawn */
};

static int ask(struct list_view *l, struct query_spec *spec, struct table *ret, struct error *err)
{
	return query_waiters(l->v.query, spec, ret, err);
}

/* "14 waiting  rwsem W 9, R 5  mutex 1  longest 41.2ms" */
static int draw_status(struct list_view *list, struct screen *s, struct rect r,
		       const struct table *t)
{
	struct view *v = &list->v;
	struct query_overview ov;
	struct line line = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	if (query_overview(v->query, &ov) < 0)
		return 1;
	line_printf(&line, ROLE_BOLD, "%u waiting", ov.waiting);
	line_printf(&line, ov.waiting_rwsem_w ? ROLE_WAITING : ROLE_DIM, "  rwsem W %u",
		    ov.waiting_rwsem_w);
	line_printf(&line, ov.waiting_rwsem_r ? ROLE_WAITING : ROLE_DIM, ", R %u",
		    ov.waiting_rwsem_r);
	for (int i = 0; i < LOCK_TYPES; i++)
		if (ov.waiting_by_type[i] && i != LOCK_RWSEM_R && i != LOCK_RWSEM_W)
			line_printf(&line, ROLE_NORMAL, ", %s %u", locktype_name((enum lock_type)i),
				    ov.waiting_by_type[i]);
	if (ov.any_longest)
		line_printf(&line, ROLE_NORMAL, "  longest %s%s", ov.longest_approx ? "~" : "",
			    units_ns(buf, ov.longest_ns));
	if (ov.waiting_doubtful)
		line_printf(&line, ROLE_WARN, "  %u doubtful", ov.waiting_doubtful);
	if (*app_filter(v->app)) {
		line_put(&line, ROLE_DIM, "  filter ");
		line_put(&line, ROLE_MATCH, app_filter(v->app));
		line_printf(&line, ROLE_DIM, "  %s", view_count_text(v, t));
	}
	return 1;
}

static void fit(struct list_view *l, struct table *t)
{
	view_fit_waiters(&l->v, t, &l->pane.columns);
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	(void)l;
	(void)t;
	return "no task waits for a kernel lock at this moment; those that do are listed here "
	       "(Space pauses to read them), past waits are in the locks view (2)";
}

/* It may be over when it is opened. */
static void keep_selected(struct list_view *l, const struct table *t)
{
	uint64_t row = l->pane.table.selected;
	struct query_spec spec = {0};
	struct query_wait seen;

	if (t->n_rows && query_wait(l->v.query, row, &spec, &seen, NULL) == 0)
		wait_kept_take(&((struct view_waiters *)l)->seen, row, &seen);
}

static int open_row(struct list_view *l)
{
	return view_open_wait(&l->v, l->pane.table.selected, &((struct view_waiters *)l)->seen);
}

static void deinit_view(struct view *v)
{
	list_deinit(v);
	wait_kept_deinit(&((struct view_waiters *)v)->seen);
}

static const struct list_ops ops = {
	.ask = ask,
	.head = draw_status,
	.fit = fit,
	.empty = empty_text,
	.open = open_row,
	.drawn = keep_selected,
	.has_no_keys = true,
	.needs_looks = "names, holders, places",
	.heat = "since_ns",
};

const struct view_ops view_waiters = {
	.name = "waiters",
	.title = "waiters",
	.digit = '3',
	.help = "Every task that waits for a kernel lock at this moment, rwsem (W: to write, R: to "
		"read) first, then the longest wait. SINCE is how long it has waited so far. Space "
		"pauses, so that short waits can be read; the rows stay. Enter shows the calls of "
		"the task and of the holder, and from there opens the lock.",
	.tables = "waiters",
	.size = sizeof(struct view_waiters),
	.list = &ops,
	.deinit = deinit_view,
	.draw = list_draw,
	.command = list_command,
};
