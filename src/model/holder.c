// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has a lock: each report of it replaces the one before, unless it is of an earlier moment. It
 * is of use as long as tasks wait for the lock without a break, as a task that takes or releases a
 * lock for which no other task waits is not seen. Both modes of a reader-writer lock are entries of
 * their own, each with what was reported by its waits: the later one counts.
 *
 * Where no record reports holders, as without BPF, nothing is said: whoever got a lock after a wait
 * may have lost it to a task that took it without waiting.
 *
 * A wait keeps what was reported as it began (`told`) and what a look saw (`seen`); when it ends,
 * it keeps who had the lock last (`held_by`).
 */
#include "internal.h"

static uint64_t last_ns(const struct lock_has *h)
{
	return h->gone_ns > h->told_ns ? h->gone_ns : h->told_ns;
}

static struct lock_has *latest(const struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks.locks[lock], *twin = l->twin ? &m->locks.locks[l->twin] : l;

	return last_ns(&twin->has) > last_ns(&l->has) ? &twin->has : &l->has;
}

void holder_waits(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks.locks[lock];

	if (lock_is_waited_for(&m->locks, lock))
		return;
	l->has = (struct lock_has){0};
	if (l->twin)
		m->locks.locks[l->twin].has = (struct lock_has){0};
}

/* Who is said to have it now; what that one replaces is who had it before. */
static void set(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	struct lock_has *h = latest(m, lock), *own = &m->locks.locks[lock].has;
	uint32_t who = h->who, before = h->before;
	uint32_t task = cell_owner_task(who);

	if (task && task != cell_owner_task(owner))
		before = who;
	/* It is being handed over: who had it is known all the same. */
	*own = (struct lock_has){.who = owner,
				 .before = before,
				 .told_ns = ns,
				 .gone_ns = owner == OWNER_FREE ? ns : 0};
}

void holder_tell(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns)
{
	uint32_t task = cell_owner_task(owner);

	if (m->blame.max && task)
		blame_tell(m, lock, task, owner & OWNER_HINT, ns);
	if (lock < LOCK_TYPES || ns < last_ns(latest(m, lock)))
		return;
	set(m, lock, owner, ns);
}

void holder_got(struct model *m, const struct wait *w, uint64_t ns)
{
	enum lock_type type = (enum lock_type)m->locks.locks[w->lock].type;
	bool reads = locktype_is_reader(type);

	/* A reader of a percpu-rwsem keeps no task waiting. */
	if (w->lock < LOCK_TYPES || type == LOCK_PCPU_SEM_R || ns < last_ns(latest(m, w->lock)))
		return;
	set(m, w->lock, w->task ? w->task | (reads ? OWNER_HINT : 0) : OWNER_NONE, ns);
}

void holder_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	struct lock_has *h = latest(m, lock);

	if (task && cell_owner_task(h->who) == task && !h->gone_ns && ns >= h->told_ns)
		h->gone_ns = ns;
}

uint32_t holder_now(const struct model *m, const struct wait *w, uint64_t *ret_ns)
{
	const struct lock_has *h = latest(m, w->lock);

	*ret_ns = last_ns(h);
	if (!m->holders_told)
		return OWNER_NONE;
	if (w->lock < LOCK_TYPES)
		return w->told;
	/* What happened where records are missing may have been this. */
	if (h->told_ns < m->lost_until || cell_owner_task(h->who) == w->task)
		return OWNER_NONE;
	return h->gone_ns && h->who != OWNER_FREE ? OWNER_NONE : h->who;
}

uint32_t holder_last(const struct model *m, const struct wait *w)
{
	const struct lock_has *h = latest(m, w->lock);
	bool own = cell_owner_task(h->who) == w->task;
	uint32_t owner = own || !cell_owner_task(h->who) ? h->before : h->who;

	if (!m->holders_told || w->lock < LOCK_TYPES || !cell_owner_task(owner) ||
	    cell_owner_task(owner) == w->task || (h->gone_ns && h->gone_ns < w->begin_ns))
		return OWNER_NONE;
	return owner;
}

void holder_mark(struct model *m)
{
	for (uint32_t i = LOCK_TYPES; i < m->locks.n; i++) {
		struct lock_has *h = &m->locks.locks[i].has;
		if (lock_is_waited_for(&m->locks, i)) {
			m->tasks.tasks[cell_owner_task(h->who)].marked = 1;
			m->tasks.tasks[cell_owner_task(h->before)].marked = 1;
		} else {
			*h = (struct lock_has){0};
		}
	}
}
