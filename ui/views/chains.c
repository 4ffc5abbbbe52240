// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holders that tasks wait for: the trees of query-chains.h, in their own order. Enter on a lock
 * opens its page, on who waits the calls of both sides, on a root those of the one who has waited
 * longest for it.
 */
#include "kontend/app.h"
#include "kontend/query-blocked.h"
#include "kontend/query-chains.h"
#include "kontend/units.h"
#include "list.h"
#include "wait.h"

#include <string.h>

struct view_chains {
	struct list_view list;
	struct wait_kept seen;	   /* the selected wait as it was drawn */
	uint64_t lock_id, wait_id; /* of the selected row */
	bool is_lock;
	uint32_t tid; /* of its task; 0: it is of none */
};

static struct view_chains *of_list(struct list_view *l)
{
	return (struct view_chains *)l;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_chains(l->v.query, spec, ret, err);
}

static void put_circles(struct line *line, const struct query_chains_sum *sum)
{
	if (sum->proved)
		line_printf(line, ROLE_ERROR, "  %u deadlock%s", sum->proved,
			    sum->proved == 1 ? "" : "s");
	if (sum->circles > sum->proved)
		line_printf(line, ROLE_WARN, "  %u perhaps a deadlock", sum->circles - sum->proved);
	if (!sum->circles)
		line_put(line, ROLE_DIM, "  no deadlock");
}

/* "ended in 10 s: 2 roots, 9 tasks behind, together 1.2s, longest 704ms": the dimmed rows. */
static void put_ended(struct line *line, const struct query_chains_sum *sum)
{
	enum role role = sum->tasks || !sum->ended_tasks ? ROLE_DIM : ROLE_BOLD;
	char a[UNITS_BUF];

	line_put(line, ROLE_DIM, "ended in 10 s: ");
	line_printf(line, role, "%u root%s", sum->ended_roots, sum->ended_roots == 1 ? "" : "s");
	line_printf(line, role, ", %u task%s behind", sum->ended_tasks,
		    sum->ended_tasks == 1 ? "" : "s");
	if (!sum->ended_tasks)
		return;
	line_printf(line, role, ", together %s", units_ns(a, sum->ended_sum_ns));
	line_printf(line, role, ", longest %s", units_ns(a, sum->ended_longest_ns));
}

/* "3 roots, 46 tasks behind them, together 38.9s, longest 2.1s  no deadlock" */
static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_chains_sum sum;
	char a[UNITS_BUF];

	(void)t;
	if (query_chains_sum(l->v.query, &sum) < 0)
		return 0;
	line_printf(&line, ROLE_BOLD, "%u root%s", sum.roots, sum.roots == 1 ? "" : "s");
	line_printf(&line, ROLE_NORMAL, ", %u task%s behind", sum.tasks, sum.tasks == 1 ? "" : "s");
	if (sum.tasks) {
		line_printf(&line, ROLE_NORMAL, ", together %s", units_ns(a, sum.sum_ns));
		line_printf(&line, ROLE_NORMAL, ", longest %s", units_ns(a, sum.longest_ns));
	}
	put_circles(&line, &sum);
	if (sum.doubtful)
		line_printf(&line, ROLE_WARN, "  %u doubtful left out", sum.doubtful);
	line.x = 1;
	line.y = 1;
	put_ended(&line, &sum);
	return 2;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	(void)l;
	(void)t;
	return "no task waits for a lock, and none has in the last 10 s; all past waits are in "
	       "the locks view (2)";
}

/* On a wide screen it is left out where no wait has ended: then there is room for names. */
static void fit(struct list_view *l, struct table *t)
{
	static const struct view_fit ended_if_any[] = {{"ended_ns", 1, 0}};

	if (app_screen(l->v.app)->w >= LAYOUT_WIDE_W)
		view_fit_columns(t, &l->pane.columns, ended_if_any, 1);
}

