// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holder of a lock: each report of it replaces the one before, unless it is of an earlier
 * moment. It is valid as long as tasks wait for the lock without a break, as a task that takes or
 * releases a lock for which no other task waits is not seen. Both modes of a reader-writer lock are
 * entries of their own, each with the reports from its waits: the later one counts.
 *
 * Where no record reports holders, as without BPF, none is known: a task that got a lock after a
 * wait may have lost it to a task that took it without waiting.
 *
 * The word of a lock that readers have names the last one that came. It may have released it since:
 * a waiter for the lock has. Then one that came before it is named, a hint like any other.
 *
 * A wait keeps the owner reported as it began, and the one that a snapshot has seen; when it
 * ends, it keeps the last holder of the lock (`held_by`).
 */
#include "kontend/holder.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/locktype.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "lockqueue-int.h"

static uint64_t last_ns(const struct lock_has *h)
{
	return h->gone_ns > h->reported_ns ? h->gone_ns : h->reported_ns;
}

static struct lock_has *latest(const struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock], *twin = l->twin ? &m->locks->locks[l->twin] : l;

	return last_ns(&twin->has) > last_ns(&l->has) ? &twin->has : &l->has;
}

void holder_waits(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock];

	if (lock_is_waited_for(m->locks, lock))
		return;
	l->has = (struct lock_has){0};
	if (l->twin)
		m->locks->locks[l->twin].has = (struct lock_has){0};
}

static bool is_reader(uint32_t owner)
{
	return owner & OWNER_HINT && cell_owner_task(owner);
}

/* Adds the holders in @from except @task, as far as there is room. */
static void add_readers(struct lock_has *to, const struct lock_has *from, uint32_t task)
{
	uint32_t n = 0;

	if (!is_reader(from->who))
		return;
	if (!from->gone_ns && cell_owner_task(from->who) != task)
		to->readers[n++] = from->who;
	for (uint32_t i = 0; i < HOLDER_READERS && n < HOLDER_READERS; i++)
		if (from->readers[i] && cell_owner_task(from->readers[i]) != task)
			to->readers[n++] = from->readers[i];
}

static void drop_reader(struct lock_has *h, uint32_t task)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HOLDER_READERS; i++)
		if (cell_owner_task(h->readers[i]) != task)
			h->readers[n++] = h->readers[i];
	while (n < HOLDER_READERS)
		h->readers[n++] = OWNER_NONE;
}

/* The latest of the others takes its place; false: none is known. */
static bool next_reader(struct lock_has *h)
{
	if (!h->readers[0])
		return false;
	h->who = h->readers[0];
	drop_reader(h, cell_owner_task(h->who));
	return true;
}

/* Sets the reported holder; the replaced one becomes the holder before. */
static void set_holder(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	struct lock_has *own = &m->locks->locks[lock].has, was = *latest(m, lock);
	uint32_t task = cell_owner_task(was.who);

	if (task && task != cell_owner_task(owner))
		was.before = was.who;
	/* It is being handed over, but the previous holder is known all the same. */
	*own = (struct lock_has){.who = owner,
				 .before = was.before,
				 .reported_ns = ns,
				 .gone_ns = cell_owner_is_free(owner) ? ns : 0};
	if (is_reader(owner))
		add_readers(own, &was, cell_owner_task(owner));
}

const struct wait *holder_wait_at(const struct model *m, uint32_t task, uint64_t addr)
{
	const struct task *t = &m->tasks->tasks[task];

	for (uint32_t i = 0; i < t->depth; i++)
		if (m->waits->waits[t->waits[i]].addr == addr)
			return &m->waits->waits[t->waits[i]];
	return NULL;
}

/* Readers have it, and the one that is named is none of them. */
static void set_others(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	struct lock_has *own = &m->locks->locks[lock].has, was = *latest(m, lock);

	if (!is_reader(was.who)) {
		set_holder(m, lock, OWNER_NONE, ns);
		return;
	}
	*own = was;
	own->reported_ns = ns;
	drop_reader(own, task);
	if (cell_owner_task(own->who) == task && !next_reader(own))
		own->gone_ns = ns;
}

/* The word of other locks, such as percpu-rwsems, names their holder for a part of the time only.
 */
static bool says_free(const struct model *m, uint32_t lock, uint32_t owner)
{
	return cell_owner_is_free(owner) &&
	       lockqueue_names_holder((enum lock_type)m->locks->locks[lock].type);
}

void holder_gives_up(struct model *m, const struct wait *w)
{
	struct lock_has *h = latest(m, w->lock);

	if (!w->task || cell_owner_next(h->who) != w->task)
		return;
	h->who = OWNER_FREE;
	if (m->held->max)
		holds_seen(m, w->lock, h, OWNER_FREE, m->now_ns);
}

void holder_since(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	uint32_t task = cell_owner_task(owner);

	if (m->blame->max && task)
		blame_report(m, lock, task, owner & OWNER_HINT, ns);
	if (lock < LOCK_TYPES || ns < last_ns(latest(m, lock)))
		return;
	if (is_reader(owner) && holder_wait_at(m, task, m->locks->locks[lock].addr))
		set_others(m, lock, task, ns);
	else
		set_holder(m, lock, owner, ns);
	if (m->blame->max && says_free(m, lock, owner))
		blame_free(m, lock, cell_owner_next(owner));
}

struct lock_has holder_state(const struct model *m, uint32_t lock)
{
	return *latest(m, lock);
}

