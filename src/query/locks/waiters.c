// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "waiters": every wait in flight is a row, also one without an event, if a lock snapshot
 * proves it. Its own order is rwsem first, then the longest wait first; then come those that may
 * have ended unseen, and at last the longest that have just ended (longest-recent.h). A snapshot is
 * of another moment than the wait: both are put together where the snapshot saw the wait. A row's
 * id is made of task, lock and begin, so that a selection stays with a wait, also when it ends, and
 * does not jump to the next wait of the same task. The columns without a flag carry the ids that a
 * drill-down scopes by.
 *
 * For a screen, tasks that wait for one lock may be folded into one row.
 */
#include "../internal.h"
#include "../rows.h"
#include "holder.h"
#include "kontend/columns.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/longest-recent.h"
#include "kontend/query-lock.h"
#include "kontend/query-wait.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "queues.h"
#include "sched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	C_SINCE,
	C_KIND,
	C_TYPE,
	C_MODE,
	C_TASK,
	C_PID,
	C_TID,
	C_COMM,
	C_LOCK,
	C_NAME,
	C_PHASE,
	C_CPU,
	C_DOUBTFUL,
	C_EARLY,
	C_PLACE,
	C_POSITION,
	C_QUEUE,
	C_HOLDER,
	C_OWNER_PID,
	C_OWNER_TID,
	C_OWNER_COMM,
	C_CERTAINTY,
	C_NEXT_PID,
	C_NEXT_TID,
	C_NEXT_COMM,
	C_IS,
	C_OWNER_STATE,
	C_OWNER_MESSAGE,
	C_OWNER_CPU,
	C_OWNER_FUNCTION,
	C_OWNER_AT,
	C_OWNER_SEEN,
	C_OWNER_STACK,
	C_EVIDENT,
	C_STACK,
	C_CALLER,
	C_SYSCALL,
	C_SYSCALL_REASON,
	C_ON,
	C_ON_REASON,
	C_AT,
	C_AT_REASON,
	C_AT_LEAST,
	C_OWNER_AGE,
	C_PARTS,
	C_RCU,
	C_READERS_PART,
	C_FD,
	C_HELD,
	C_HELD_MOST,
	C_ENDED,
	C_ENDED_NS,
	C_WAITERS,
	C_WAITED,
	C_LOST,
	C_PAR,
	C_POLICY,
	C_OWNER_POLICY,
	C_OFF_PID,
	C_OFF_TID,
	C_OFF_COMM,
	C_OFF_POLICY,
	C_RUNS_IN,
	C_THROTTLED,
	C_STEAL,
	C_INVERSION,
	C_TASK_ID,
	C_LOCK_ID,
	C_CALLER_ID,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_SINCE] = {"since_ns", "SINCE", "duration of the wait so far", COLUMN_NS, 6, 0, SR},
	[C_KIND] = {COL_KIND, 10, 0, SR},
	[C_TYPE] = {COL_TYPE, 9, 9, R},
	[C_MODE] = {COL_MODE, 4, 9, R},
	[C_TASK] = {COL_TASK, 16, 0, S},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_TID] = {COL_TID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_LOCK] = {COL_LOCK, 18, 9, R},
	[C_NAME] = {COL_NAME_AS("WAITS FOR"), 18, 0, SR | W},
	[C_PHASE] = {"phase", "STATE", "spinning (burns its CPU) or asleep", COLUMN_TEXT, 8, 4, SR},
	[C_CPU] = {COL_WAIT_CPU, 4, 5, SR},
	[C_DOUBTFUL] = {"doubtful", "DOUBTFUL",
			"records were lost since the wait began: it may have ended", COLUMN_BOOL, 8,
			5, SR},
	[C_EARLY] = {"early", "EARLY",
		     "the wait began before measuring: SINCE is from the scheduler", COLUMN_BOOL, 8,
		     9, R},
	[C_PLACE] = {"place", "PLACE",
		     "place in the lock's queue and length of the queue; 1 gets the lock next",
		     COLUMN_TEXT, 6, 2, S},
	[C_POSITION] = {"position", "POSITION", "place in the lock's queue; 1 gets the lock next",
			COLUMN_INT, 8, 9, R},
	[C_QUEUE] = {"queue", "QUEUE", "tasks in the lock's queue", COLUMN_COUNT, 5, 9, R},
	[C_HOLDER] = {COL_HOLDER, 18, 1, S | W},
	[C_OWNER_PID] = {COL_OWNER_PID, 7, 9, R},
	[C_OWNER_TID] = {COL_OWNER_TID, 7, 9, R},
	[C_OWNER_COMM] = {COL_OWNER_COMM, 16, 9, R},
	[C_CERTAINTY] = {COL_CERTAINTY("owner_certainty"), 9, 9, R},
	[C_NEXT_PID] = {COL_NEXT_PID, 7, 9, R},
	[C_NEXT_TID] = {COL_NEXT_TID, 7, 9, R},
	[C_NEXT_COMM] = {COL_NEXT_COMM, 16, 9, R},
	[C_IS] = {"holder_is", "HOLDER IS",
		  "state of the holder: running or runnable on a CPU, or asleep in a function",
		  COLUMN_TEXT, 20, 6, S},
	[C_OWNER_STATE] = {"owner_state", "OWNER STATE",
			   "state of the holder: running, runnable, asleep", COLUMN_TEXT, 8, 9, R},
	[C_OWNER_MESSAGE] = {"owner_message", "OWNER MESSAGE",
			     "message that the holder sends to rtnetlink, as RTM_NEWLINK",
			     COLUMN_TEXT, 14, 9, R},
	[C_OWNER_CPU] = {"owner_cpu", "OWNER CPU", "CPU on which the holder is, or was last",
			 COLUMN_INT, 4, 9, R},
	[C_OWNER_FUNCTION] = {COL_OWNER_FUNCTION, 20, 9, R},
	[C_OWNER_AT] = {"owner_at", "OWNER AT",
			"line of the holder's program where the holder is: of one that runs by its "
			"last sample",
			COLUMN_TEXT, 20, 9, R},
	[C_OWNER_SEEN] =
		{"owner_seen_ns", "OWNER SEEN",
		 "time for which every snapshot has seen the holder hold the lock, if it is sure",
		 COLUMN_NS, 6, 9, R},
	[C_OWNER_STACK] = {"owner_stack", "OWNER STACK",
			   "call chain of a holder that is not running, innermost function first",
			   COLUMN_TEXT, 20, 9, R | COLUMN_LIST},
	[C_EVIDENT] = {COL_READERS_EVIDENT, 20, 9, R | COLUMN_LIST},
	[C_STACK] = {COL_STACK, 20, 9, R | COLUMN_LIST},
	[C_CALLER] = {COL_CALLER, 18, 2, SR | W},
	[C_SYSCALL] = {COL_SYSCALL, 10, 3, SR},
	[C_SYSCALL_REASON] = {COL_SYSCALL_REASON, 20, 9, R},
	[C_ON] = {COL_ON, 16, 4, SR | W},
	[C_ON_REASON] = {COL_ON_REASON, 20, 9, R},
	[C_AT] = {COL_AT, 20, 2, SR | W},
	[C_AT_REASON] = {COL_AT_REASON, 20, 9, R},
	[C_AT_LEAST] =
		{"at_least", "AT LEAST",
		 "no event reported the begin of the wait: it may have lasted longer than SINCE",
		 COLUMN_BOOL, 8, 9, R},
	[C_OWNER_AGE] = {"owner_age_ns", "OWNER AGE",
			 "age of the snapshot that saw the holder, if that did not see the wait",
			 COLUMN_NS, 6, 9, R},
	[C_PARTS] = {"parts", "OF IT",
		     "of the wait of a percpu-rwsem's writer: for a grace period of RCU, and for "
		     "readers, as far as snapshots have seen it",
		     COLUMN_TEXT, 24, 0, W},
	[C_RCU] = {COL_RCU, 6, 9, R},
	[C_READERS_PART] = {COL_READERS_PART, 7, 9, R},
	[C_FD] = {COL_FD, 3, 3, R},
	[C_HELD] = {COL_HELD, 6, 3, R},
	[C_HELD_MOST] = {COL_HELD_MOST, 6, 9, R},
	[C_ENDED] = {COL_WAIT_ENDED, 8, 9, R},
	[C_ENDED_NS] = {COL_ENDED_NS, 6, 1, R},
	[C_WAITERS] = {"waiting", "WAITING", "tasks that the row stands for", COLUMN_COUNT, 7, 9,
		       R},
	[C_WAITED] = {COL_WAITED_BY_ALL("ALL"), 6, 3, R},
	[C_LOST] = {COL_WAIT_LOST, 6, 6, SR},
	[C_PAR] = {COL_WAIT_PAR, 5, 8, SR},
	[C_POLICY] = {"policy", "POLICY", "how the task is scheduled: FIFO 80, NORMAL, ...",
		      COLUMN_TEXT, 8, 9, R},
	[C_OWNER_POLICY] = {"owner_policy", "OWNER POLICY", "the same of the holder", COLUMN_TEXT,
			    8, 9, R},
	[C_OFF_PID] = {COL_OFF_PID, 7, 9, R},
	[C_OFF_TID] = {COL_OFF_TID, 7, 9, R},
	[C_OFF_COMM] = {COL_OFF_COMM, 16, 9, R},
	[C_OFF_POLICY] = {"kept_off_policy", "OFF POLICY", "how that one is scheduled", COLUMN_TEXT,
			  8, 9, R},
	[C_RUNS_IN] = {"owner_runs_in", "RUNS IN",
		       "function in which the holder runs, by its last sample, and the system call",
		       COLUMN_TEXT, 20, 9, R},
	[C_THROTTLED] =
		{"owner_throttled", "THROTTLED",
		 "cgroup whose limit keeps the holder off its CPU, the limit, and how long, "
		 "in words",
		 COLUMN_TEXT, 30, 9, R},
	[C_STEAL] = {"owner_cpu_steal_pct", "STEAL%",
		     "share of the time since the look before that a hypervisor took from the CPU "
		     "of the holder",
		     COLUMN_PCT, 6, 9, R},
	[C_INVERSION] = {"inversion", "INVERSION",
			 "priority inversion in which the task waits, in words", COLUMN_TEXT, 40, 9,
			 R},
	[C_TASK_ID] = {"task_id", "TASK ID", "id of the task's row by task", COLUMN_COUNT, 0, 9, 0},
	[C_LOCK_ID] = {"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0, 9, 0},
	[C_CALLER_ID] = {"caller_id", "CALLER ID", "id of the call site's row by caller",
			 COLUMN_COUNT, 0, 9, 0},
};

