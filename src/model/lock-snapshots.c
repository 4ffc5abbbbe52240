// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares snapshots of locks with the waits in flight. A snapshot is read a moment after the tick
 * that it is shown for, so it is compared with the events only when all up to its end have been
 * applied; then each task that it has in a queue is in one of three states: it waits by an event;
 * it has continued since, so that a wait of it has ended; or it waits, and no event reported it.
 * The latter becomes a wait in flight (`by_look`) if the snapshot proves it: the task has slept
 * since before there were events, or since before the snapshot before this one, in which it was in
 * the same queue. The scheduler has the begin: when the task ran last. The wait began just before,
 * or earlier, if the task has been woken in vain since; so the reported wait is never too long.
 *
 * On the other hand, a wait whose end may be among lost records has ended if its task is in no
 * queue of the snapshot or does not exist any more. Where nothing was lost events know better: a
 * task leaves the queue before it runs on. Where not all waits are reported, as short ones are
 * summed up or all are only counted, a task that has run since waits again.
 *
 * Some waits have no events on any kernel: a task's for a mapping, and the parts of that of the
 * writer of a percpu-rwsem. Looks are all that is known of them: a wait begins when its task went
 * to sleep, and ends, for the sums, with the last look that saw that sleep. The writer goes to
 * sleep once more when it has waited for RCU, in the same wait.
 */
#include "blame-int.h"
#include "internal.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/longest-recent.h"
#include "kontend/map64.h"
#include "kontend/preempted.h"
#include "kontend/profile.h"
#include "kontend/record.h"
#include "kontend/snapshot.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/userlock.h"
#include "kontend/vmalock.h"
#include "kontend/wait.h"
#include "user-releases.h"
#include "wait-parts.h"
#include "wait-user.h"

#include <errno.h>
#include <string.h>

struct look_at {
	struct locksnap snap;
	struct map64 index; /* (lock, thread) -> waiter */
};

static uint64_t place_of(uint64_t addr, int32_t tid)
{
	return hash_u64(addr) ^ (uint32_t)tid;
}

static const struct locksnap_waiter *find_waiter(const struct look_at *l, uint64_t addr,
						 int32_t tid)
{
	const uint32_t *at = map64_get(&l->index, place_of(addr, tid));
	const struct locksnap_waiter *v = at ? &l->snap.waiters[*at] : NULL;

	return v && v->tid == tid && l->snap.queues[v->queue].addr == addr ? v : NULL;
}

static const struct locksnap_waiter *find_wait(const struct look_at *l, const struct wait *w,
					       int32_t tid)
{
	const struct locksnap_waiter *v = find_waiter(l, w->addr, tid);
	uint64_t within = v ? 0 : wait_rt_mutex(w);

	return within ? find_waiter(l, within, tid) : v;
}

/* 0, -ENOENT: there is none, or -ENOMEM. */
static int open_look(struct look_at *l, const struct snapshot *s)
{
	int code = s ? locksnap_decode(&l->snap, s->bytes, s->len) : -ENOENT;

	for (size_t i = 0; code == 0 && i < l->snap.n_waiters; i++) {
		const struct locksnap_waiter *v = &l->snap.waiters[i];
		uint64_t addr = l->snap.queues[v->queue].addr;
		if (map64_put(&l->index, place_of(addr, v->tid), (uint32_t)i) < 0)
			code = -ENOMEM;
	}
	return code == 0 || code == -ENOMEM ? code : -ENOENT;
}

static void close_look(struct look_at *l)
{
	locksnap_deinit(&l->snap);
	map64_deinit(&l->index);
}

static bool is_gone(const struct locksnap *s, int32_t tid)
{
	for (size_t i = 0; i < s->n_gone; i++)
		if (s->gone[i] == tid)
			return true;
	return false;
}

/* Was the queue of that lock read to its end? That of an mmap_lock always is, when it has one. */
static bool is_read(const struct locksnap *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_queues; i++)
		if (s->queues[i].addr == addr)
			return !s->queues[i].incomplete;
	if (filelock_is(addr))
		return s->head.files == LOCKSNAP_FILES_ALL;
	if (userlock_is(addr))
		return s->head.users == LOCKSNAP_USERS_ALL;
	for (size_t i = 0; i < s->n_empty; i++)
		if (s->empty[i] == addr)
			return true;
	for (size_t i = 0; i < s->n_names; i++)
		if (s->names[i].addr == addr && s->names[i].kind == LOCKSNAP_MMAP)
			return !s->head.dropped;
	return false;
}

