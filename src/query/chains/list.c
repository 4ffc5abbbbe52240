// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "chains": the rows of tree.c with all their columns. Its own order is that of the tree,
 * and each row names the row above it, so that a reader of a report can rebuild the tree.
 */
#include "list.h"
#include "../blocked-rows.h"
#include "../locks/queues.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/query-lock.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "locks/holder.h"

#include <inttypes.h>

enum {
	C_BEHIND,
	C_SUM,
	C_LONGEST,
	C_WHAT,
	C_IS,
	C_FD,
	C_HELD,
	C_HELD_MOST,
	C_ENDED,
	C_ENDED_NS,
	C_ROW,
	C_NODE,
	C_PARENT,
	C_DEPTH,
	C_TASKS,
	C_KIND,
	C_LOCK,
	C_NAME,
	C_CERTAINTY,
	C_NEXT_PID,
	C_NEXT_TID,
	C_NEXT_COMM,
	C_PID,
	C_TID,
	C_COMM,
	C_STATE,
	C_CPU,
	C_FUNCTION,
	C_ASLEEP_FOR,
	C_ASLEEP_FILE,
	C_ASLEEP_DEV,
	C_OBJECT,
	C_STACK,
	C_READERS,
	C_LOCK_ID,
	C_WAIT_ID,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_BEHIND] = {"behind", "BEHIND",
		      "tasks that wait because of this task, also through others", COLUMN_COUNT, 6,
		      0, SR},
	[C_SUM] = {COL_WAITED_BY_ALL("SUM"), 6, 1, SR},
	[C_LONGEST] = {"longest_ns", "LONGEST", "longest of the waits in SUM", COLUMN_NS, 7, 0, SR},
	[C_WHAT] =
		{"what", "BECAUSE OF",
		 "task that holds locks and waits for none, or device or file; indented, its locks "
		 "and their waiters",
		 COLUMN_TEXT, 30, 0, S | W},
	[C_IS] = {"is", "IS",
		  "state of the holder: running or runnable on a CPU, or asleep, with function and "
		  "reason; of a waiter, where it waits",
		  COLUMN_TEXT, 24, 0, S | W},
	[C_FD] = {COL_FD, 3, 3, R},
	[C_HELD] = {COL_HELD, 6, 2, SR},
	[C_HELD_MOST] = {COL_HELD_MOST, 6, 9, R},
	[C_ENDED] = {COL_WAIT_ENDED, 5, 9, R},
	[C_ENDED_NS] = {COL_ENDED_NS, 6, 0, R},
	[C_ROW] = {"row", "ROW", "kind of the row: root, deadlock, lock, object, waiter or more",
		   COLUMN_TEXT, 8, 9, R},
	[C_NODE] = {"node", "NODE", "number of the row in the tree, from 0", COLUMN_INT, 5, 9, R},
	[C_PARENT] = {"parent", "PARENT", "number of the row above in the tree", COLUMN_INT, 6, 9,
		      R},
	[C_DEPTH] = {"depth", "DEPTH", "number of rows above in the tree", COLUMN_INT, 5, 9, R},
	[C_TASKS] = {"tasks", "TASKS", "tasks that the row stands for", COLUMN_COUNT, 5, 9, R},
	[C_KIND] = {"kind", "TYPE", "type of the lock, of a waiter with the mode", COLUMN_TEXT, 10,
		    9, R},
	[C_LOCK] = {COL_LOCK, 18, 9, R},
	[C_NAME] = {COL_NAME, 18, 9, R},
	[C_CERTAINTY] = {COL_CERTAINTY("certainty"), 9, 9, R},
	[C_NEXT_PID] = {COL_NEXT_PID, 7, 9, R},
	[C_NEXT_TID] = {COL_NEXT_TID, 7, 9, R},
	[C_NEXT_COMM] = {COL_NEXT_COMM, 16, 9, R},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_TID] = {COL_TID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_STATE] = {"state", "STATE", "state of the holder: running, runnable, asleep",
		     COLUMN_TEXT, 8, 9, R},
	[C_CPU] = {"cpu", "CPU", "the CPU on which the holder is, or was last", COLUMN_INT, 4, 9,
		   R},
	[C_FUNCTION] = {"function", "FUNCTION", "where the holder sleeps, or where it is waited",
			COLUMN_TEXT, 20, 9, R},
	[C_ASLEEP_FOR] = {"asleep_for", "ASLEEP FOR",
			  "cause of the task's sleep, by its calls: I/O, pipe is full, ...",
			  COLUMN_TEXT, 16, 9, R},
	[C_ASLEEP_FILE] = {"asleep_file", "ASLEEP AT",
			   "path of the file of the system call in which the task sleeps",
			   COLUMN_TEXT, 16, 9, R},
	[C_ASLEEP_DEV] = {"asleep_dev", "DEVICE",
			  "block device of that file, or of its file system", COLUMN_TEXT, 8, 9, R},
	[C_OBJECT] = {"sleeps_for", "SLEEPS FOR",
		      "object for which the tasks of the row sleep, if that is no lock: file, "
		      "device, journal, server, task",
		      COLUMN_TEXT, 24, 9, R},
	[C_STACK] = {COL_STACK, 20, 9, R | COLUMN_LIST},
	[C_READERS] = {COL_READERS_EVIDENT, 20, 9, R | COLUMN_LIST},
	[C_LOCK_ID] = {"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0, 9, 0},
	[C_WAIT_ID] = {"wait_id", "WAIT ID", "id of the wait's row among waiters", COLUMN_COUNT, 0,
		       9, 0},
};

