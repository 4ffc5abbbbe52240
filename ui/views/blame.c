// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks that others wait for, in three sets of columns: waiting time, charged to the root at
 * each moment; hold times of locks; and the activity of holders meanwhile. The view's ops are those
 * of its set, so that help, columns and the empty table match it.
 */
#include "kontend/query-blame.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, WIDE = 120 /* from here on the table has room for all words */ };

struct view_blame {
	struct list_view list;
	uint64_t lock_id; /* of the selected row; 0: none */
};

static const char *const bys[] = {"task",  "process", "lock", "type",  "caller",
				  "stack", "syscall", "at",   "state", NULL};
/* The same, in that order, and the ways to open a row. */
static const enum query_blame_by by_of[] = {BLAME_BY_TASK,    BLAME_BY_PROCESS, BLAME_BY_LOCK,
					    BLAME_BY_TYPE,    BLAME_BY_CALLER,	BLAME_BY_STACK,
					    BLAME_BY_SYSCALL, BLAME_BY_AT,	BLAME_BY_STATE};
static const enum query_by opens[] = {BY_TASK,	 BY_PROCESS, BY_LOCK,	 BY_TYPE,
				      BY_CALLER, BY_STACK,   BY_SYSCALL, BY_AT};

static enum blame_set set_of(const struct list_view *l)
{
	return l->v.ops == &view_blame_held  ? BLAME_HELD
	       : l->v.ops == &view_blame_did ? BLAME_DID
					     : BLAME_WAITS;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	const struct query_blame_spec b = {.by = by_of[l->by], .set = set_of(l)};

	return query_blame(l->v.query, &b, spec, ret, err);
}

static bool skips_by(struct list_view *l, unsigned by)
{
	return !query_blame_has(set_of(l), by_of[by]);
}

/* The rows stay as they are by, and the selected one, where the set has such rows. */
static void become(struct list_view *l, const struct view_ops *ops)
{
	uint64_t selected = l->pane.table.selected;

	l->v.ops = ops;
	snprintf(l->v.title, sizeof(l->v.title), "%s", ops->title);
	table_widget_deinit(&l->pane.table);
	l->pane.table = (struct table_widget){0};
	if (skips_by(l, l->by))
		l->by = 0;
	list_select(l, selected);
}

/* @name, or the next one. */
static int change_set(struct list_view *l, const char *name)
{
	const struct view_ops *const *sets = l->v.ops->sets;
	size_t at = 0;

	while (sets[at] && (name ? strcmp(sets[at]->set, name) != 0 : sets[at] != l->v.ops))
		at++;
	if (!sets[at])
		app_say(l->v.app, ROLE_ERROR,
			"No set of columns is called '%s': there are waits, held and did", name);
	else
		become(l, sets[name ? at : (at + 1) % BLAME_SETS]);
	return 0;
}

static int command(struct list_view *l, enum command c, const struct command_arg *arg)
{
	return c == CMD_SET ? change_set(l, arg->text) : VIEW_UNHANDLED;
}

static void put_set(struct list_view *l, struct line *line)
{
	line_put(line, ROLE_DIM, "set ");
	line_put(line, ROLE_BOLD, l->v.ops->set);
	line_put(line, ROLE_DIM, " [v]  ");
}

/* Goes on in the line below where there is no room for all of it. */
static void put_part(struct line *line, enum role role, const char *between, const char *text)
{
	if (line->x + text_width(between) + text_width(text) > line->r.w && line->y == 0) {
		line->y = 1;
		line->x = 3;
		between = "";
	}
	line_put(line, role, between);
	line_put(line, role, text);
}

struct part {
	uint64_t ns;
	const char *what;
};

static int most_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

/* The selected row's words, of which the table has perhaps but a part. */
static int draw_selected(const struct list_view *l, const struct table *t, struct line *line)
{
	size_t at = table_row(t, l->pane.table.selected);

	/* Before the first frame none is selected yet. */
	at = at == SIZE_MAX ? 0 : at;
	const char *mostly = at < t->n_rows ? table_text(t, at, "mostly") : NULL;
	if (line->r.w >= WIDE)
		return 0;
	line->x = 1;
	line->y++;
	line_put(line, ROLE_DIM, "mostly ");
	line_put(line, ROLE_NORMAL, mostly ? mostly : "-");
	return 1;
}

/* "12.9s waited: 11.2s because of 14 tasks, 0.6s holder not known  followed 97%" */
static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_blame_sum sum;
	char buf[UNITS_BUF], tasks[64], text[96];

	if (query_blame_sum(l->v.query, &sum) < 0 || sum.refused)
		return 0;
	snprintf(tasks, sizeof(tasks), "because of %s task%s", units_count(buf, sum.tasks),
		 sum.tasks == 1 ? "" : "s");
	struct part parts[] = {{sum.tasks_ns, tasks},
			       {sum.readers_ns, "of some readers"},
			       {sum.others_ns, "forgotten"},
			       {sum.unknown_ns, "holder not known"}};
	qsort(parts, PARTS, sizeof(*parts), most_first);
	line_put(&line, ROLE_BOLD, units_ns(buf, sum.waited_ns));
	line_put(&line, ROLE_NORMAL, " waited");
	for (int i = 0; i < PARTS && parts[i].ns; i++) {
		snprintf(text, sizeof(text), "%s %s", units_ns(buf, parts[i].ns), parts[i].what);
		put_part(&line, ROLE_NORMAL, i ? ", " : ": ", text);
	}
	if (sum.waited_ns) {
		snprintf(text, sizeof(text), "followed %s%%",
			 units_pct(buf, 100 * (double)sum.followed_ns / (double)sum.waited_ns));
		put_part(&line, ROLE_DIM, "  ", text);
	}
	if (sum.not_followed) {
		snprintf(text, sizeof(text), "%s missed", units_count(buf, sum.not_followed));
		put_part(&line, ROLE_WARN, "  ", text);
	}
	int lines = line.y + 1;
	return lines + draw_selected(l, t, &line);
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	const char *refused = query_blame_why_not(l->v.query);

	(void)t;
	return refused ? refused
		       : "no task has waited here (chains, 0, shows who holds locks at this "
			 "moment)";
}

