// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "did": what those who had locks did while others waited for these. It is time as a
 * clock shows it, whatever the number of tasks that waited: of each holder, so that readers who
 * have a lock together count each.
 */
#include "rows.h"

#include <errno.h>

enum {
	C_TASK,
	C_PROCESS,
	C_PID,
	C_TID,
	C_COMM,
	C_STACK,
	C_ROW,
	C_KIND,
	C_LOCK,
	C_NAME,
	C_LOCKS,
	C_TIME,
	C_MOSTLY,
	C_RUNNING,
	C_RUNNABLE,
	C_ASLEEP,
	C_IO,
	C_PASSED,
	C_NOT_FOLLOWED,
	C_RUNNING_NS,
	C_RUNNABLE_NS,
	C_ASLEEP_NS,
	C_IO_NS,
	C_PASSED_NS,
	C_NOT_FOLLOWED_NS,
	C_WAITED,
	C_CALLER,
	C_MOSTLY_STATE,
	C_MOSTLY_PCT,
	C_MOSTLY_WHO,
	C_MOSTLY_IN,
	C_MOSTLY_WHAT,
	C_LAST,
	C_LOCK_ID,
	C_COLUMNS
};

enum { S = COLUMN_SCREEN, R = COLUMN_REPORT, SR = S | R, W = COLUMN_WIDE };