static const char *const row_names[] = {
	[CHAIN_ROOT] = "root",	   [CHAIN_DEADLOCK] = "deadlock", [CHAIN_LOCK] = "lock",
	[CHAIN_OBJECT] = "object", [CHAIN_WAITER] = "waiter",	  [CHAIN_MORE] = "more",
};

static const char *const evidence_names[CHAIN_EVIDENCES] = {
	[CHAIN_SURE] = "sure",
	[CHAIN_HINT] = "hint",
	[CHAIN_EVIDENCE] = "evidence",
	[CHAIN_FREE] = "free",
};

/* The first of the root's locks, if it has some: more is known of their holder. */
static const struct chain_lock *lock_of_root(const struct chain_graph *g,
					     const struct chain_root *root)
{
	const struct chain_lock *l = &g->locks[root->lock];

	while (!root->circle && l->object && l->beside != CHAIN_NONE)
		l = &g->locks[l->beside];
	return l;
}

static const struct chain_lock *lock_of(const struct chain_rows *c, const struct chain_row *r)
{
	switch (r->kind) {
	case CHAIN_ROOT:
	case CHAIN_DEADLOCK:
		return lock_of_root(c->g, &c->g->roots[r->at]);
	case CHAIN_LOCK:
	case CHAIN_OBJECT:
		return &c->g->locks[r->at];
	default:
		return &c->g->locks[c->g->waits[r->at].lock];
	}
}

/* A writer of a percpu-rwsem waits for a grace period, or for readers, whom nothing names. */
static const char *without_holder(const struct chain_graph *g, const struct chain_lock *l)
{
	uint8_t part = l->waits == CHAIN_NONE ? 0 : g->waits[l->waits].wait->part;

	return part == LOCKSNAP_RCU	       ? "RCU grace period"
	       : part == LOCKSNAP_READERS_PART ? "readers, not known"
					       : "holder not known";
}

static const char *holder_name(struct chain_rows *c, const struct chain_lock *l)
{
	if (l->holder)
		return l->by.name;
	if (l->object)
		return l->object->object;
	if (l->evidence != CHAIN_FREE)
		return without_holder(c->g, l);
	if (!l->by.next)
		return "free, being handed over";
	return arena_printf(&c->q->arena, "free, %s handed to %s", c->g->ended ? "and" : "being",
			    query_task_name(c->q, l->by.next));
}

static const char *what_deadlock(struct chain_rows *c, const struct chain_row *r)
{
	const struct chain_root *root = &c->g->roots[r->at];
	uint32_t n = 0, at = root->lock;

	do {
		n++;
		at = c->g->waits[c->g->locks[at].up].lock;
	} while (at != root->lock);
	return arena_printf(&c->q->arena, "%s of %" PRIu32 " tasks",
			    root->proved ? "DEADLOCK" : "deadlock?", n);
}

/* "rwsem mmap_lock mysqld/800", in a circle with who holds it. */
static const char *what_lock(struct chain_rows *c, const struct chain_lock *l)
{
	const char *text = chain_lock_text(c->g, l);

	return l->in_circle ? arena_printf(&c->q->arena, "%s, %s %s", text,
					   l->object ? "by" : "held by", holder_name(c, l))
			    : text;
}