/* A waiter for a mutex is in its queue while it sleeps. */
static bool has_queue(const struct model *m, const struct wait *w)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;

	return type == LOCK_RWSEM_R || type == LOCK_RWSEM_W || type == LOCK_SEMAPHORE ||
	       type == LOCK_RT_MUTEX || locktype_is_file(type) || locktype_is_user(type) ||
	       (type == LOCK_MUTEX && !(w->flags & LCB_F_SPIN));
}

/* Does the look prove that a wait, which began before it and is still in flight, has ended? */
static bool is_over(const struct model *m, const struct look_at *l, const struct wait *w)
{
	int32_t tid = m->tasks->tasks[w->task].tid;

	if (!w->doubtful && !w->by_look)
		return false;
	if (w->task == TASK_OTHER || w->begin_ns >= l->snap.head.time_ns)
		return false;
	if (w->doubtful && is_gone(&l->snap, tid))
		return true;
	const struct locksnap_waiter *v = find_wait(l, w, tid);
	if (wait_is_silent(w))
		return l->snap.head.knows_blocked && !l->snap.head.blocked_dropped &&
		       !(v && wait_parts_go_on(w, v));
	/* The task has run since: if events report all waits, it was woken in vain. */
	if (v && w->by_look && m->looks->unreported_ns >= w->begin_ns)
		return v->ran_ns > w->begin_ns + WAIT_CLOCKS_NS;
	/* No event reports these, so a task that has run since waits again. */
	if (userlock_is(w->addr))
		return v ? v->ran_ns > w->begin_ns + WAIT_CLOCKS_NS : l->snap.head.users != 0;
	if (filelock_is(w->addr))
		return !v && l->snap.head.files == LOCKSNAP_FILES_ALL && !taskid_is_outside(tid);
	if (l->snap.head.reason || v)
		return false;
	if (w->by_look)
		return !l->snap.head.dropped;
	return w->doubtful && has_queue(m, w) && is_read(&l->snap, w->addr);
}

static void drop_over(struct model *m, const struct look_at *l)
{
	for (uint32_t i = 1; i < m->waits->high; i++)
		if (m->waits->waits[i].used && is_over(m, l, &m->waits->waits[i]))
			pair_vanished(m, i);
}

static uint32_t flags_of(const struct locksnap_queue *q, const struct locksnap_waiter *v)
{
	if (q->type == LOCKSNAP_RWSEM)
		return v->reader ? LCB_F_READ : LCB_F_WRITE;
	if (q->type == LOCKSNAP_RT)
		return LCB_F_RT;
	if (q->type == LOCKSNAP_PCPU)
		return LCB_F_PERCPU | (v->reader ? LCB_F_READ : LCB_F_WRITE);
	if (q->type == LOCKSNAP_VMA_LOCK)
		return LCB_F_VMA;
	if (q->type >= LOCKSNAP_USER_MUTEX)
		return userlock_flags((enum userlock_kind)(q->type - LOCKSNAP_USER_MUTEX),
				      (int)v->reader);
	if (locksnap_is_file(q))
		return filelock_flags((enum filelock_kind)(q->type - LOCKSNAP_FLOCK),
				      (int)v->reader);
	return q->type == LOCKSNAP_MUTEX ? LCB_F_MUTEX : 0;
}

/*
 * May it have waited for longer than it has slept? A woken task has the lock, except the first in
 * line where another task may take it first; and a task that waits for a mutex spins before it
 * sleeps, as the first in line for an rt-mutex does. A writer that waits for readers may have
 * waited for RCU before.
 */
static bool may_be_longer(const struct locksnap_queue *q, const struct locksnap_waiter *v)
{
	return q->type == LOCKSNAP_MUTEX || q->type == LOCKSNAP_RT || locksnap_is_file(q) ||
	       q->type >= LOCKSNAP_USER_MUTEX || v->part == LOCKSNAP_READERS_PART ||
	       (q->type == LOCKSNAP_RWSEM && !v->reader && v->position == 1);
}