/* A wait, or with @n > 1 the longest of so many for one lock. */
struct row {
	const struct wait *wait;
	uint64_t end_ns; /* 0: in flight */
	uint64_t waited_ns;
	uint32_t n;
	bool one_kind; /* all wait to read, or to write */
};

struct waiters {
	struct query *q;
	struct row *rows;
	size_t n, n_past, n_folded, n_files, n_parts;
};

static const char *phase(const struct wait *w, enum lock_type type)
{
	return locktype_is_spin(type) || w->flags & LCB_F_SPIN ? "spinning" : "asleep";
}

static void fill_who(struct query *q, const struct wait *w, struct value *v)
{
	query_fill_task(q, w->task,
			(struct task_cells){&v[C_TASK], &v[C_PID], &v[C_TID], &v[C_COMM]});
	v[C_CPU] = (struct value){.i = w->cpu, .known = !w->no_cpu};
}

static void fill_holder(struct query *q, const struct query_holder *h, struct value *v)
{
	uint64_t seen_ns = h->by_look ? query_queue_held_ns(q, h->look) : 0;
	const char *name = h->name;
	char age[UNITS_BUF];

	if (h->age_ns)
		name = arena_printf(&q->arena, "%s %s ago", name ? name : "-",
				    units_ns(age, h->age_ns));
	value_s(&v[C_HOLDER], name);
	value_s(&v[C_CERTAINTY], h->certainty);
	query_holder_next(q, h, &v[C_NEXT_PID]);
	if (!h->tid)
		return;
	v[C_OWNER_AGE] = (struct value){.u = h->age_ns, .known = h->age_ns != 0};
	value_who((struct task_cells){NULL, &v[C_OWNER_PID], &v[C_OWNER_TID], &v[C_OWNER_COMM]},
		  h->pid, h->tid, h->comm);
	v[C_OWNER_SEEN] = (struct value){.u = seen_ns, .known = seen_ns != 0};
}