/* "38 R of mysqld/800", "R mysqld/871" */
static const char *what_waiter(struct chain_rows *c, const struct chain_row *r)
{
	const struct chain_wait *w = &c->g->waits[r->at];
	const char *mode = "";

	if (w->wait)
		mode = locktype_mode((enum lock_type)c->q->model->locks->locks[w->wait->lock].type);
	const char *blank = *mode ? " " : "";
	if (r->n > 1)
		return arena_printf(&c->q->arena, "%" PRIu32 "%s%s %s%s", r->n, blank, mode,
				    r->processes ? "" : "of ",
				    r->processes ? w->comm : chain_process_name(c->g, w));
	return arena_printf(&c->q->arena, "%s%s%s", mode, blank, chain_task_name(c->g, w));
}

static const char *what_of(struct chain_rows *c, const struct chain_row *r)
{
	const char *text;

	switch (r->kind) {
	case CHAIN_ROOT:
		text = holder_name(c, lock_of(c, r));
		break;
	case CHAIN_DEADLOCK:
		text = what_deadlock(c, r);
		break;
	case CHAIN_LOCK:
	case CHAIN_OBJECT:
		text = what_lock(c, lock_of(c, r));
		break;
	case CHAIN_WAITER:
		text = what_waiter(c, r);
		break;
	default:
		text = "and other waiters behind it";
		break;
	}
	return text ? arena_printf(&c->q->arena, "%*s%s", (int)(2 * r->depth), "", text) : NULL;
}

/* The reason for a sleep matters more than the function. */
static const char *holder_is(struct query *q, const struct locksnap_queue *seen, const char *asleep)
{
	const char *in = query_queue_function(q, seen), *by = query_queue_by_evidence(q, seen);

	const char *about = query_queue_about(q, seen->holder_tid);

	if (!in || !(asleep || about))
		return query_queue_holder_is(q, seen);
	return arena_printf(&q->arena, "asleep: %s%s%s, in %s%s%s", asleep ? asleep : "",
			    asleep && about ? ", " : "", about ? about : "", in, by ? ", by " : "",
			    by ? by : "");
}

static void fill_file(struct query *q, const struct locksnap_queue *seen, struct value *v)
{
	const struct locksnap *s = query_queues(q);
	const struct locksnap_sleep *f = seen->holder_state == LOCKSNAP_ASLEEP
						 ? query_queue_sleep(q, seen->holder_tid)
						 : NULL;

	if (f && f->file)
		value_s(&v[C_ASLEEP_FILE], locksnap_text(s, f->file));
	if (f && f->device)
		value_s(&v[C_ASLEEP_DEV], locksnap_text(s, f->device));
}

static void fill_holder(struct chain_rows *c, const struct chain_lock *l, uint64_t want,
			struct value *v)
{
	struct query *q = c->q;
	const struct locksnap *s = query_queues(q);

	value_s(&v[C_CERTAINTY], evidence_names[l->evidence]);
	if (l->evidence == CHAIN_FREE)
		query_holder_next(q, &l->by, &v[C_NEXT_PID]);
	if (!l->holder)
		return;
	value_who((struct task_cells){NULL, &v[C_PID], &v[C_TID], &v[C_COMM]}, l->by.pid, l->by.tid,
		  l->by.comm);
	if (c->g->ended) {
		value_s(&v[C_IS], "had it while they waited");
		return;
	}
	value_s(&v[C_STATE], query_holder_state(q, &l->by));
	value_s(&v[C_IS], query_holder_is(q, &l->by));
	const struct locksnap_queue *seen = l->by.look;
	if (!seen || !s)
		return;
	const char *asleep = NULL;
	if (v[C_STATE].known && seen->holder_cpu >= 0)
		value_i(&v[C_CPU], seen->holder_cpu);
	value_s(&v[C_FUNCTION], query_queue_function(q, seen));
	if (seen->holder_state == LOCKSNAP_ASLEEP)
		asleep = asleep_for(q, s->frames + seen->holder_frame, seen->holder_n_frames);
	value_s(&v[C_ASLEEP_FOR], asleep);
	fill_file(q, seen, v);
	value_s(&v[C_IS], holder_is(q, seen, asleep));
	if (want & 1ull << C_STACK)
		value_s(&v[C_STACK], query_queue_holder_stack(q, seen));
	if (want & 1ull << C_READERS)
		value_s(&v[C_READERS], query_queue_readers(q, seen, "\n"));
}

