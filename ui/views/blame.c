// SPDX-License-Identifier: GPL-2.0-only
/*
 * Because of whom is waited, and what holders did while others waited: two views of the same sums.
 * The first line says how all that was waited is made up. Enter opens the page of the lock that
 * costs most of the row.
 */
#include "kontend/query-blame.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 4, WIDE = 120 /* from here on the table has room for all words */ };

struct view_blame {
	struct list_view list;
	uint64_t lock_id; /* of the selected row; 0: none */
};

static const char *const bys[] = {"task",   "process", "lock",	"type",
				  "caller", "stack",   "state", NULL};
static const char *const did_bys[] = {"lock", "task", "process", "type", "caller", "stack", NULL};

static enum query_blame_by by_of(const char *name)
{
	enum query_blame_by by = BLAME_BY_TASK;

	(void)query_blame_by_parse(name, &by);
	return by;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_blame(l->v.query, by_of(bys[l->by]), spec, ret, err);
}

static int ask_did(struct list_view *l, struct query_spec *spec, struct table *ret,
		   struct error *err)
{
	return query_blame_did(l->v.query, by_of(did_bys[l->by]), spec, ret, err);
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
	size_t at = table_row(t, l->pane.table.selected), col = table_column(t, "mostly");

	/* Before the first frame none is selected yet. */
	at = at == SIZE_MAX ? 0 : at;
	const struct value *v = at < t->n_rows && col != SIZE_MAX ? table_value(t, at, col) : NULL;
	if (line->r.w >= WIDE)
		return 0;
	line->x = 1;
	line->y++;
	line_put(line, ROLE_DIM, "mostly ");
	line_put(line, ROLE_NORMAL, v && v->known ? v->s : "-");
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
		       : "no holder is known of a lock for which others waited (blame has the "
			 "waits without a known holder)";
}

static void keep_selected(struct list_view *l, const struct table *t)
{
	size_t at = table_row(t, l->pane.table.selected), col = table_column(t, "lock_id");

	((struct view_blame *)l)->lock_id =
		at == SIZE_MAX || col == SIZE_MAX ? 0 : table_value(t, at, col)->u;
}

static int open_row(struct list_view *l)
{
	uint64_t lock = ((struct view_blame *)l)->lock_id;

	return lock ? view_open(&l->v, BY_LOCK, lock) : 0;
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.open = open_row,
	.drawn = keep_selected,
	.bys = bys,
	.has_window = list_has_window,
	.heat = "waited_ns",
};

static const struct list_ops did_ops = {
	.ask = ask_did,
	.head = draw_head,
	.empty = empty_did,
	.open = open_row,
	.drawn = keep_selected,
	.bys = did_bys,
	.has_window = list_has_window,
	.heat = "time_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "lock"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SORT, "sort"},  {CMD_NONE, NULL},
};

const struct view_ops view_blame = {
	.name = "blame",
	.title = "blame",
	.digit = 'W',
	.keys = keys,
	.help = "Who are tasks waiting for? Each moment of waiting is charged to the root: the "
		"task that held the lock, or, while that one waited for a lock itself, the holder "
		"of that one, and so on. WAITED of all rows adds up to all waiting time: unknown "
		"holders have a row as well. MOSTLY is the main activity of the root meanwhile: it "
		"ran, it was ready to run and another task had the CPU, or it slept, with the "
		"cause and the function. BPF follows that for holders that others wait for; OTH% "
		"is the time that was not followed. b chooses rows by the root's process, lock, "
		"type, function, call chain or state. Enter opens the page of the row's lock.",
	.tables = "blame",
	.size = sizeof(struct view_blame),
	LIST_VIEW(&ops),
};

const struct view_ops view_did = {
	.name = "did",
	.title = "did",
	.digit = 'D',
	.keys = keys,
	.help = "What did holders do while others waited for their lock? TIME is how long known "
		"holders had it meanwhile, by the clock, however many tasks waited; readers that "
		"hold it together count each. RUN% is a long critical section, RDY% a CPU that "
		"another task had, SLP% and I/O% sleep with the lock held, LCK% another lock: its "
		"own row says why. MOSTLY is the greatest part, and why. b chooses rows by holder, "
		"or by the function in which the holder had got the lock. Enter opens the page of "
		"the row's lock.",
	.tables = "did",
	.size = sizeof(struct view_blame),
	LIST_VIEW(&did_ops),
};