static void fill_holder_does(struct query *q, const struct query_holder *h, uint64_t want,
			     struct value *v)
{
	value_s(&v[C_IS], query_holder_is(q, h));
	value_s(&v[C_OWNER_STATE], query_holder_state(q, h));
	value_s(&v[C_RUNS_IN], query_holder_runs_in(q, h));
	value_s(&v[C_OWNER_AT], query_holder_program(q, h));
	if (!h->look)
		return;
	value_s(&v[C_OWNER_FUNCTION], query_queue_function(q, h->look));
	value_s(&v[C_OWNER_MESSAGE], query_queue_message(q, h->look->holder_tid));
	if (h->look->steal_of_ns)
		value_d(&v[C_STEAL],
			100 * (double)h->look->steal_ns / (double)h->look->steal_of_ns);
	if (v[C_OWNER_STATE].known && h->look->holder_cpu >= 0)
		value_i(&v[C_OWNER_CPU], h->look->holder_cpu);
	if (want & 1ull << C_OWNER_STACK)
		value_s(&v[C_OWNER_STACK], query_queue_holder_stack(q, h->look));
	if (want & 1ull << C_EVIDENT)
		value_s(&v[C_EVIDENT], query_queue_readers(q, h->look, "\n"));
}

static void fill_queue(struct query *q, const struct wait *w, uint64_t want, struct value *v)
{
	const struct locksnap_queue *l = query_queue_at(q, w->addr);

	if (!l)
		return;
	const struct locksnap_waiter *seen =
		query_queue_waiter(q, l, q->model->tasks->tasks[w->task].tid);
	uint32_t n = l->readers_waiting + l->writers_waiting;
	value_u(&v[C_QUEUE], n);
	if (seen) {
		value_i(&v[C_POSITION], seen->position);
		value_s(&v[C_PLACE], arena_printf(&q->arena, "%" PRIu32 "/%" PRIu32 "%s",
						  seen->position, n, l->incomplete ? "+" : ""));
	}
	if (seen && seen->user_n_frames)
		value_s(&v[C_CALLER], query_queue_site(q, seen));
	if (seen && want & 1ull << C_STACK)
		value_s(&v[C_STACK], query_queue_stack(q, seen));
}