static void keep_selected(struct list_view *l, const struct table *t)
{
	struct view_chains *o = of_list(l);
	size_t at = table_row(t, l->pane.table.selected);
	struct query_spec spec = {0};
	struct query_wait seen;

	o->wait_id = o->lock_id = 0;
	if (at == SIZE_MAX)
		return;
	const char *row = table_text(t, at, "row");
	o->is_lock = row && !strcmp(row, "lock");
	o->tid = row && !strcmp(row, "waiter") ? (uint32_t)table_cell(t, at, "tid")->i : 0;
	o->lock_id = table_u64(t, at, "lock_id");
	o->wait_id = table_u64(t, at, "wait_id");
	if (query_wait(l->v.query, o->wait_id, &spec, &seen, NULL) == 0 && !seen.ended)
		wait_kept_take(&o->seen, o->wait_id, &seen);
}

static int open_row(struct list_view *l)
{
	struct view_chains *o = of_list(l);

	if (!o->wait_id) {
		const char *calls =
			o->tid ? query_blocked_calls(l->v.query, BY_TASK, o->tid) : NULL;
		if (calls)
			app_say(l->v.app, ROLE_NORMAL, "it waits for no lock, but sleeps in %s",
				calls);
		return 0;
	}
	return o->is_lock ? view_open(&l->v, BY_LOCK, o->lock_id)
			  : view_open_wait(&l->v, o->wait_id, &o->seen);
}

static int command(struct list_view *l, enum command c, const struct command_arg *arg)
{
	(void)arg;
	switch (c) {
	case CMD_SORT:
	case CMD_SORT_NEXT:
	case CMD_SORT_PREV:
	case CMD_SORT_REVERSE:
		app_say(l->v.app, ROLE_NORMAL,
			"a tree keeps its order: most time waited first; `report --view chains "
			"--sort COLUMN` sorts");
		return 0;
	default:
		return VIEW_UNHANDLED;
	}
}

static enum role row_role(const struct table *t, size_t row)
{
	const struct value *kind = table_cell(t, row, "row");

	if (table_u64(t, row, "ended"))
		return ROLE_DIM;
	if (!strcmp(kind->s, "deadlock"))
		return ROLE_ERROR;
	return !strcmp(kind->s, "root") ? ROLE_BOLD : ROLE_NORMAL;
}

static void deinit_view(struct view *v)
{
	list_deinit(v);
	wait_kept_deinit(&((struct view_chains *)v)->seen);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.fit = fit,
	.empty = empty_text,
	.page = open_row,
	.command = command,
	.row_role = row_role,
	.drawn = keep_selected,
	.has_no_keys = true,
	.needs_looks = "holders",
	.heat = "waited_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"},
	{CMD_FILTER, "filter"},
	{CMD_WHY, "verdict"},
	{CMD_NONE, NULL},
};

const struct view_ops view_chains = {
	.name = "chains",
	.title = "chains",
	.brief = "chain",
	.digit = '0',
	.keys = keys,
	.help = "Who are tasks waiting for? A root holds a lock for which others wait, and waits "
		"for nothing itself: below it are its locks, below each lock the tasks that wait "
		"for it, and below one of these the locks that it holds while it waits. A holder "
		"that sleeps for something else waits for that: a device, a file or a server is a "
		"root, or the task that is to wake it up, as the thread of a journal. BEHIND "
		"counts all tasks that wait because of it, SUM is their waiting time so far, and "
		"IS the state of the root at this moment: running, runnable, or asleep, with the "
		"function and the cause. Tasks that wait for each other are a deadlock. Waits in "
		"flight come first, also those that began before kontend did. Below them, dimmed, "
		"are the chains of the waits that have ended in the last 10 s, the 16 longest of "
		"each second: ENDED is the time since the last one of a row ended. The holder of a "
		"lock is read from the kernel when a wait begins, again while it lasts, and at "
		"each refresh; if readers hold the lock it is one of them (R?), which is never "
		"sure: the last one that got it, or one that seems to hold it by its calls. Enter "
		"on a lock opens its page, elsewhere the calls of the waiter and of the holder.",
	.tables = "chains",
	.size = sizeof(struct view_chains),
	.list = &ops,
	.deinit = deinit_view,
	.draw = list_draw,
	.command = list_command,
	.page = list_page,
};