/* Begin of its wait, as far as that is sure; 0: it may not wait, or an event reports it. */
static uint64_t since(const struct model *m, const struct look_at *now,
		      const struct look_at *before, const struct locksnap_waiter *v,
		      const struct task *t)
{
	uint64_t addr = now->snap.queues[v->queue].addr, seen = before->snap.head.time_ns;
	const struct locksnap_waiter *b = find_waiter(before, addr, v->tid);
	bool slept = v->ran_ns && t->end_ns <= v->ran_ns + WAIT_CLOCKS_NS;

	if (v->ran_ns >= now->snap.head.time_ns + now->snap.head.cost_ns)
		return 0;
	if (slept && v->ran_ns + WAIT_CLOCKS_NS < m->start_ns)
		return v->ran_ns;
	/* The look before has seen all of these. */
	if (slept && userlock_is(addr) && !b && before->snap.head.users == LOCKSNAP_USERS_ALL)
		return v->ran_ns < seen ? seen : v->ran_ns;
	/* Events report all of these, or none. */
	if (slept && (filelock_is(addr) || userlock_is(addr) || vmalock_is(addr) || v->part))
		return v->ran_ns;
	if (!b)
		return 0;
	if (slept && v->ran_ns + WAIT_CLOCKS_NS < seen)
		return v->ran_ns;
	/* The task was awake in between. If it had got the lock the end would have been reported,
	 * if all are. */
	if (m->looks->unreported_ns >= seen ||
	    m->looks->lost != m->damage->lost + m->damage->dropped || t->end_ns >= seen ||
	    t->start_ns >= seen)
		return 0;
	return b->ran_ns && b->ran_ns < seen ? b->ran_ns : seen;
}

/* Events report a reader's wait where the snapshot has the rt-mutex within the lock. */
static uint32_t of_event(const struct model *m, const struct task *t, uint64_t addr)
{
	for (int i = 0; i < t->depth; i++) {
		const struct wait *w = &m->waits->waits[t->waits[i]];
		if (w->addr == addr || wait_rt_mutex(w) == addr)
			return t->waits[i];
	}
	return 0;
}

/* A wait that the look has seen to go on is in no doubt, if it has been the same sleep. */
static void confirm(struct model *m, const struct look_at *l, uint32_t index,
		    const struct locksnap_waiter *v)
{
	struct wait *w = &m->waits->waits[index];

	/* The end may be within a gap that has not ended. */
	if (l->snap.head.time_ns < m->lost_until)
		return;
	if (!w->doubtful || !w->by_look || !v->ran_ns || v->ran_ns > w->begin_ns + WAIT_CLOCKS_NS)
		return;
	w->doubtful = false;
	w->joined_ns = m->now_ns;
	if (m->held->max) {
		holds_waits(m, w->lock, 1);
		release_queue(m, w);
		lockqueue_begin(m, index);
	}
	if (m->blame->max)
		blame_wait(m, w);
}

static const struct locksnap_blocked *find_blocked(const struct locksnap *s, int32_t tid)
{
	for (size_t i = 0; i < s->n_blocked; i++)
		if (s->blocked[i].tid == tid)
			return &s->blocked[i];
	return NULL;
}

/*
 * Of a wait for the lock of a file the calls are among those of blocked tasks, for that of a
 * program they are those by which the look has found the lock.
 */
static uint32_t stack_of(struct model *m, const struct locksnap *s, const struct locksnap_waiter *v,
			 uint64_t addr)
{
	const struct locksnap_blocked *b = filelock_is(addr) ? find_blocked(s, v->tid) : NULL;

	if (v->n_frames)
		return model_stack(m, s->frames + v->frame, v->n_frames);
	if (b && b->n_frames)
		return model_stack(m, s->frames + b->frame, b->n_frames);
	return wait_user_calls(m, s, v);
}