static void fill_runs(struct query *q, const struct wait *w, const struct query_holder *h,
		      struct value *v)
{
	const struct locksnap_queue *l = query_queue_at(q, w->addr);
	int32_t tid = q->model->tasks->tasks[w->task].tid;
	const struct locksnap_run *run = query_run(q, tid), *owner = query_run(q, h->tid);
	const struct locksnap_waiter *seen = l ? query_queue_waiter(q, l, tid) : NULL;
	struct query_inversion i;

	if (run)
		value_s(&v[C_POLICY], query_run_policy(q, run));
	if (owner) {
		value_s(&v[C_OWNER_POLICY], query_run_policy(q, owner));
		value_s(&v[C_THROTTLED], query_run_throttled(q, h->tid));
	}
	if (owner && owner->off_tid) {
		value_who((struct task_cells){NULL, &v[C_OFF_PID], &v[C_OFF_TID], &v[C_OFF_COMM]},
			  owner->off_pid, owner->off_tid,
			  locksnap_text(query_queues(q), owner->off_comm));
		value_s(&v[C_OFF_POLICY], query_run_off_policy(q, owner));
	}
	if (seen && query_inversion_of(q, seen, &i))
		value_s(&v[C_INVERSION], query_inversion_text(q, &i));
}

static void fill_parts(struct query *q, const struct wait *w, uint64_t end_ns, struct value *v)
{
	struct query_parts p;

	query_wait_parts(w, end_ns ? end_ns : q->model->now_ns, &p);
	value_s(&v[C_PARTS], query_parts_text(q, &p));
	v[C_RCU] = (struct value){.u = p.rcu_ns, .known = v[C_PARTS].known};
	v[C_READERS_PART] = (struct value){.u = p.readers_ns, .known = v[C_PARTS].known};
}

