// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "blame": the tasks, locks or functions that waiting is due to. A row is a root, or all
 * waiting due to a lock, a function or a state of its holders. WAITED of all rows is all that was
 * waited: unknown roots have a row as well.
 */
#include "rows.h"

#include <errno.h>

enum {
	C_TASK,
	C_PROCESS,
	C_PID,
	C_TID,
	C_COMM,
	C_STATE,
	C_STACK,
	C_ROW,
	C_KIND,
	C_LOCK,
	C_NAME,
	C_LOCKS,
	C_WAITED,
	C_PCT,
	C_MOSTLY,
	C_CALLER,
	C_WAITS,
	C_RUNNING,
	C_RUNNABLE,
	C_ASLEEP,
	C_IO,
	C_OTHER,
	C_RUNNING_NS,
	C_RUNNABLE_NS,
	C_ASLEEP_NS,
	C_IO_NS,
	C_NOT_FOLLOWED_NS,
	C_CIRCLE_NS,
	C_UNKNOWN_NS,
	C_CHAINED,
	C_CHAINED_NS,
	C_MOSTLY_STATE,
	C_MOSTLY_PCT,
	C_MOSTLY_WHO,
	C_MOSTLY_IN,
	C_MOSTLY_WHAT,
	C_WAITS_NAME,
	C_WAITS_CALLER,
	C_LAST,
	C_LOCK_ID,
	C_COLUMNS
};

enum { S = COLUMN_SCREEN, R = COLUMN_REPORT, SR = S | R, W = COLUMN_WIDE };

