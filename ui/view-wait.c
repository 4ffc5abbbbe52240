// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait that goes on: who waits for what, who holds it, and the calls of both side by side, which
 * tell why nothing moves. Enter goes on to the lock.
 */
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/pane.h"
#include "kontend/query-lock.h"
#include "kontend/units.h"
#include "kontend/wait-kept.h"

#include <errno.h>

struct view_wait {
	struct view v; /* v.row: of query_waiters() */
	struct pane pane;
	struct wait_kept seen; /* as it was drawn last */
};

enum { HEAD_LINES = 3 };

static struct view_wait *of_view(struct view *v)
{
	return (struct view_wait *)v;
}

void view_wait_keep(struct view *v, struct wait_kept *seen)
{
	wait_kept_move(&of_view(v)->seen, seen);
}

/* "mm/5219 waits 41.2ms asleep for rwsem:W mmap_lock mm/5214"; "waited" when it is over. */
static void draw_who(struct screen *s, struct rect r, const struct query_wait *w, bool over)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_BOLD, w->task ? w->task : "-");
	line_put(&l, ROLE_DIM, over ? " waited " : " waits ");
	line_printf(&l, ROLE_BOLD, "%s%s", w->approx ? "~" : "", units_ns(buf, w->since_ns));
	line_printf(&l, ROLE_NORMAL, " %s", w->phase ? w->phase : "");
	line_put(&l, ROLE_DIM, " for ");
	line_printf(&l, ROLE_NORMAL, "%s ", w->kind ? w->kind : "");
	line_put(&l, ROLE_BOLD, w->name ? w->name : "-");
}

static void draw_holder(struct view_wait *o, struct screen *s, struct rect r,
			const struct query_wait *w)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = 1};
	struct query_lock_look look;

	if (!w->holder) {
		query_lock_look(o->v.query, &look);
		line_put(&l, ROLE_DIM,
			 look.missing ? "who holds it is not known"
				      : "who holds it was not seen at the last look at the locks");
		if (look.refused)
			line_printf(&l, ROLE_WARN, ": %s%s", look.reason, view_advice(look.reason));
		return;
	}
	line_put(&l, ROLE_DIM, "held by ");
	line_put(&l, ROLE_WAITING, w->holder);
	line_printf(&l, ROLE_NORMAL, " (%s)%s%s", w->certainty ? w->certainty : "-",
		    w->is ? ", " : "", w->is ? w->is : "");
}

static void draw_calls(struct view_wait *o, struct screen *s, struct rect r, const struct table *t)
{
	struct table_style style = {.tick = o->v.query->model->n_ticks,
				    .search = app_search(o->v.app)};

	pane_draw_list(&o->pane, s, r, t, &style);
	if (!t->n_rows)
		view_draw_text(s, layout_below(r, 2), ROLE_DIM,
			       t->n_total ? view_empty_text(&o->v, t)
					  : "no call is known: the wait began without a call path, "
					    "and no look at the locks has seen it");
}

static void draw_wait(struct view_wait *o, struct screen *s, struct rect r,
		      const struct query_wait *w, bool over)
{
	draw_who(s, r, w, over);
	draw_holder(o, s, r, w);
	if (over)
		view_draw_text(s, layout_below(r, HEAD_LINES - 1), ROLE_DIM,
			       "this wait has ended: it is shown as it was seen last");
	draw_calls(o, s, layout_below(r, over ? HEAD_LINES + 1 : HEAD_LINES), &w->calls);
}

static void wait_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_wait *o = of_view(v);
	struct query_spec spec = {0};
	struct error err = {0};
	struct query_wait w;

	view_fill_spec(v, &o->pane.table, &spec);
	int code = query_wait(v->query, v->row, &spec, &w, &err);
	const struct query_wait *over = wait_kept_of(&o->seen, v->row);
	if (code == -ENOENT && over) {
		draw_wait(o, s, r, over, true);
		return;
	}
	if (code == -ENOENT) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM,
			       "this wait has ended; Space pauses, so that a wait stays");
		return;
	}
	if (code < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	draw_wait(o, s, r, &w, false);
	wait_kept_take(&o->seen, v->row, &w);
}

static int wait_command(struct view *v, enum command c, const struct command_arg *arg)
{
	int r = pane_list_command(&of_view(v)->pane, c, arg);

	const struct query_wait *seen = wait_kept_of(&of_view(v)->seen, v->row);

	if (r != WIDGET_ENTER)
		return r;
	return seen ? view_open(v, BY_LOCK, seen->lock_id) : view_open_waiter(v, v->row, BY_LOCK);
}

static void wait_deinit(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
	wait_kept_deinit(&of_view(v)->seen);
}

const struct view_ops view_wait = {
	.name = "wait",
	.title = "wait",
	.help = "A task that waits and the one that holds the lock, with the calls of both, the "
		"innermost first: as of the last look at the locks, or of when the wait began. Of "
		"a holder that runs there are none. Enter opens the lock.",
	.tables = "waiters",
	.size = sizeof(struct view_wait),
	.deinit = wait_deinit,
	.draw = wait_draw,
	.command = wait_command,
};