static const char *empty_did(struct list_view *l, const struct table *t)
{
	const char *refused = query_blame_why_not(l->v.query);

	(void)t;
	return refused ? refused
		       : "no holder is known of a lock for which others waited (the set waits, W, "
			 "has the waits without a known holder)";
}

static void keep_selected(struct list_view *l, const struct table *t)
{
	size_t at = table_row(t, l->pane.table.selected);

	((struct view_blame *)l)->lock_id = at == SIZE_MAX ? 0 : table_u64(t, at, "lock_id");
}

static int open_row(struct list_view *l)
{
	uint64_t lock = ((struct view_blame *)l)->lock_id;

	return lock ? view_open(&l->v, BY_LOCK, lock) : 0;
}

static int open_held(struct list_view *l)
{
	return view_open(&l->v, opens[l->by], l->pane.table.selected);
}

/*
 * "3.9s because of holds that ended, 4.3s waited  1.57k of 3.87k handed on": a hold counts as it
 * ends, with all that was waited because of it, a wait while it lasts.
 */
static int draw_held_head(struct list_view *l, struct screen *s, struct rect r,
			  const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_held_sum sum;
	char a[UNITS_BUF], b[UNITS_BUF];

	(void)t;
	if (query_blame_held_sum(l->v.query, &sum) < 0)
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

static const char *empty_held(struct list_view *l, const struct table *t)
{
	struct query_held_sum sum;

	(void)t;
	if (query_blame_held_sum(l->v.query, &sum) == 0 && sum.got)
		return "tasks waited, but no lock went from one waiting task to the next, so no "
		       "holder is known here; the set waits (W) charges other holders as well, and "
		       "chains (0) shows who holds locks now";
	return "no task has waited for a lock and got it in this time; chains (0) shows who waits "
	       "now";
}

#define SET(ASK_HEAD, EMPTY, OPEN, HEAT)                                                           \
	{                                                                                          \
		.ask = ask_rows, .head = (ASK_HEAD), .before = put_set, .empty = (EMPTY),          \
		.page = (OPEN), .command = command, .drawn = keep_selected, .skips = skips_by,     \
		.bys = bys, .has_window = list_has_window, .heat = (HEAT),                         \
	}

static const struct list_ops waits_ops = SET(draw_head, empty_text, open_row, "waited_ns"),
			     held_ops = SET(draw_held_head, empty_held, open_held, "waited_ns"),
			     did_ops = SET(draw_head, empty_did, open_row, "time_ns");

static const struct view_key keys[] = {
	{CMD_ENTER, "lock"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SET, "set"},    {CMD_SORT, "sort"},     {CMD_NONE, NULL},
};

static const struct view_key held_keys[] = {
	{CMD_ENTER, "waits"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SET, "set"},     {CMD_SORT, "sort"},     {CMD_NONE, NULL},
};

static const struct view_ops *const sets[] = {&view_blame, &view_blame_held, &view_blame_did, NULL};

const struct view_ops view_blame = {
	.name = "blame",
	.title = "blame waits",
	.digit = 'W',
	.keys = keys,
	.help = "Who are tasks waiting for? Each moment of waiting is charged to the root: the "
		"task that held the lock, or, while that one waited for a lock itself, the holder "
		"of that one, and so on. WAITED of all rows adds up to all waiting time: unknown "
		"holders have a row as well. MOSTLY is the main activity of the root meanwhile: it "
		"ran, it was ready to run and another task had the CPU, or it slept, with the "
		"cause and the function. BPF follows that for holders that others wait for; OTH% "
		"is the time that was not followed. b chooses rows by the root's process, lock, "
		"type, function, call chain or state. Enter opens the page of the row's lock. v "
		"shows the same rows with the columns held, then did.",
	.tables = "blame",
	.sets = sets,
	.set = "waits",
	.size = sizeof(struct view_blame),
	.page = list_page,
	LIST_VIEW(&waits_ops),
};

const struct view_ops view_blame_held = {
	.name = "blame",
	.title = "blame held",
	.digit = 'W',
	.keys = held_keys,
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
	.sets = sets,
	.set = "held",
	.size = sizeof(struct view_blame),
	.page = list_page,
	LIST_VIEW(&held_ops),
};

const struct view_ops view_blame_did = {
	.name = "blame",
	.title = "blame did",
	.digit = 'W',
	.keys = keys,
	.help = "What did holders do while others waited for their lock? TIME is how long known "
		"holders had it meanwhile, by the clock, however many tasks waited; readers that "
		"hold it together count each. RUN% is a long critical section, RDY% a CPU that "
		"another task had, SLP% and I/O% sleep with the lock held, LCK% another lock: its "
		"own row says why. MOSTLY is the greatest part, and why. b chooses rows by holder, "
		"or by the function in which the holder had got the lock. Enter opens the page of "
		"the row's lock.",
	.tables = "did",
	.sets = sets,
	.set = "did",
	.size = sizeof(struct view_blame),
	.page = list_page,
	LIST_VIEW(&did_ops),
};
