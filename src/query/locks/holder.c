// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holder of the lock of a wait. A lock snapshot is of one moment, and knows the most: the
 * holder's state, and readers by their calls. Events are of each moment, and cover waits that begin
 * and end between two snapshots. The holder's activity is that of the snapshot, if it saw this
 * holder, else that of the records that follow holders.
 */
#include "holder.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/model.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "queues.h"

#include <inttypes.h>
#include <string.h>

static bool is_percpu(enum lock_type type)
{
	return type == LOCK_PCPU_SEM_R || type == LOCK_PCPU_SEM_W;
}

static const char *mode_of(enum lock_type type, const char *certainty)
{
	if (type == LOCK_SEMAPHORE)
		return "?";
	if (is_percpu(type))
		return " W?";
	if (locktype_is_user(type))
		return type == LOCK_USER_RWLOCK_R || type == LOCK_USER_RWLOCK_W ? " W" : "";
	if (strcmp(certainty, "sure") != 0)
		return " R?";
	return type == LOCK_RWSEM_R || type == LOCK_RWSEM_W ? " W" : "";
}

static bool by_look(struct query *q, const struct locksnap_queue *l, struct query_holder *ret)
{
	const uint32_t *task = map64_get(&q->model->tasks->by_tid, (uint32_t)l->holder_tid);

	*ret = (struct query_holder){
		.pid = l->holder_pid,
		.tid = l->holder_tid,
		.task = task ? *task : TASK_OTHER,
		.name = query_queue_holder(q, l),
		.comm = locksnap_text(query_queues(q), l->holder_comm),
		.certainty = query_queue_certainty(l),
		.look = l,
		.by_look = true,
	};
	return true;
}

static bool is_held_in(const struct locksnap_queue *l, int32_t but)
{
	return l && query_queue_certainty(l) && l->holder_tid != but;
}

/*
 * The first in the queue, as the snapshot shows it, of those that wait still: tasks that came later
 * are after them. TASK_OTHER: not known.
 */
static uint32_t first_waiting(struct query *q, const struct locksnap_queue *l)
{
	const struct locksnap *s = query_queues(q);
	uint32_t first = TASK_OTHER, position = UINT32_MAX;

	for (size_t i = 0; s && i < s->n_waiters; i++) {
		const struct locksnap_waiter *v = &s->waiters[i];
		if (&s->queues[v->queue] != l || v->position >= position)
			continue;
		const uint32_t *task = map64_get(&q->model->tasks->by_tid, (uint32_t)v->tid);
		const struct wait *w = task ? holder_wait_at(q->model, *task, l->addr) : NULL;
		if (!w || w->doubtful || w->begin_ns > s->head.time_ns)
			continue;
		first = *task;
		position = v->position;
	}
	return first;
}

/*
 * No task holds it. @next: is to take it. The task that reported this may have found the queue
 * changing, so that it did not see the first in it.
 */
static bool is_free(struct query *q, uint32_t next, const struct locksnap_queue *l,
		    struct query_holder *ret)
{
	if (next == TASK_OTHER && l)
		next = first_waiting(q, l);
	*ret = (struct query_holder){.certainty = "free",
				     .next = next < q->model->tasks->n ? next : TASK_OTHER};
	ret->name = ret->next
			    ? arena_printf(&q->arena, "free, to %s", query_task_name(q, ret->next))
			    : query_owner_name(q, OWNER_FREE);
	return true;
}

void query_holder_next(struct query *q, const struct query_holder *h, struct value *at)
{
	query_fill_task(q, h->next,
			(struct task_cells){NULL, &at[HOLDER_NEXT_PID], &at[HOLDER_NEXT_TID],
					    &at[HOLDER_NEXT_COMM]});
}

/*
 * @owner as in cell-owner.h. A percpu-rwsem names its writer only while that one waits for the
 * readers of before, so the task that it named at the begin of a wait is evidence.
 */
static bool by_events(struct query *q, uint32_t owner, enum lock_type type,
		      const struct locksnap_queue *l, struct query_holder *ret)
{
	uint32_t task = cell_owner_task(owner);

	if (owner == OWNER_NONE || task >= q->model->tasks->n)
		return false;
	if (cell_owner_is_free(owner))
		return is_free(q, cell_owner_next(owner), l, ret);
	const struct task *t = &q->model->tasks->tasks[task];
	const char *certainty = owner & OWNER_EVIDENT || is_percpu(type) ? "evidence"
				: owner & OWNER_HINT			 ? "hint"
									 : "sure";
	*ret = (struct query_holder){
		.pid = t->pid,
		.tid = t->tid,
		.task = task,
		.name = arena_printf(&q->arena, "%s%s", query_task_name(q, task),
				     mode_of(type, certainty)),
		.comm = query_task_comm(q, task),
		.certainty = certainty,
		.look = is_held_in(l, 0) && l->holder_tid == t->tid ? l : NULL,
	};
	return true;
}