static void fill_ended(struct query *q, const struct row *r, struct value *v)
{
	const struct wait *w = r->wait;
	uint64_t now = q->model->now_ns;

	value_u(&v[C_SINCE], r->end_ns > w->begin_ns ? r->end_ns - w->begin_ns : 0);
	v[C_SINCE].approx = w->at_least;
	value_u(&v[C_ENDED_NS], now > r->end_ns ? now - r->end_ns : 0);
}

static const char *why_no_on(const struct query_origin *o, const struct locksnap_waiter *seen)
{
	static const char *const texts[LOCKSNAP_ONS] = {
		[LOCKSNAP_ON_NOTHING] = "the system call has no argument for one",
		[LOCKSNAP_ON_FILE] = "the descriptor was not read",
		[LOCKSNAP_ON_TASK] = "the process was not read",
		[LOCKSNAP_ON_MEMORY] = "the address was not read",
		[LOCKSNAP_ON_PATH] = "its path is in the memory of the process",
	};

	if (o->faults)
		return "the kernel keeps no address of a page fault";
	return seen ? texts[seen->on_kind] : NULL;
}

/* @seen: by the last snapshot, or NULL. */
static void fill_on(struct query *q, const struct wait *w, const struct locksnap_waiter *seen,
		    struct value *v)
{
	const struct query_origin *o = query_origin(q, w->stack);

	if (seen && seen->on && !o->faults) {
		value_s(&v[C_ON], locksnap_text(query_queues(q), seen->on));
		return;
	}
	struct wait_on_most on = {.on = query_on_of(q, &w->on, w->stack)};
	query_fill_on(q, &on, w->lock, &v[C_ON], &v[C_ON_REASON]);
	const char *why = v[C_ON].known ? NULL : why_no_on(o, seen);
	if (why)
		value_s(&v[C_ON_REASON], why);
}

/* The same wait, and not an earlier or a later one of the task for that lock. */
static const struct locksnap_waiter *seen_by_look(struct query *q, const struct row *r)
{
	const struct wait *w = r->wait;
	const struct locksnap_queue *l =
		r->end_ns || w->task == TASK_OTHER ? NULL : query_queue_at(q, w->addr);

	if (!l || w->begin_ns > query_queues(q)->head.time_ns)
		return NULL;
	return query_queue_waiter(q, l, q->model->tasks->tasks[w->task].tid);
}

static const char no_stack[] = "no snapshot has read its stack";

/* One that began before events, or that they report at its end alone. */
static void fill_unread(const struct query *q, const struct wait *w, const struct query_origin *o,
			struct value *v)
{
	const struct stack_table *t = q->model->stacks;

	if (!w->by_look || stack_kernel_frames(t, w->stack) < t->stacks[w->stack].n)
		return;
	if (o->at_lacks)
		value_s(&v[C_AT_REASON], no_stack);
	if (w->stack == STACK_OTHER)
		value_s(&v[C_SYSCALL_REASON], no_stack);
}

static void fill_origin(struct query *q, const struct row *r, struct value *v)
{
	const struct query_origin *o = query_origin(q, r->wait->stack);

	query_fill_syscall(o, &v[C_SYSCALL], &v[C_SYSCALL_REASON]);
	query_fill_at(o, &v[C_AT], &v[C_AT_REASON]);
	fill_unread(q, r->wait, o, v);
	fill_on(q, r->wait, seen_by_look(q, r), v);
}