static int add_wait(struct model *m, const struct look_at *l, const struct locksnap_waiter *v,
		    uint32_t task, uint64_t begin_ns)
{
	const struct locksnap_queue *q = &l->snap.queues[v->queue];
	uint32_t flags = flags_of(q, v), index = wait_new(m->waits);
	bool no_cpu = !v->cpu || !model_cpu(m, v->cpu - 1);

	if (!index)
		return -ENOMEM;
	struct wait *w = &m->waits->waits[index];
	w->by_look = true;
	w->doubtful = l->snap.head.time_ns < m->lost_until;
	w->early = begin_ns < m->start_ns || (!m->damage->lost && !m->damage->dropped);
	w->at_least = begin_ns != v->ran_ns || may_be_longer(q, v);
	w->no_cpu = no_cpu;
	w->cpu = (uint16_t)(no_cpu ? 0 : v->cpu - 1);
	w->begin_ns = begin_ns;
	w->addr = q->addr;
	w->flags = flags;
	wait_parts_see(m, w, v, l->snap.head.time_ns);
	w->task = task;
	w->stack = stack_of(m, &l->snap, v, q->addr);
	w->lock = lock_get(m->locks, q->addr, locktype_from_flags(flags));
	struct lock *lock = &m->locks->locks[w->lock];
	lock->begin_ns = lock->begin_ns ? lock->begin_ns : begin_ns;
	holder_waits(m, w->lock);
	lock->waiting++;
	w->joined_ns = m->now_ns;
	if (m->held->max && !w->doubtful) {
		holds_waits(m, w->lock, 1);
		release_queue(m, w);
		lockqueue_begin(m, index);
	}
	if (m->blame->max && !w->doubtful)
		blame_wait(m, w);
	pair_insert(m, index);
	return task_name(m->tasks, task, locksnap_text(&l->snap, v->comm));
}