static const struct column columns[C_COLUMNS] = {
	[C_TASK] = {"task", "HOLDER", "task that had the lock: name and thread id", COLUMN_TEXT, 16,
		    0, S, 1 << BLAME_BY_TASK},
	[C_PROCESS] = {"process", "HOLDER", "the process that had it: name and process id",
		       COLUMN_TEXT, 16, 0, S, 1 << BLAME_BY_PROCESS},
	[C_PID] = {"pid", "PID", "process id of the holder", COLUMN_INT, 7, 9, R, BLAME_BY_WHO},
	[C_TID] = {"tid", "TID", "thread id of the holder", COLUMN_INT, 7, 9, R,
		   1 << BLAME_BY_TASK},
	[C_COMM] = {"comm", "COMM", "its name", COLUMN_TEXT, 16, 9, R, BLAME_BY_WHO},
	[C_STACK] = {"stack", "GOT IN, AND ITS CALLERS",
		     "call chain in which the holder had got the lock, from the call site outwards",
		     COLUMN_TEXT, 40, 0, SR | W, 1 << BLAME_BY_STACK},
	[C_ROW] = {"row", "ROW",
		   "kind of the row: task, reader (which one is not known) or other (forgotten)",
		   COLUMN_TEXT, 7, 9, R, BLAME_BY_WHO},
	[C_KIND] = {"kind", "TYPE", "type and mode in which it was held", COLUMN_TEXT, 10, 1, SR},
	[C_LOCK] = {"lock", "ADDRESS", "address of the lock; unknown where the row spans several",
		    COLUMN_ADDR, 18, 9, R},
	[C_NAME] = {"name", "LOCK", "name of the lock; ~ the one with most TIME of several",
		    COLUMN_TEXT, 18, 0, SR | W},
	[C_LOCKS] = {"locks", "LOCKS", "number of locks that the row spans, each mode counted",
		     COLUMN_COUNT, 5, 6, SR, ~(1u << BLAME_BY_LOCK)},
	[C_TIME] = {"time_ns", "TIME", "time that known holders had it while others waited",
		    COLUMN_NS, 6, 0, SR},
	[C_MOSTLY] = {"mostly", "MOSTLY",
		      "main activity of the holders in TIME, and its reason: the task that kept "
		      "them off the CPU, the cause and function of their sleep, or the lock that "
		      "they waited for",
		      COLUMN_TEXT, 22, 1, SR | W},
	[C_RUNNING] = {"running_pct", "RUN%", "part of TIME while they ran", COLUMN_PCT, 5, 1, SR},
	[C_RUNNABLE] = {"runnable_pct", "RDY%",
			"while they were ready to run and another task had the CPU", COLUMN_PCT, 5,
			1, SR},
	[C_ASLEEP] = {"asleep_pct", "SLP%", "while they were asleep, and not for I/O or a lock",
		      COLUMN_PCT, 5, 1, SR},
	[C_IO] = {"io_pct", "I/O%", "while they were asleep for I/O", COLUMN_PCT, 5, 2, SR},
	[C_PASSED] = {"lock_pct", "LCK%",
		      "while they waited for another lock themselves, in a circle or not",
		      COLUMN_PCT, 5, 2, SR},
	[C_NOT_FOLLOWED] = {"not_followed_pct", "NOT%", "while they were not followed", COLUMN_PCT,
			    5, 2, SR},
	[C_RUNNING_NS] = {"running_ns", "RUN", "RUN% as time", COLUMN_NS, 6, 7, SR},
	[C_RUNNABLE_NS] = {"runnable_ns", "RDY", "RDY% as time", COLUMN_NS, 6, 7, SR},
	[C_ASLEEP_NS] = {"asleep_ns", "SLP", "SLP% as time", COLUMN_NS, 6, 7, SR},
	[C_IO_NS] = {"io_ns", "I/O", "I/O% as time", COLUMN_NS, 6, 7, SR},
	[C_PASSED_NS] = {"lock_ns", "LCK", "LCK% as time", COLUMN_NS, 6, 7, SR},
	[C_NOT_FOLLOWED_NS] = {"not_followed_ns", "NOT", "NOT% as time", COLUMN_NS, 6, 7, SR},
	[C_WAITED] = {"waited_ns", "WAITED",
		      "time that others waited for the lock meanwhile, together", COLUMN_NS, 6, 3,
		      SR},
	[C_CALLER] = {"caller", "GOT IN",
		      "function in which the holder had got the lock, where it had waited for it; "
		      "~ of several the one with most TIME",
		      COLUMN_TEXT, 18, 3, SR | W},
	[C_MOSTLY_STATE] = {"mostly_state", "MOSTLY STATE",
			    "MOSTLY in parts: running, runnable, asleep, io, lock, circle, "
			    "not_followed",
			    COLUMN_TEXT, 12, 9, R},
	[C_MOSTLY_PCT] = {"mostly_pct", "MOSTLY%", "its part of TIME", COLUMN_PCT, 5, 9, R},
	[C_MOSTLY_WHO] = {"mostly_who", "KEPT OFF BY", "task that had the CPU", COLUMN_TEXT, 16, 9,
			  R},
	[C_MOSTLY_IN] = {"mostly_in", "ASLEEP IN", "the function", COLUMN_TEXT, 16, 9, R},
	[C_MOSTLY_WHAT] = {"mostly_what", "WAITED FOR",
			   "reason of the sleep, by its calls, or the lock", COLUMN_TEXT, 16, 9, R},
	[C_LAST] = {"last_ns", "LAST", "time since it last happened", COLUMN_NS, 6, 6, SR},
	[C_LOCK_ID] = {"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0, 9, 0},
};

static const struct blame_columns at = BLAME_COLUMNS;

static void fill_states(const struct blame_group *g, struct value *v)
{
	const struct {
		uint64_t time_ns;
		uint8_t ns, pct;
	} all[] = {
		{g->state_ns[BLAME_RUNNING], C_RUNNING_NS, C_RUNNING},
		{g->state_ns[BLAME_RUNNABLE], C_RUNNABLE_NS, C_RUNNABLE},
		{g->state_ns[BLAME_ASLEEP], C_ASLEEP_NS, C_ASLEEP},
		{g->state_ns[BLAME_IO], C_IO_NS, C_IO},
		{g->state_ns[BLAME_PASSED] + g->state_ns[BLAME_CIRCLE], C_PASSED_NS, C_PASSED},
		{g->state_ns[BLAME_NOT_FOLLOWED], C_NOT_FOLLOWED_NS, C_NOT_FOLLOWED},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		value_u(&v[all[i].ns], all[i].time_ns);
		value_d(&v[all[i].pct], blame_share(all[i].time_ns, g->ns));
	}
}

static uint64_t waited_ns(const struct blame_rows *b, const struct blame_group *g)
{
	uint64_t ns = 0;

	for (uint32_t i = g->cells; i; i = b->next[i - 1])
		ns += b->cells.v[i - 1].ns;
	return ns;
}

static void did_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct blame_rows *b = ctx;
	const struct blame_group *g = &b->g[row];
	uint64_t now_ns = b->q->model->now_ns;

	value_u(&v[C_TIME], g->ns);
	value_u(&v[C_LAST], now_ns > g->last_ns ? now_ns - g->last_ns : 0);
	if (want & 1ull << C_WAITED)
		value_u(&v[C_WAITED], waited_ns(b, g));
	fill_states(g, v);
	blame_fill_root(b, g, want, &at, v);
	blame_fill_mostly(b, g, want, &at, v);
}

const struct table_kind query_blame_did_kind = {"did", columns, C_COLUMNS, did_fill, blame_rank};

int query_blame_did(struct query *q, enum query_blame_by by, const struct query_spec *s,
		    struct table *ret, struct error *err)
{
	struct blame_rows b = {.q = q,
			       .by = by == BLAME_BY_STATE ? BLAME_BY_LOCK : by,
			       .did = true,
			       .scope = &s->scope};
	struct row_source src = {.kind = &query_blame_did_kind,
				 .columns = rows_columns_by(q, &query_blame_did_kind, b.by),
				 .sort = "time_ns",
				 .ctx = &b};

	if (!src.columns || blame_rows_sum(&b) < 0)
		return query_enomem(err, "holders");
	return blame_answer(&b, s, &src, ret, err);
}