/* The wait of one task, or the longest of several. */
static void fill_wait(struct query *q, const struct row *r, uint64_t want, struct value *v)
{
	const struct wait *w = r->wait;
	enum lock_type type = (enum lock_type)q->model->locks->locks[w->lock].type;
	struct query_holder holder;
	uint64_t lost_ns;

	value_u(&v[C_SINCE], query_wait_ns(q->model, w));
	v[C_SINCE].approx = w->doubtful || w->at_least;
	value_s(&v[C_KIND], locktype_name(type));
	value_s(&v[C_TYPE], locktype_base(type));
	value_s(&v[C_MODE], locktype_mode(type));
	value_u(&v[C_LOCK], w->addr);
	fill_parts(q, w, r->end_ns, v);
	if (want & 1ull << C_NAME)
		value_s(&v[C_NAME], query_lock_name(q, w->lock));
	value_s(&v[C_PHASE], phase(w, type));
	if (r->n == 1 && wait_lost(q->model, w, r->end_ns != 0, &lost_ns))
		value_u(&v[C_LOST], lost_ns);
	if (r->end_ns && w->is_par && r->end_ns > w->begin_ns)
		value_d(&v[C_PAR], (double)w->par_ns / (double)(r->end_ns - w->begin_ns));
	value_u(&v[C_DOUBTFUL], w->doubtful);
	value_u(&v[C_EARLY], w->early);
	value_u(&v[C_AT_LEAST], w->at_least);
	value_u(&v[C_ENDED], r->end_ns != 0);
	if (r->end_ns)
		fill_ended(q, r, v);
	else if (w->task != TASK_OTHER)
		fill_queue(q, w, want, v);
	if (query_holder_of(q, w, r->end_ns != 0, &holder)) {
		fill_holder(q, &holder, v);
		if (!r->end_ns) {
			const struct query_held held = query_holder_held(q, w->lock, &holder);
			fill_holder_does(q, &holder, want, v);
			query_fill_held(&held, &v[C_FD]);
			if (w->task != TASK_OTHER)
				fill_runs(q, w, &holder, v);
		}
	}
	if (!v[C_STACK].known && want & 1ull << C_STACK) {
		uint32_t n;
		const uint64_t *frames = query_wait_frames(q, w->stack, &n);
		value_s(&v[C_STACK], query_queue_frames(q, frames, n));
	}
	if (!v[C_CALLER].known)
		value_s(&v[C_CALLER], query_func_name(q, query_caller(q, w->stack)));
	fill_origin(q, r, v);
	fill_who(q, w, v);
}

/* Columns that are about the longest alone are left out for several. */
static void fold_row(struct query *q, const struct row *r, struct value *v)
{
	static const uint8_t single[] = {C_PID,	  C_TID,   C_COMM,     C_CPU,
					 C_PHASE, C_PLACE, C_POSITION, C_STACK};

	for (size_t i = 0; i < sizeof(single); i++)
		v[single[i]].known = false;
	if (!r->one_kind) {
		value_s(&v[C_KIND], v[C_TYPE].s);
		v[C_MODE].known = false;
	}
	value_s(&v[C_TASK], arena_printf(&q->arena, "%" PRIu32 " waiters", r->n));
	v[C_CALLER].approx = v[C_ON].approx = v[C_SYSCALL].approx = v[C_AT].approx = true;
}

static void waiters_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct waiters *ws = ctx;
	const struct row *r = &ws->rows[row];
	struct query_where where = query_wait_where(r->wait);

	fill_wait(ws->q, r, want, v);
	if (r->n > 1)
		fold_row(ws->q, r, v);
	value_u(&v[C_WAITERS], r->n);
	v[C_WAITED] = (struct value){.u = r->waited_ns, .known = r->n > 1};
	value_u(&v[C_TASK_ID], query_id(ws->q, BY_TASK, &where));
	value_u(&v[C_LOCK_ID], query_id(ws->q, BY_LOCK, &where));
	value_u(&v[C_CALLER_ID], query_id(ws->q, BY_CALLER, &where));
}