/* The snapshot is as new as all events, saw the lock's queue, and no task that had the lock. */
static bool is_free_in(const struct locksnap_queue *l, uint64_t look_ns, uint64_t reported_ns)
{
	return l && look_ns >= reported_ns && l->certainty == LOCKSNAP_NOBODY && !l->readers &&
	       (l->type == LOCKSNAP_MUTEX || l->type == LOCKSNAP_RWSEM);
}

/*
 * The snapshot has the lock's queue without the task, which waited before: it has been let in, as
 * readers are before they run, and its wait ends when it has a CPU.
 */
static bool is_let_in(const struct wait *w, const struct locksnap_queue *l, uint64_t look_ns)
{
	return l && !l->incomplete && l->type != LOCKSNAP_PCPU && w->task != TASK_OTHER &&
	       !(w->flags & LCB_F_SPIN) && w->begin_ns < look_ns;
}

/*
 * Where the writer of a percpu-rwsem waits until readers are through, all others of that moment
 * wait for it; a snapshot has those in state D.
 */
static bool waits_for_writer(const struct wait *w, const struct locksnap_queue *l, uint64_t look_ns)
{
	return l->type == LOCKSNAP_PCPU && l->certainty == LOCKSNAP_SURE && !w->part &&
	       w->begin_ns < look_ns;
}

static bool find_holder(struct query *q, const struct wait *w, bool ended, struct query_holder *ret)
{
	const struct model *m = q->model;
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;
	int32_t tid = w->task == TASK_OTHER ? 0 : m->tasks->tasks[w->task].tid;
	uint64_t reported_ns;

	if (ended)
		return by_events(q, holder_then(w->held_by, w->seen, w->reported), type, NULL, ret);
	const struct locksnap_queue *l = query_queue_at(q, w->addr);
	uint32_t owner = holder_now(m, w, &reported_ns);
	uint64_t look_ns = l ? query_queues(q)->head.time_ns : 0;
	bool seen = l && tid && (query_queue_waiter(q, l, tid) || waits_for_writer(w, l, look_ns));

	/* A task that spins is not in the queue. */
	if (is_held_in(l, tid) && (seen || w->flags & LCB_F_SPIN) && look_ns >= reported_ns)
		return by_look(q, l, ret);
	if (seen && is_free_in(l, look_ns, reported_ns))
		return is_free(q, TASK_OTHER, l, ret);
	if (by_events(q, owner, type, l, ret))
		return true;
	if (!seen && is_let_in(w, l, look_ns))
		return is_free(q, w->task, l, ret);
	if (!is_held_in(l, tid) || (!seen && m->now_ns <= look_ns))
		return false;
	by_look(q, l, ret);
	ret->age_ns = seen ? 0 : m->now_ns - look_ns;
	return true;
}

bool query_holder_of(struct query *q, const struct wait *w, bool ended, struct query_holder *ret)
{
	bool found = find_holder(q, w, ended, ret);

	ret->lock = w->lock;
	return found;
}

/* The longest wait in flight for the lock. */
static const struct wait *longest_for(const struct model *m, uint64_t addr)
{
	const struct wait *longest = NULL;

	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->addr == addr && (!longest || w->begin_ns < longest->begin_ns))
			longest = w;
	}
	return longest;
}

bool query_holder_at(struct query *q, uint32_t lock, struct query_holder *ret)
{
	const struct locksnap_queue *l = query_queue_at(q, q->model->locks->locks[lock].addr);
	const struct wait *w = lock_is_waited_for(q->model->locks, lock)
				       ? longest_for(q->model, q->model->locks->locks[lock].addr)
				       : NULL;

	if (w && query_holder_of(q, w, false, ret) && !ret->age_ns)
		return true;
	if (!is_held_in(l, 0) || !by_look(q, l, ret))
		return false;
	ret->lock = lock;
	return true;
}

/*
 * The time at which a file was locked is known where that was seen. Else snapshots have seen the
 * holder so long, and the process that took the lock has not been there for longer.
 */
static void held_file(struct query *q, uint32_t lock, const struct query_holder *h,
		      struct query_held *ret)
{
	enum lock_type type = (enum lock_type)q->model->locks->locks[lock].type;
	uint64_t now = q->model->now_ns, taken_ns = holder_taken_ns(q->model, lock, h->pid);