static int add_unreported(struct model *m, const struct look_at *now, const struct look_at *before)
{
	bool has_all = looks_of_all(m);

	for (size_t i = 0; i < now->snap.n_waiters; i++) {
		const struct locksnap_waiter *v = &now->snap.waiters[i];
		uint64_t addr = now->snap.queues[v->queue].addr;
		if (v->tid <= 0 || !addr || (!v->measured && !has_all))
			continue;
		fold_if_full(m);
		uint32_t t = task_get_quickly(m->tasks, v->pid, v->tid);
		const struct task *task = &m->tasks->tasks[t];
		if (t == TASK_OTHER || task->depth == WAIT_DEPTH)
			continue;
		uint32_t reported = of_event(m, task, addr);
		if (reported) {
			if (now->snap.queues[v->queue].type >= LOCKSNAP_PCPU)
				wait_parts_see(m, &m->waits->waits[reported], v,
					       now->snap.head.time_ns);
			confirm(m, now, reported, v);
			continue;
		}
		uint64_t begin_ns = since(m, now, before, v, task);
		/* The last look is later than the last event: a wait may have begun in between. */
		if (begin_ns >= m->now_ns)
			begin_ns = m->now_ns - 1;
		if (begin_ns && add_wait(m, now, v, t, begin_ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The holder of the lock for which the snapshot has @w waiting; its end may be known by now. */
static int see_holder(struct model *m, const struct look_at *l, struct wait *w)
{
	uint64_t seen_ns = l->snap.head.time_ns;
	int32_t tid = m->tasks->tasks[w->task].tid;
	const struct locksnap_waiter *v =
		w->task == TASK_OTHER || w->begin_ns > seen_ns ? NULL : find_wait(l, w, tid);
	const struct locksnap_queue *q = v ? &l->snap.queues[v->queue] : NULL;

	if (!q || q->certainty == LOCKSNAP_NOBODY || q->holder_tid <= 0 || q->holder_tid == tid)
		return 0;
	uint32_t holder = task_get_holder(m->tasks, q->holder_pid, q->holder_tid);
	if (holder == TASK_OTHER || holder >= OWNER_NEXT)
		return 0;
	bool owns =
		q->certainty == LOCKSNAP_SURE || userlock_is(w->addr); /* no reader among others */
	w->seen = holder | (owns ? 0u : OWNER_HINT) |
		  (q->certainty == LOCKSNAP_EVIDENCE ? OWNER_EVIDENT : 0);
	if (w->used)
		holder_since(m, w->lock, w->seen, seen_ns);
	return task_name(m->tasks, holder, locksnap_text(&l->snap, q->holder_comm));
}

static int see_holders(struct model *m, const struct look_at *l)
{
	struct longest_recent_wait *past;
	int code = 0;

	for (uint32_t i = 1; code == 0 && i < m->waits->high; i++)
		if (m->waits->waits[i].used)
			code = see_holder(m, l, &m->waits->waits[i]);
	for (uint32_t i = 0; code == 0 && (past = longest_recent_at(m->past, i)); i++)
		if (past->end_ns >= l->snap.head.time_ns)
			code = see_holder(m, l, &past->wait);
	return code;
}

/*
 * Records follow holders of the kernel's locks. Of a holder of a lock of a file or a program, the
 * snapshot shows the state, and where it is blocked the calls.
 */
static void see_holder_state(struct model *m, const struct locksnap *s,
			     const struct locksnap_queue *q)
{
	static const uint8_t states[LOCKSNAP_STATES] = {[LOCKSNAP_RUNNING] = BLAME_RUNNING,
							[LOCKSNAP_RUNNABLE] = BLAME_RUNNABLE,
							[LOCKSNAP_ASLEEP] = BLAME_ASLEEP};
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)q->holder_tid);
	uint32_t state = q->holder_state < LOCKSNAP_STATES ? states[q->holder_state] : 0;
	const struct locksnap_blocked *b;
	uint32_t why = 0;

	if ((!filelock_is(q->addr) && !userlock_is(q->addr)) || q->holder_tid <= 0 || !task ||
	    !state)
		return;
	if (state == BLAME_ASLEEP && (b = find_blocked(s, q->holder_tid)) && b->n_frames) {
		why = model_stack(m, s->frames + b->frame, b->n_frames);
		state = b->io ? BLAME_IO : BLAME_ASLEEP;
	} else if (state == BLAME_ASLEEP && q->holder_n_frames) {
		why = model_stack(m, s->frames + q->holder_frame, q->holder_n_frames);
	}
	/* One that waits itself is not to blame. */
	if (userlock_is(q->addr))
		m->tasks->tasks[*task].owner_ns = s->head.time_ns;
	if (userlock_is(q->addr) && !m->tasks->tasks[*task].depth)
		user_release_see(m->user_releases, q->addr, state, why, s->head.time_ns);
	blame_see_holder(m, *task, state, why);
}

/* Tasks whose waits are not measured are in the snapshots all the same. */
bool looks_of_all(const struct model *m)
{
	return strcmp(m->host->targets, "all CPUs") == 0;
}

/* @drops: waits that it does not have are over. */
static void settle(struct model *m, bool drops)
{
	struct look_at now = {0}, before = {0};
	int code = open_look(&now, snapshot_set_get(m->snapshots, SNAPSHOT_LOCKS));

	m->looks->due_ns = UINT64_MAX;
	if (code == 0 && drops)
		drop_over(m, &now);
	if (code == 0)
		code = open_look(&before, snapshot_set_get(m->snapshots_before, SNAPSHOT_LOCKS));
	if (code != -ENOMEM && now.snap.n_waiters)
		code = add_unreported(m, &now, &before);
	for (size_t i = 0; code != -ENOMEM && i < now.snap.n_stacks; i++)
		wait_user_frames(m, &now.snap, &now.snap.stacks[i]);
	if (code != -ENOMEM)
		preempted_take(m->preempted, &now.snap, &m->profile->spaces);
	if (code != -ENOMEM)
		code = see_holders(m, &now);
	for (size_t i = 0; code != -ENOMEM && m->blame->max && i < now.snap.n_queues; i++)
		see_holder_state(m, &now.snap, &now.snap.queues[i]);
	if (code == -ENOMEM)
		m->damage->snapshot_lost++;
	m->looks->lost = m->damage->lost + m->damage->dropped;
	close_look(&now);
	close_look(&before);
}

void looks_settle(struct model *m)
{
	settle(m, true);
}

/* It was taken when the events had ended, so a wait that it does not have may have been in flight
 * until then. */
void looks_end(struct model *m)
{
	if (m->looks->due_ns != UINT64_MAX)
		settle(m, false);
}