void holder_move(struct model *m, uint32_t lock, const struct lock_has *was)
{
	if (last_ns(was) <= last_ns(latest(m, lock)))
		return;
	if (!was->gone_ns || cell_owner_is_free(was->who))
		holder_since(m, lock, was->who, was->reported_ns);
	m->locks->locks[lock].has = *was;
}

/*
 * A record's state of a lock was read a moment before its time. The next task may have taken the
 * lock in between.
 */
static bool is_taken(const struct model *m, uint32_t lock, uint32_t owner)
{
	const struct lock_has *h = latest(m, lock);
	uint32_t next = cell_owner_next(owner);

	return next && lock >= LOCK_TYPES && cell_owner_task(h->who) == next && !h->gone_ns &&
	       !holder_wait_at(m, next, m->locks->locks[lock].addr);
}

void holder_report(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	const struct lock_has was = *latest(m, lock);

	if (is_taken(m, lock, owner))
		return;
	if (m->held->max && ns >= last_ns(&was) &&
	    (says_free(m, lock, owner) || !cell_owner_is_free(owner)))
		holds_seen(m, lock, &was, owner, ns);
	holder_since(m, lock, owner, ns);
	lockqueue_seen(m, lock, owner, ns);
}

void holder_readers(struct model *m, uint32_t lock, uint64_t ns)
{
	if (lock < LOCK_TYPES)
		return;
	if (m->blame->max)
		blame_report(m, lock, TASK_OTHER, true, ns);
	if (ns >= last_ns(latest(m, lock)))
		set_others(m, lock, TASK_OTHER, ns);
}

void holder_taken(struct model *m, uint32_t lock, int32_t pid, uint64_t ns)
{
	if (lock >= LOCK_TYPES)
		m->locks->locks[lock].taken = (struct lock_taken){ns, m->now_ns, pid};
}

uint64_t holder_taken_ns(const struct model *m, uint32_t lock, int32_t pid)
{
	const struct lock *l = &m->locks->locks[lock];
	const struct lock_taken *t = &l->taken, *other = &m->locks->locks[l->twin].taken;

	if (l->twin && other->seen_ns > t->seen_ns)
		t = other;
	/* Records that are missing may have reported another one. */
	if (!t->ns || t->seen_ns < m->lost_until || (t->pid && t->pid != pid))
		return 0;
	return t->ns;
}

void holder_got(struct model *m, const struct wait *w, uint64_t ns)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;
	bool reads = locktype_is_reader(type);

	if (locktype_is_file(type))
		holder_taken(m, w->lock, m->tasks->tasks[w->task].pid, ns);
	/* A reader of a percpu-rwsem keeps no task waiting. */
	if (w->lock < LOCK_TYPES || type == LOCK_PCPU_SEM_R || ns < last_ns(latest(m, w->lock)))
		return;
	set_holder(m, w->lock, w->task ? w->task | (reads ? OWNER_HINT : 0) : OWNER_NONE, ns);
}

void holder_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	struct lock_has *h = latest(m, lock);

	if (!task || ns < h->reported_ns)
		return;
	drop_reader(h, task);
	if (cell_owner_task(h->who) == task && !h->gone_ns && !next_reader(h))
		h->gone_ns = ns;
}

/* A task that has exited has no lock. */
static bool has_exited(const struct model *m, uint32_t owner)
{
	uint32_t task = cell_owner_task(owner);

	return task && task_ended_until(&m->tasks->tasks[task], UINT64_MAX);
}

/* The one that is named, or of several readers the latest that has not exited. */
static uint32_t living(const struct model *m, const struct lock_has *h)
{
	if (!has_exited(m, h->who))
		return h->who;
	for (uint32_t i = 0; i < HOLDER_READERS; i++)
		if (h->readers[i] && !has_exited(m, h->readers[i]))
			return h->readers[i];
	return OWNER_NONE;
}

uint32_t holder_now(const struct model *m, const struct wait *w, uint64_t *ret_ns)
{
	const struct lock_has *h = latest(m, w->lock);

	*ret_ns = last_ns(h);
	if (!m->holders_reported)
		return OWNER_NONE;
	if (w->lock < LOCK_TYPES)
		return w->reported;
	/* Missing records may have reported this. */
	if (h->reported_ns < m->lost_until || cell_owner_task(h->who) == w->task)
		return OWNER_NONE;
	return h->gone_ns && !cell_owner_is_free(h->who) ? OWNER_NONE : living(m, h);
}

uint32_t holder_last(const struct model *m, const struct wait *w)
{
	const struct lock_has *h = latest(m, w->lock);
	bool own = cell_owner_task(h->who) == w->task;
	uint32_t owner = own || !cell_owner_task(h->who) ? h->before : h->who;

	if (!m->holders_reported || w->lock < LOCK_TYPES || !cell_owner_task(owner) ||
	    cell_owner_task(owner) == w->task || (h->gone_ns && h->gone_ns <= w->begin_ns))
		return OWNER_NONE;
	return owner;
}

void holder_mark(struct model *m)
{
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++) {
		struct lock_has *h = &m->locks->locks[i].has;
		if (lock_is_waited_for(m->locks, i)) {
			m->tasks->tasks[cell_owner_task(h->who)].marked = 1;
			m->tasks->tasks[cell_owner_task(h->before)].marked = 1;
			m->tasks->tasks[cell_owner_next(h->who)].marked = 1;
			for (uint32_t k = 0; k < HOLDER_READERS; k++)
				m->tasks->tasks[cell_owner_task(h->readers[k])].marked = 1;
		} else {
			*h = (struct lock_has){0};
		}
	}
}