static void fill_waiter(struct chain_rows *c, const struct chain_row *r, uint64_t want,
			struct value *v)
{
	struct query *q = c->q;
	const struct wait *w = c->g->waits[r->at].wait;
	const struct task *t = &q->model->tasks->tasks[w->task];
	const char *caller = query_func_name(q, query_caller(q, w->stack));
	uint32_t n;

	value_s(&v[C_KIND], locktype_name((enum lock_type)q->model->locks->locks[w->lock].type));
	value_s(&v[C_FUNCTION], caller);
	struct query_parts parts;
	query_wait_parts(w, c->g->ended ? c->g->waits[r->at].end_ns : q->model->now_ns, &parts);
	const char *of_it = query_parts_text(q, &parts);
	value_s(&v[C_IS],
		caller ? arena_printf(&q->arena, "%s in %s%s%s", c->g->ended ? "waited" : "waits",
				      caller, of_it ? ", of it " : "", of_it ? of_it : "")
		       : NULL);
	v[C_IS].approx = v[C_FUNCTION].approx = r->n > 1;
	v[C_PID] = (struct value){.i = taskid_number(t->pid),
				  .known = w->task != TASK_OTHER && !r->processes};
	v[C_TID] = (struct value){.i = taskid_number(t->tid),
				  .known = w->task != TASK_OTHER && r->n == 1};
	value_s(&v[C_COMM], query_task_comm(q, w->task));
	if (!(want & 1ull << C_STACK))
		return;
	const uint64_t *frames = query_wait_frames(q, w->stack, &n);
	value_s(&v[C_STACK], query_queue_frames(q, frames, n));
}

/* The object for which a task sleeps, its file and device. */
static void fill_why(const struct chain_sleep *s, struct value *v)
{
	const struct blocked_why *why = &s->why;

	value_s(&v[C_OBJECT], s->object);
	value_s(&v[C_ASLEEP_FOR], why->words);
	value_s(&v[C_ASLEEP_FILE], why->file);
	value_s(&v[C_ASLEEP_DEV], why->device);
}

static void fill_sleeper(struct chain_rows *c, const struct chain_row *r, uint64_t want,
			 struct value *v)
{
	const struct chain_wait *w = &c->g->waits[r->at];
	const struct locksnap_blocked *b = w->sleep->task;
	const char *in = query_func_name(c->q, w->sleep->why.site);
	const struct locksnap *s = query_queues(c->q);

	value_s(&v[C_FUNCTION], in);
	value_s(&v[C_IS], in ? arena_printf(&c->q->arena, "sleeps in %s", in) : NULL);
	v[C_IS].approx = v[C_FUNCTION].approx = r->n > 1;
	value_task(&v[C_PID], w->pid);
	value_task(&v[C_TID], w->tid);
	v[C_PID].known &= !r->processes;
	v[C_TID].known &= r->n == 1;
	value_s(&v[C_COMM], locksnap_text(s, b->comm));
	value_s(&v[C_STATE], "asleep");
	fill_why(w->sleep, v);
	if (want & 1ull << C_STACK)
		value_s(&v[C_STACK], query_queue_frames(c->q, s->frames + b->frame, b->n_frames));
}

/* The task that others wait for: the snapshot has all blocked tasks, and it is not among them. */
static void fill_object(struct chain_rows *c, const struct chain_row *r, const struct chain_lock *l,
			struct value *v)
{
	const struct locksnap *s = query_queues(c->q);
	const struct locksnap_blocked *b = l->object->task;
	const char *runs = b->by_tid == l->by.tid ? blocked_other_runs(c->q, s, b) : NULL;
	bool is_root = r->kind == CHAIN_ROOT;

	value_s(&v[C_CERTAINTY], evidence_names[l->evidence]);
	if (l->holder)
		value_who((struct task_cells){NULL, &v[C_PID], &v[C_TID], &v[C_COMM]}, l->by.pid,
			  l->by.tid, l->by.comm);
	if (!is_root || !l->holder)
		fill_why(l->object, v);
	else if (runs)
		value_s(&v[C_IS], runs);
	else if (!s->head.blocked_dropped && !s->head.blocked_unwatched)
		value_s(&v[C_IS], "not blocked");
}

static void fill_held(struct chain_rows *c, const struct chain_lock *l, struct value *v)
{
	const struct query_held h = query_holder_held(c->q, l->number, &l->by);
	bool is_file = locktype_is_file((enum lock_type)c->q->model->locks->locks[l->number].type);

	query_fill_held(&h, &v[C_FD]);
	if (is_file && !l->in_circle)
		value_s(&v[C_IS], query_held_text(c->q, &h));
}