static const struct column columns[C_COLUMNS] = {
	[C_TASK] = {"task", "BECAUSE OF",
		    "the root: the task that held the lock, and waited for none itself",
		    COLUMN_TEXT, 18, 0, S, 1 << BLAME_BY_TASK},
	[C_PROCESS] = {"process", "BECAUSE OF", "the process of the root: name and process id",
		       COLUMN_TEXT, 18, 0, S, 1 << BLAME_BY_PROCESS},
	[C_PID] = {"pid", "PID", "process id of the root", COLUMN_INT, 7, 9, R, BLAME_BY_WHO},
	[C_TID] = {"tid", "TID", "thread id of the root", COLUMN_INT, 7, 9, R, 1 << BLAME_BY_TASK},
	[C_COMM] = {"comm", "COMM", "its name", COLUMN_TEXT, 16, 9, R, BLAME_BY_WHO},
	[C_STATE] = {"state", "IT WAS", "activity of the root, or why it is not known", COLUMN_TEXT,
		     20, 0, SR, 1 << BLAME_BY_STATE},
	[C_STACK] = {"stack", "GOT IN, AND ITS CALLERS",
		     "call chain in which the root had got the lock, from the call site outwards",
		     COLUMN_TEXT, 40, 0, SR | W, 1 << BLAME_BY_STACK},
	[C_ROW] = {"row", "ROW",
		   "kind of the row: task, reader (which one is not known), other (forgotten) or "
		   "unknown",
		   COLUMN_TEXT, 7, 9, R, BLAME_BY_WHO},
	[C_KIND] = {"kind", "TYPE", "type and mode in which the root had the lock", COLUMN_TEXT, 10,
		    4, SR},
	[C_LOCK] = {"lock", "ADDRESS", "address of the lock; unknown where the row spans several",
		    COLUMN_ADDR, 18, 9, R},
	[C_NAME] = {"name", "LOCK",
		    "the lock that the root had; ~ the one that cost most of several", COLUMN_TEXT,
		    18, 0, SR | W},
	[C_LOCKS] = {"locks", "LOCKS", "number of locks that the row spans, each mode counted",
		     COLUMN_COUNT, 5, 6, SR, ~(1u << BLAME_BY_LOCK)},
	[C_WAITED] = {"waited_ns", "WAITED", "time that all waiters lost because of it", COLUMN_NS,
		      6, 0, SR},
	[C_PCT] = {"waited_pct", "WAIT%",
		   "its share of all time waited, with or without a known holder", COLUMN_PCT, 5, 1,
		   SR},
	[C_MOSTLY] = {"mostly", "MOSTLY",
		      "main activity of the root in WAITED, and its reason: the task that kept it "
		      "off the CPU, or the cause and function of its sleep",
		      COLUMN_TEXT, 22, 0, SR | W},
	[C_CALLER] = {"caller", "GOT IN",
		      "function in which the root had got the lock, where it had waited for it; ~ "
		      "of several the one that cost most",
		      COLUMN_TEXT, 18, 3, SR | W},
	[C_WAITS] = {"waits", "WHO LOSES MOST", "lock and function with the most waiting time",
		     COLUMN_TEXT, 24, 3, S | W},
	[C_RUNNING] = {"running_pct", "RUN%", "part of WAITED while the root ran", COLUMN_PCT, 5, 2,
		       SR},
	[C_RUNNABLE] = {"runnable_pct", "RDY%",
			"while it was ready to run and another task had the CPU", COLUMN_PCT, 5, 2,
			SR},
	[C_ASLEEP] = {"asleep_pct", "SLP%", "while it was asleep, and not for I/O", COLUMN_PCT, 5,
		      2, SR},
	[C_IO] = {"io_pct", "I/O%", "while it was asleep for I/O", COLUMN_PCT, 5, 2, SR},
	[C_OTHER] = {"other_pct", "OTH%",
		     "the rest: it was not followed, in a circle of waits, or no holder is known",
		     COLUMN_PCT, 5, 2, SR},
	[C_RUNNING_NS] = {"running_ns", "RUN", "RUN% as time", COLUMN_NS, 6, 9, R},
	[C_RUNNABLE_NS] = {"runnable_ns", "RDY", "RDY% as time", COLUMN_NS, 6, 9, R},
	[C_ASLEEP_NS] = {"asleep_ns", "SLP", "SLP% as time", COLUMN_NS, 6, 9, R},
	[C_IO_NS] = {"io_ns", "I/O", "I/O% as time", COLUMN_NS, 6, 9, R},
	[C_NOT_FOLLOWED_NS] = {"not_followed_ns", "NOT FOLLOWED", "time without known activity",
			       COLUMN_NS, 6, 9, R},
	[C_CIRCLE_NS] = {"circle_ns", "CIRCLE", "in a circle of waits, as time", COLUMN_NS, 6, 9,
			 R},
	[C_UNKNOWN_NS] = {"unknown_ns", "UNKNOWN", "no holder is known, as time", COLUMN_NS, 6, 9,
			  R},
	[C_CHAINED] = {"chained_pct", "CHAIN%",
		       "part of WAITED for other locks, whose holders waited for this root",
		       COLUMN_PCT, 6, 5, SR},
	[C_CHAINED_NS] = {"chained_ns", "CHAIN", "CHAIN% as time", COLUMN_NS, 6, 9, R},
	[C_MOSTLY_STATE] = {"mostly_state", "MOSTLY STATE",
			    "MOSTLY in parts: running, runnable, asleep, io, not_followed, circle, "
			    "unknown",
			    COLUMN_TEXT, 12, 9, R},
	[C_MOSTLY_PCT] = {"mostly_pct", "MOSTLY%", "its part of WAITED", COLUMN_PCT, 5, 9, R},
	[C_MOSTLY_WHO] = {"mostly_who", "KEPT OFF BY", "task that had the CPU", COLUMN_TEXT, 16, 9,
			  R},
	[C_MOSTLY_IN] = {"mostly_in", "ASLEEP IN", "the function", COLUMN_TEXT, 16, 9, R},
	[C_MOSTLY_WHAT] = {"mostly_what", "ASLEEP FOR", "reason of the sleep, by its calls",
			   COLUMN_TEXT, 16, 9, R},
	[C_WAITS_NAME] = {"waits_name", "WAITED FOR", "the lock of WHO LOSES MOST", COLUMN_TEXT, 18,
			  9, R},
	[C_WAITS_CALLER] = {"waits_caller", "WAITED IN", "and the function", COLUMN_TEXT, 18, 9, R},
	[C_LAST] = {"last_ns", "LAST", "time since it last happened", COLUMN_NS, 6, 6, SR},
	[C_LOCK_ID] = {"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0, 9, 0},
};

static const struct blame_columns at = BLAME_COLUMNS;

static void fill_states(const struct blame_group *g, struct value *v)
{
	static const struct {
		uint8_t state, ns, pct;
	} all[] = {
		{BLAME_RUNNING, C_RUNNING_NS, C_RUNNING},
		{BLAME_RUNNABLE, C_RUNNABLE_NS, C_RUNNABLE},
		{BLAME_ASLEEP, C_ASLEEP_NS, C_ASLEEP},
		{BLAME_IO, C_IO_NS, C_IO},
		{BLAME_NOT_FOLLOWED, C_NOT_FOLLOWED_NS, 0},
		{BLAME_CIRCLE, C_CIRCLE_NS, 0},
		{BLAME_UNKNOWN, C_UNKNOWN_NS, 0},
	};
	uint64_t other = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint64_t ns = g->state_ns[all[i].state];
		value_u(&v[all[i].ns], ns);
		if (all[i].pct)
			value_d(&v[all[i].pct], blame_share(ns, g->ns));
		else
			other += ns;
	}
	value_d(&v[C_OTHER], blame_share(other, g->ns));
}