	/* A process that locks parts of a file has locked another one last, maybe. */
	ret->at_least = !taken_ns || type == LOCK_POSIX_R || type == LOCK_POSIX_W;
	if (taken_ns)
		ret->ns = now > taken_ns ? now - taken_ns : 0;
	if (!h->look)
		return;
	ret->fd = (int32_t)(h->look->holder_fd - 1);
	if (!taken_ns && h->look->taker_ns && h->look->taker_ns < now)
		ret->most_ns = now - h->look->taker_ns;
}

struct query_held query_holder_held(struct query *q, uint32_t lock, const struct query_holder *h)
{
	enum lock_type type = (enum lock_type)q->model->locks->locks[lock].type;
	struct query_held ret = {.fd = -1};

	if (!h->tid)
		return ret;
	ret.ns = h->by_look ? query_queue_held_ns(q, h->look) : 0;
	if (locktype_is_file(type))
		held_file(q, lock, h, &ret);
	return ret;
}

void query_fill_held(const struct query_held *h, struct value *at)
{
	at[HELD_FD] = (struct value){.i = h->fd, .known = h->fd >= 0};
	at[HELD_NS] = (struct value){.u = h->ns, .known = h->ns != 0, .at_least = h->at_least};
	at[HELD_MOST_NS] = (struct value){.u = h->most_ns, .known = h->most_ns != 0};
}

const char *query_held_text(struct query *q, const struct query_held *h)
{
	char ns[UNITS_BUF], most[UNITS_BUF];
	const char *fd = NULL, *held = NULL;

	if (h->fd >= 0)
		fd = arena_printf(&q->arena, "fd %" PRId32, h->fd);
	units_ns(ns, h->ns);
	units_ns(most, h->most_ns);
	if (h->ns && h->most_ns)
		held = arena_printf(&q->arena, "held %s to %s", ns, most);
	else if (h->most_ns)
		held = arena_printf(&q->arena, "held up to %s", most);
	else if (h->ns)
		held = arena_printf(&q->arena, "held %s%s", ns, h->at_least ? " or more" : "");
	return fd && held ? arena_printf(&q->arena, "%s, %s", fd, held) : fd ? fd : held;
}

/* The holder's state by the records that follow holders. */
static uint8_t followed(const struct query *q, const struct query_holder *h)
{
	const struct task *t = &q->model->tasks->tasks[h->task];

	return h->task && h->task < q->model->tasks->n && t->blame ? t->did : BLAME_NOT_FOLLOWED;
}

const char *query_holder_state(const struct query *q, const struct query_holder *h)
{
	if (h->look)
		return query_queue_state(h->look);
	switch (followed(q, h)) {
	case BLAME_RUNNING:
		return "running";
	case BLAME_RUNNABLE:
		return "runnable";
	case BLAME_ASLEEP:
	case BLAME_IO:
		return "asleep";
	default:
		return NULL;
	}
}

const char *query_holder_runs_in(struct query *q, const struct query_holder *h)
{
	struct query_spot spot;

	if (h->look && h->look->holder_state != LOCKSNAP_RUNNING)
		return NULL;
	query_runs_in(q, h->tid, &spot);
	return spot.in ? query_spot_text(q, &spot) : NULL;
}

static const char *sleeps(struct query *q, uint32_t stack)
{
	uint32_t n = 0;
	const uint64_t *frames = query_wait_frames(q, stack, &n);

	return n ? query_func_name(q, query_sleeps_in(q, frames, n)) : NULL;
}

const char *query_holder_is(struct query *q, const struct query_holder *h)
{
	const char *state = query_holder_state(q, h), *why = NULL;
	uint8_t did = followed(q, h);

	if (h->look)
		return query_queue_holder_is(q, h->look);
	if (!state || h->task >= q->model->tasks->n)
		return NULL;
	uint32_t what = q->model->tasks->tasks[h->task].why;
	if (did == BLAME_RUNNABLE && what)
		why = query_task_name(q, what);
	if (why)
		return arena_printf(&q->arena, "%s, kept off by %s", state, why);
	if (did == BLAME_RUNNING) {
		why = query_holder_runs_in(q, h);
		return why ? arena_printf(&q->arena, "%s in %s", state, why) : state;
	}
	why = did == BLAME_ASLEEP || did == BLAME_IO ? sleeps(q, what) : NULL;
	return why ? arena_printf(&q->arena, "%s %s", state, why) : state;
}
