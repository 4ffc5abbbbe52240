// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task that waits at this moment, rwsems first and the longest wait first: the rows of the
 * model's waits in flight, so they stand while paused and leave when the lock was got. Enter opens
 * the wait with its calls and the holder's; the lock, with its other waiters, is one step deeper.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/mem.h"
#include "kontend/pane.h"
#include "kontend/units.h"
#include "kontend/wait-kept.h"

#include <string.h>

struct view_waiters {
	struct view v;
	struct pane pane;
	struct wait_kept seen; /* the selected row as it was drawn */
};

static struct view_waiters *of_view(struct view *v)
{
	return (struct view_waiters *)v;
}

/* "14 waiting  rwsem W 9, R 5  mutex 1  longest 41.2ms" */
static void draw_status(struct view *v, struct screen *s, struct rect r, const struct table *t)
{
	struct query_overview ov;
	struct line line = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	if (query_overview(v->query, &ov) < 0)
		return;
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
}

static const char *empty_text(struct view *v, const struct table *t)
{
	if (t->n_total)
		return view_empty_text(v, t);
	return "no task waits for a kernel lock at this moment; those that do are listed here "
	       "(Space pauses to read them), past waits are in the locks view (2)";
}

/* It may be over when it is opened. */
static void keep_selected(struct view_waiters *w)
{
	uint64_t row = w->pane.table.selected;
	struct query_spec spec = {0};
	struct query_wait seen;

	if (query_wait(w->v.query, row, &spec, &seen, NULL) == 0)
		wait_kept_take(&w->seen, row, &seen);
}

static void waiters_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_waiters *w = of_view(v);
	struct query_spec spec = {0};
	struct table_style style = {
		.heat = "since_ns",
		.search = app_search(v->app),
		.tick = v->query->model->n_ticks,
	};
	struct table t;
	struct error err = {0};

	view_fill_spec(v, &w->pane.table, &spec);
	if (query_waiters(v->query, &spec, &t, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	draw_status(v, s, r, &t);
	view_fit_waiters(v, &t, &w->pane.columns);
	int y = 1 + view_draw_no_look(v, s, r, 1, "names, holders, places");
	pane_draw_list(&w->pane, s, layout_below(r, y), &t, &style);
	if (!t.n_rows)
		view_draw_text(s, layout_below(r, y + 2), ROLE_DIM, empty_text(v, &t));
	else
		keep_selected(w);
}

static int waiters_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_waiters *w = of_view(v);
	int r = pane_list_command(&w->pane, c, arg);

	if (r == WIDGET_ENTER)
		return view_open_wait(v, w->pane.table.selected, &w->seen);
	return r;
}

static void waiters_deinit(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
	wait_kept_deinit(&of_view(v)->seen);
}

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
	.deinit = waiters_deinit,
	.draw = waiters_draw,
	.command = waiters_command,
};