/* The lock that is waited for, and the function that does. */
static uint64_t waited_in(struct blame_rows *b, const struct blame_cell *c)
{
	return (uint64_t)c->key.lock << 32 | query_caller(b->q, c->key.stack);
}

static void fill_waits(struct blame_rows *b, const struct blame_group *g, struct value *v)
{
	struct query *q = b->q;
	struct blame_heaviest h;

	if (!blame_heaviest(b, g, waited_in, &h))
		return;
	const char *name = query_lock_name(q, (uint32_t)(h.key >> 32));
	const char *in = query_func_name(q, (uint32_t)h.key);
	value_s(&v[C_WAITS_NAME], name);
	value_s(&v[C_WAITS_CALLER], in);
	value_s(&v[C_WAITS],
		in ? arena_printf(&q->arena, "%s in %s", name ? name : "-", in) : name);
	v[C_WAITS].approx = v[C_WAITS_NAME].approx = v[C_WAITS_CALLER].approx = h.many;
}

static void list_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const uint64_t waits = 1ull << C_WAITS | 1ull << C_WAITS_NAME | 1ull << C_WAITS_CALLER;
	struct blame_rows *b = ctx;
	const struct blame_group *g = &b->g[row];
	uint64_t now_ns = b->q->model->now_ns;

	value_u(&v[C_WAITED], g->ns);
	value_d(&v[C_PCT], blame_share(g->ns, b->all_ns + b->cells.lost_ns));
	value_u(&v[C_CHAINED_NS], g->chained_ns);
	value_d(&v[C_CHAINED], blame_share(g->chained_ns, g->ns));
	value_u(&v[C_LAST], now_ns > g->last_ns ? now_ns - g->last_ns : 0);
	fill_states(g, v);
	if (b->by == BLAME_BY_STATE)
		value_s(&v[C_STATE], blame_state_words(blame_first(b, g)->key.state));
	blame_fill_root(b, g, want, &at, v);
	blame_fill_mostly(b, g, want, &at, v);
	if (want & waits)
		fill_waits(b, g, v);
}

const struct table_kind query_blame_kind = {"blame", columns, C_COLUMNS, list_fill, blame_rank};

int query_blame(struct query *q, enum query_blame_by by, const struct query_spec *s,
		struct table *ret, struct error *err)
{
	struct blame_rows b = {.q = q, .by = by};
	struct row_source src = {.kind = &query_blame_kind,
				 .columns = rows_columns_by(q, &query_blame_kind, by),
				 .sort = "waited_ns",
				 .ctx = &b};

	if (!src.columns || blame_rows_sum(&b) < 0)
		return query_enomem(err, "tasks to blame");
	return blame_answer(&b, s, &src, ret, err);
}