/* That of the longest wait of the row; NULL: its tasks sleep for an object. */
static const struct wait *wait_of(struct chain_rows *c, const struct chain_row *r)
{
	bool is_wait = r->kind == CHAIN_WAITER || r->kind == CHAIN_MORE;

	return c->g->waits[is_wait ? r->at : chain_longest(c->g, lock_of(c, r))].wait;
}

static void fill_ids(struct chain_rows *c, const struct chain_row *r, struct value *v)
{
	const struct wait *w = wait_of(c, r);

	if (!w) {
		value_u(&v[C_LOCK_ID], 0);
		value_u(&v[C_WAIT_ID], 0);
		return;
	}
	struct query_where where = query_wait_where(w);
	value_u(&v[C_LOCK_ID], query_id(c->q, BY_LOCK, &where));
	value_u(&v[C_WAIT_ID], query_wait_id(c->q, w));
}

static void fill_lock(struct chain_rows *c, const struct chain_row *r, const struct chain_lock *l,
		      uint64_t want, struct value *v)
{
	value_u(&v[C_LOCK], l->addr);
	value_s(&v[C_NAME], want & 1ull << C_NAME ? query_lock_name(c->q, l->number) : NULL);
	if (r->kind == CHAIN_WAITER)
		return;
	if (!r->ended)
		fill_held(c, l, v);
	value_s(&v[C_KIND],
		locktype_base((enum lock_type)c->q->model->locks->locks[l->number].type));
}

/* The task of the row, and its activity. */
static void fill_task(struct chain_rows *c, const struct chain_row *r, const struct chain_lock *l,
		      uint64_t want, struct value *v)
{
	if (r->kind == CHAIN_WAITER && c->g->waits[r->at].sleep)
		fill_sleeper(c, r, want, v);
	else if (r->kind == CHAIN_WAITER)
		fill_waiter(c, r, want, v);
	else if (l->object && r->kind != CHAIN_DEADLOCK && r->kind != CHAIN_MORE)
		fill_object(c, r, l, v);
	else if (r->kind == CHAIN_ROOT || r->kind == CHAIN_LOCK)
		fill_holder(c, l, want, v);
	if (r->kind == CHAIN_LOCK && !l->in_circle)
		v[C_IS].known = false; /* the row above says it */
}

static void chains_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct chain_rows *c = ctx;
	const struct chain_row *r = &c->rows[row];
	uint64_t now = c->q->model->now_ns;

	c->g = &c->graphs[r->ended];
	const struct chain_lock *l = lock_of(c, r);
	value_u(&v[C_BEHIND], r->behind);
	value_u(&v[C_ENDED], r->ended);
	v[C_ENDED_NS] = (struct value){.u = now > r->sum.last_ns ? now - r->sum.last_ns : 0,
				       .known = r->ended};
	value_u(&v[C_SUM], r->sum.sum_ns);
	value_u(&v[C_LONGEST], r->sum.longest_ns);
	v[C_SUM].approx = v[C_LONGEST].approx = r->sum.approx;
	value_s(&v[C_ROW], row_names[r->kind]);
	value_u(&v[C_NODE], row);
	v[C_PARENT] = (struct value){.i = r->parent, .known = r->parent != CHAIN_NONE};
	value_i(&v[C_DEPTH], r->depth);
	value_u(&v[C_TASKS], r->n);
	if (want & 1ull << C_WHAT)
		value_s(&v[C_WHAT], what_of(c, r));
	fill_ids(c, r, v);
	fill_task(c, r, l, want, v);
	if ((r->kind == CHAIN_LOCK || r->kind == CHAIN_WAITER) && !l->object)
		fill_lock(c, r, l, want, v);
}

static void chains_rank(void *ctx, size_t row, struct row_rank *ret)
{
	struct chain_rows *c = ctx;
	const struct chain_row *r = &c->rows[row];

	c->g = &c->graphs[r->ended];
	const struct chain_lock *l = lock_of(c, r);
	bool is_wait = r->kind == CHAIN_WAITER || r->kind == CHAIN_MORE;
	const struct chain_wait *w = is_wait ? &c->g->waits[r->at] : NULL;
	uint64_t what = is_wait && w->sleep		     ? (uint32_t)w->tid
			: is_wait			     ? query_wait_id(c->q, w->wait)
			: r->kind == CHAIN_ROOT && l->holder ? (uint32_t)l->holder
							     : l->addr;

	/* A lock of ended waits is there once for each holder. */
	if (r->ended && r->kind == CHAIN_LOCK)
		what ^= hash_u64((uint64_t)l->holder + 1);
	*ret = (struct row_rank){.id = hash_u64(what) ^ (r->kind + 1) ^ (r->ended ? 16 : 0),
				 .order = UINT64_MAX - row};
}

