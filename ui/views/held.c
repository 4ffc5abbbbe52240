// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long who got a lock kept others waiting: by holder, by lock, or by where the holder got it.
 * The first line says of how many acquisitions that is known.
 */
#include "kontend/query-held.h"
#include "kontend/units.h"
#include "list.h"

static const char *const bys[] = {"task", "process", "lock", "caller", "stack", "type", NULL};
static const enum query_by by_of[] = {BY_TASK, BY_PROCESS, BY_LOCK, BY_CALLER, BY_STACK, BY_TYPE};

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	spec->by = by_of[l->by];
	return query_held(l->v.query, spec, ret, err);
}

/*
 * "3.9s because of holds that ended, 4.3s waited  1.57k of 3.87k handed on": a hold counts as it
 * ends, with all that was waited because of it, a wait while it lasts.
 */
static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_held_sum sum;
	char a[UNITS_BUF], b[UNITS_BUF];

	(void)t;
	if (query_held_sum(l->v.query, &sum) < 0)
		return 0;
	line_put(&line, ROLE_BOLD, units_ns(a, sum.charged_ns));
	line_printf(&line, ROLE_NORMAL, " because of holds that ended, %s waited",
		    units_ns(b, sum.waited_ns));
	line_printf(&line, ROLE_DIM, "  %s of", units_count(a, sum.known));
	line_printf(&line, ROLE_DIM, " %s handed on", units_count(b, sum.got));
	if (sum.only_ns)
		line_printf(&line, ROLE_WARN, "  holds of %s", units_ns(a, sum.only_ns));
	return 1;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	struct query_held_sum sum;

	(void)t;
	if (query_held_sum(l->v.query, &sum) == 0 && sum.got)
		return "tasks waited, but no lock went from one waiting task to the next, so this "
		       "view knows no holder; blame (W) charges other holders as well, and chains "
		       "(0) shows who holds locks now";
	return "no task has waited for a lock and got it in this time; chains (0) shows who waits "
	       "now";
}

static int open_row(struct list_view *l)
{
	return view_open(&l->v, by_of[l->by], l->pane.table.selected);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.open = open_row,
	.bys = bys,
	.has_window = list_has_window,
	.heat = "waited_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "waits"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SORT, "sort"},   {CMD_NONE, NULL},
};

const struct view_ops view_held = {
	.name = "held",
	.title = "held",
	.digit = 'O',
	.keys = keys,
	.help = "Who keeps others waiting, and for how long? A task that waited for a lock and got "
		"it holds it until the next one that waited gets it. HELD counts the holds for "
		"which this is known: the next task waited already when the holder got the lock, "
		"or found (--owner) that this holder had it. WAITED is the time that all others "
		"lost by that, and WAIT% its share of all waiting. TOTAL to MAX are upper bounds "
		"of how long the lock was held: a task that takes it without waiting is not seen, "
		"and may have had the lock for a part of the time; the time until the next task "
		"ran is included, too. Kernels from 7.x on report when a lock is released: EXACT "
		"counts the times that are no upper bounds, and HO-P50 and HO-P99 are how long the "
		"next one took to have the lock then. Readers hold a lock together, each until the "
		"next writer gets it. Holders that had not waited themselves are known if a "
		"snapshot saw them, or by --owner. b chooses rows by lock, or by the function in "
		"which the holder had got it. Enter shows the lock of the row.",
	.tables = "held",
	.size = sizeof(struct list_view),
	LIST_VIEW(&ops),
};