static uint64_t order_of(const struct row *r, enum lock_type type, uint64_t since)
{
	bool rwsem = type == LOCK_RWSEM_R || type == LOCK_RWSEM_W;

	if (r->end_ns)
		return since & INT64_MAX >> 2;
	return 1ull << 63 | (uint64_t)!r->wait->doubtful << 62 | (uint64_t)rwsem << 61 |
	       (since & INT64_MAX >> 2);
}

/* Waits that one look has found are in the order of the queue. */
static uint32_t place_in_queue(struct query *q, const struct wait *w)
{
	const struct locksnap_queue *l = query_queue_at(q, w->addr);
	const struct locksnap_waiter *v =
		l ? query_queue_waiter(q, l, q->model->tasks->tasks[w->task].tid) : NULL;

	return v ? v->position : UINT32_MAX;
}

uint64_t query_wait_id(struct query *q, const struct wait *w)
{
	struct query_where where = query_wait_where(w);

	return hash_u64(hash_u64(query_id(q, BY_TASK, &where)) ^ w->addr) ^ w->begin_ns;
}

static void waiters_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct waiters *ws = ctx;
	struct query *q = ws->q;
	const struct row *r = &ws->rows[row];
	const struct wait *w = r->wait;
	enum lock_type type = (enum lock_type)q->model->locks->locks[w->lock].type;
	uint64_t since = r->end_ns ? wait_part_ns(w, 0, r->end_ns) : query_wait_ns(q->model, w);

	ret->id = r->n > 1 ? query_fold_id(w->addr) : query_wait_id(q, w);
	ret->order = order_of(r, type, since);
	ret->tie = w->by_look && !r->end_ns ? UINT32_MAX - place_in_queue(q, w) : since;
}

const struct table_kind query_waiters_kind = {"waiters", columns, C_COLUMNS, waiters_fill,
					      waiters_rank};

static bool is_in(struct query *q, const struct query_scope *scope, const struct wait *w)
{
	const struct model *m = q->model;
	struct query_where where = query_wait_where(w);

	return where.lock < m->locks->n && where.stack < m->stacks->n && where.task < m->tasks->n &&
	       query_in_scope(q, scope, &where);
}

static void add_row(struct waiters *ws, const struct wait *w, uint64_t end_ns)
{
	uint64_t ns = end_ns ? wait_part_ns(w, 0, end_ns) : query_wait_ns(ws->q->model, w);

	ws->rows[ws->n++] = (struct row){w, end_ns, ns, 1, true};
	ws->n_files += filelock_is(w->addr);
	ws->n_parts += w->part || w->rcu_ns;
}

/* By lock, the longest wait of each first. */
static int by_lock(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->wait->addr != y->wait->addr)
		return x->wait->addr < y->wait->addr ? -1 : 1;
	if (x->waited_ns != y->waited_ns)
		return x->waited_ns > y->waited_ns ? -1 : 1;
	return x->wait < y->wait ? -1 : x->wait > y->wait;
}

static bool is_unfolded(const struct query_fold *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n_open; i++)
		if (f->open[i] == addr)
			return true;
	return false;
}

static void fold_rows(struct waiters *ws, const struct query_fold *f)
{
	size_t n = 0, end;

	qsort(ws->rows, ws->n, sizeof(*ws->rows), by_lock);
	for (size_t i = 0; i < ws->n; i = end) {
		struct row all = ws->rows[i];
		for (end = i + 1; end < ws->n && ws->rows[end].wait->addr == all.wait->addr;
		     end++) {
			all.waited_ns += ws->rows[end].waited_ns;
			all.one_kind = all.one_kind && ws->rows[end].wait->lock == all.wait->lock;
		}
		all.n = (uint32_t)(end - i);
		if (all.n >= f->least && !is_unfolded(f, all.wait->addr)) {
			ws->rows[n++] = all;
			ws->n_folded++;
		} else {
			memmove(&ws->rows[n], &ws->rows[i], all.n * sizeof(all));
			n += all.n;
		}
	}
	ws->n = n;
}