const struct table_kind query_chains_kind = {"chains", columns, C_COLUMNS, chains_fill,
					     chains_rank};

int query_chains(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct chain_rows *c = arena_alloc(&q->arena, sizeof(*c));
	struct row_source src = {.kind = &query_chains_kind, .ctx = c};
	struct column *ended;

	if (!c || query_sync(q) < 0)
		return query_enomem(err, "chains");
	*c = (struct chain_rows){.q = q};
	int r = chain_rows_make(c);
	src.n = c->n;
	if (r == 0 && c->graphs[1].n_roots && (ended = rows_columns(q, &query_chains_kind))) {
		ended[C_ENDED_NS].flags |= S;
		src.columns = ended;
	}
	r = r < 0 ? query_enomem(err, "chains") : rows_answer(q, s, &src, ret, err);
	for (int i = 0; i < 2; i++)
		chain_graph_deinit(&c->graphs[i]);
	return r;
}

/* The lock whose holder waits for no other: of a circle there is none. */
static uint32_t last_lock(const struct chain_graph *g, uint32_t first)
{
	uint32_t at = first;

	for (uint32_t steps = 0; at != CHAIN_NONE && g->locks[at].up != CHAIN_NONE; steps++) {
		const uint32_t next = g->waits[g->locks[at].up].lock;
		if (g->locks[next].object)
			break;
		at = steps > g->n_locks ? CHAIN_NONE : next;
	}
	return at;
}

const char *query_chains_root(struct query *q, uint64_t addr)
{
	struct chain_rows c = {.q = q, .g = &c.graphs[0]};
	const char *text = NULL, *name;
	struct value *v = arena_alloc(&q->arena, C_COLUMNS * sizeof(*v));

	if (!v || query_sync(q) < 0 || chain_graph_make(q, c.g) < 0) {
		chain_graph_deinit(c.g);
		return NULL;
	}
	const uint32_t *known = map64_get(&c.g->by_addr, addr);
	uint32_t at = known ? last_lock(c.g, *known) : CHAIN_NONE;
	if (at != CHAIN_NONE && c.g->locks[at].holder && at != *known) {
		fill_holder(&c, &c.g->locks[at], 0, v);
		name = holder_name(&c, &c.g->locks[at]);
		text = v[C_IS].known ? arena_printf(&q->arena, "%s, %s", name, v[C_IS].s) : name;
	}
	chain_graph_deinit(c.g);
	return text;
}

/* The same of ended waits. */
static int sum_ended(struct query *q, struct query_chains_sum *ret)
{
	struct chain_graph g = {0};
	int r = chain_graph_make_ended(q, &g);
	int64_t tasks = r < 0 ? r : chain_tasks_of_all(&g);

	for (uint32_t i = 0; tasks >= 0 && i < g.n_roots; i++) {
		const struct chain_sum *b = &g.roots[i].behind;
		ret->ended_sum_ns += b->sum_ns;
		if (b->longest_ns > ret->ended_longest_ns)
			ret->ended_longest_ns = b->longest_ns;
	}
	if (tasks >= 0) {
		ret->ended_roots = g.n_roots;
		ret->ended_tasks = (uint32_t)tasks;
	}
	chain_graph_deinit(&g);
	return tasks < 0 ? (int)tasks : 0;
}

int query_chains_sum(struct query *q, struct query_chains_sum *ret)
{
	struct chain_graph g = {0};
	int r = query_sync(q);

	r = r < 0 ? r : chain_graph_make(q, &g);
	*ret = (struct query_chains_sum){.roots = g.n_roots, .doubtful = g.n_doubtful};
	for (uint32_t i = 0; i < g.n_roots; i++) {
		const struct chain_sum *b = &g.roots[i].behind;
		ret->tasks += b->n;
		ret->sum_ns += b->sum_ns;
		ret->circles += g.roots[i].circle;
		ret->proved += g.roots[i].proved;
		if (b->longest_ns > ret->longest_ns)
			ret->longest_ns = b->longest_ns;
	}
	chain_graph_deinit(&g);
	return r < 0 ? r : sum_ended(q, ret);
}
