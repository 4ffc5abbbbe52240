// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every task that waits at this moment, rwsems first and the longest wait first: the rows of the
 * model's waits in flight, so they stay while paused and go when the task has got the lock. Below
 * them are the longest that have just ended. Many tasks that wait for one lock are one row, until
 * the user opens it. Enter opens the wait with its calls and the holder's; the lock, with its other
 * waiters, is one step deeper.
 */
#include "kontend/locktype.h"
#include "kontend/query-overview.h"
#include "kontend/units.h"
#include "list.h"
#include "wait.h"

#include <string.h>

/* So many tasks that wait for one lock are folded; so many locks are remembered to be open. */
enum { FOLD_LEAST = 8, OPEN_MOST = 16 };

struct view_waiters {
	struct list_view list;
	struct wait_kept seen; /* the selected row as it was drawn */
	/* The selected row: its lock, how many tasks it stands for, is its holder but a hint? */
	uint64_t lock, lock_id;
	uint32_t n;
	bool hint, evidence;
	bool all_open;
	uint64_t open[OPEN_MOST];
	size_t n_open; /* the oldest is forgotten for a new one */
};

static struct view_waiters *of_list(struct list_view *l)
{
	return (struct view_waiters *)l;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	struct view_waiters *o = of_list(l);
	const struct query_fold fold = {FOLD_LEAST, o->open,
					o->n_open < OPEN_MOST ? o->n_open : OPEN_MOST};

	return query_wait_rows(l->v.query, spec, o->all_open ? NULL : &fold, ret, err);
}

static void note_selected(struct view_waiters *o, const struct table *t)
{
	size_t at = table_row(t, o->list.pane.table.selected);

	o->n = 0;
	o->hint = o->evidence = false;
	if (at == SIZE_MAX)
		return;
	const struct value *certainty = table_cell(t, at, "owner_certainty");
	o->n = (uint32_t)table_u64(t, at, "waiting");
	o->lock = table_u64(t, at, "lock");
	o->lock_id = table_u64(t, at, "lock_id");
	o->hint = certainty->known && strcmp(certainty->s, "hint") == 0;
	o->evidence = certainty->known && strcmp(certainty->s, "evidence") == 0;
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
	note_selected(of_list(list), t);
	if (of_list(list)->hint)
		line_whole(&line, ROLE_DIM, "  R?: a reader that had it last");
	if (of_list(list)->evidence)
		line_whole(&line, ROLE_DIM, "  R?: a reader by its calls, no proof");
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
	return "no task waits for a lock, and none has in the last 10 s; all past waits are in "
	       "the locks view (2)";
}

/* It may be over when it is opened. */
static void keep_selected(struct list_view *l, const struct table *t)
{
	struct view_waiters *o = of_list(l);
	uint64_t row = l->pane.table.selected;
	struct query_spec spec = {0};
	struct query_wait seen;

	note_selected(o, t);
	if (o->n == 1 && query_wait(l->v.query, row, &spec, &seen, NULL) == 0 && !seen.ended)
		wait_kept_take(&o->seen, row, &seen);
}

static bool is_open(const struct view_waiters *o)
{
	for (size_t i = 0; i < o->n_open && i < OPEN_MOST; i++)
		if (o->open[i] == o->lock)
			return true;
	return false;
}

static void unfold(struct view_waiters *o)
{
	if (!is_open(o))
		o->open[o->n_open++ % OPEN_MOST] = o->lock;
}

/* The row in which the selected one is. */
static void fold(struct view_waiters *o)
{
	for (size_t i = 0; i < OPEN_MOST; i++)
		if (o->open[i] == o->lock)
			o->open[i] = 0;
	o->all_open = false;
	o->list.pane.table.selected = query_fold_id(o->lock);
}

/* Of a wait, or of the lock for which the tasks of a folded row wait. */
static int open_page(struct list_view *l)
{
	struct view_waiters *o = of_list(l);

	if (!o->n)
		return VIEW_UNHANDLED;
	return o->n > 1 ? view_open(&l->v, BY_LOCK, o->lock_id)
			: view_open_wait(&l->v, l->pane.table.selected, &o->seen);
}

static int open_row(struct list_view *l)
{
	struct view_waiters *o = of_list(l);

	if (o->n <= 1)
		return view_open_wait(&l->v, l->pane.table.selected, &o->seen);
	unfold(o);
	return 0;
}

static int command(struct list_view *l, enum command c, const struct command_arg *arg)
{
	struct view_waiters *o = of_list(l);

	switch (c) {
	case CMD_SELECT:
		o->all_open = true;
		l->pane.moved = l->pane.table.has_rows = true;
		l->pane.table.selected = arg->id;
		return 0;
	case CMD_TOGGLE:
		if (o->n > 1)
			unfold(o);
		else if (o->n)
			fold(o);
		return 0;
	case CMD_EXPAND_ALL:
		o->all_open = true;
		return 0;
	case CMD_COLLAPSE_ALL:
		o->all_open = false;
		o->n_open = 0;
		memset(o->open, 0, sizeof(o->open));
		return 0;
	default:
		return VIEW_UNHANDLED;
	}
}

static enum role row_role(const struct table *t, size_t row)
{
	return table_u64(t, row, "ended") ? ROLE_DIM : ROLE_NORMAL;
}

static void deinit_view(struct view *v)
{
	list_deinit(v);
	wait_kept_deinit(&((struct view_waiters *)v)->seen);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_status,
	.fit = fit,
	.empty = empty_text,
	.page = open_page,
	.open = open_row,
	.command = command,
	.row_role = row_role,
	.drawn = keep_selected,
	.has_no_keys = true,
	.needs_looks = "names, holders, places",
	.heat = "since_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"}, {CMD_FILTER, "filter"}, {CMD_TOGGLE, "fold"},
	{CMD_SORT, "sort"},  {CMD_NONE, NULL},
};

const struct view_ops view_waiters = {
	.name = "waiters",
	.title = "waiters",
	.brief = "wait",
	.digit = '3',
	.keys = keys,
	.help = "Every task that waits for a lock at this moment, rwsem (W: to write, R: to "
		"read) first, then the longest wait. SINCE is how long it has waited so far. Below "
		"them, dimmed, are the waits that have ended in the last 10 s, the 16 longest of "
		"each second: SINCE is how long they lasted, ENDED the time since then. Eight "
		"tasks and more that wait for one lock are one row, \"47 waiters\" (ALL: their "
		"waiting time added up); Enter or e opens it, e folds it again, E and C do so for "
		"all. Enter on a wait shows the calls of the task and of the holder, and from "
		"there opens the lock. HOLDER is read when a wait begins, again while it lasts, "
		"and at each snapshot of the locks; a wait that has ended keeps the last one. "
		"(free): no task has the lock, it is being handed over. A HOLDER with R? is a "
		"reader, which is never sure: one that had the lock last (hint), as the kernel "
		"does not keep the others, or one whose calls are those of a reader of that lock "
		"(evidence). :stop-on 'wait>100ms' pauses at the next wait that is longer.",
	.tables = "waiters",
	.size = sizeof(struct view_waiters),
	.list = &ops,
	.choices = &list_choices,
	.deinit = deinit_view,
	.draw = list_draw,
	.command = list_command,
	.page = list_page,
};