/* The waits in scope that go on, with room for those that have ended: 0 or -ENOMEM. */
static int waiters_collect(struct waiters *ws, const struct query_scope *scope)
{
	struct query *q = ws->q;
	const struct wait_pool *p = q->model->waits;

	ws->rows = arena_alloc(&q->arena, ((size_t)p->high + LONGEST_MOST) * sizeof(*ws->rows));
	if (!ws->rows)
		return -ENOMEM;
	for (uint32_t i = 1; p->in_flight && i < p->high; i++)
		if (p->waits[i].used && is_in(q, scope, &p->waits[i]))
			add_row(ws, &p->waits[i], 0);
	return q->cache->failed ? -ENOMEM : 0;
}

static void collect_past(struct waiters *ws, const struct query_scope *scope)
{
	const struct longest_recent_wait *past[LONGEST_MOST];
	uint32_t n = longest_recent_list(ws->q->model->past, ws->q->model->now_ns, past);

	for (uint32_t i = 0; i < n; i++)
		if (is_in(ws->q, scope, &past[i]->wait) &&
		    heat_part_has(&ws->q->part, past[i]->end_ns, longest_recent_ns(past[i]))) {
			add_row(ws, &past[i]->wait, past[i]->end_ns);
			ws->n_past++;
		}
}

/* Columns of lock snapshots and records take no room of the screen where these have nothing. */
static const struct column *columns_of(const struct waiters *ws)
{
	const struct locksnap *s = query_queues(ws->q);
	struct column *copy = rows_columns(ws->q, &query_waiters_kind);

	if (!copy)
		return NULL;
	if (!s || s->head.reason)
		copy[C_PLACE].flags = 0;
	if ((!s || s->head.reason) && !ws->q->model->holders_reported)
		copy[C_HOLDER].flags = copy[C_IS].flags = 0;
	if (!s || s->head.reason)
		copy[C_ON].flags = COLUMN_REPORT;
	if (!query_has_program(ws->q))
		copy[C_AT].flags = COLUMN_REPORT;
	if (!ws->q->model->waits->lost.shown)
		copy[C_LOST].flags = COLUMN_REPORT;
	if (!ws->q->model->waits->lost.shown || !ws->n_past)
		copy[C_PAR].flags = COLUMN_REPORT;
	if (ws->n_parts)
		copy[C_PARTS].flags |= COLUMN_SCREEN;
	if (ws->n_files) {
		copy[C_FD].flags |= COLUMN_SCREEN;
		copy[C_HELD].flags |= COLUMN_SCREEN;
	}
	if (ws->n_past)
		copy[C_ENDED_NS].flags |= COLUMN_SCREEN;
	if (ws->n_folded)
		copy[C_WAITED].flags |= COLUMN_SCREEN;
	return copy;
}

static int answer(struct waiters *ws, const struct query_spec *s, struct table *ret,
		  struct error *err)
{
	struct row_source src = {.kind = &query_waiters_kind, .ctx = ws, .n = ws->n};

	src.columns = columns_of(ws);
	if (!src.columns || query_origins_load(ws->q) < 0)
		return query_enomem(err, "waits");
	return rows_answer(ws->q, s, &src, ret, err);
}

int query_wait_rows(struct query *q, const struct query_spec *s, const struct query_fold *fold,
		    struct table *ret, struct error *err)
{
	struct waiters ws = {.q = q};

	if (query_sync(q) < 0 || waiters_collect(&ws, &s->scope) < 0)
		return query_enomem(err, "waits in flight");
	if (fold && !(s->filter && *s->filter))
		fold_rows(&ws, fold);
	collect_past(&ws, &s->scope);
	return answer(&ws, s, ret, err);
}

int query_waiters(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct waiters ws = {.q = q};

	if (query_sync(q) < 0 || waiters_collect(&ws, &s->scope) < 0)
		return query_enomem(err, "waits in flight");
	return answer(&ws, s, ret, err);
}
