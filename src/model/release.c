// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses lock:contended_release, which kernels have from 7.x on: a task releases a lock while others
 * are in its queue. So it is known when a hold has ended, and not only that it was over when the
 * next one had the lock; the time between the two is the hand-over. Holders that never waited are
 * known, too.
 *
 * Since when? At any moment without a release since a task has been in the queue, the holder was
 * the same. So the exact time is from when the holder got the lock, or from when the first of an
 * unbroken row of waiters came, whichever was later. A mutex reports waiters that spin, but no
 * release while no task sleeps in its queue: time held before the first one slept is only an upper
 * bound. So is time held since others came, where not all tasks are measured: one that is not may
 * have released it meanwhile.
 *
 * The kernel reports some releases right after others may have got the lock. Then the next one has
 * it already (`due`), and the late event adds nothing. Releases by readers and writers look alike:
 * of tasks that never waited for a reader-writer lock only the first release in a row counts, as
 * the next one to release may have held it at the same time or after. Any task may give a counting
 * semaphore back.
 */
#include "internal.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/hash.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"

/* Both modes of a lock; the other NULL: it has but one, or only one was waited for. */
struct modes {
	struct lock *l, *other;
};

static struct modes modes_of(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock];

	return (struct modes){l, l->twin ? &m->locks->locks[l->twin] : NULL};
}

void release_queue(struct model *m, struct wait *w)
{
	struct modes of = modes_of(m, w->lock);
	bool spins = w->flags & LCB_F_SPIN && w->flags & LCB_F_MUTEX;

	if (w->queued || spins)
		return;
	w->queued = true;
	if (!of.l->n_queued++)
		of.l->queue_ns = of.other && of.other->n_queued ? of.other->queue_ns : m->now_ns;
}

void release_unqueue(struct model *m, struct wait *w)
{
	if (!w->queued)
		return;
	w->queued = false;
	m->locks->locks[w->lock].n_queued--;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Since when tasks have waited without a break; 0: none waits. */
static uint64_t waits_since(const struct modes *of)
{
	return earlier(of->l->n_sure ? of->l->waits_ns : 0,
		       of->other && of->other->n_sure ? of->other->waits_ns : 0);
}

/* The same of the queue. */
static uint64_t queue_since(const struct modes *of)
{
	return earlier(of->l->n_queued ? of->l->queue_ns : 0,
		       of->other && of->other->n_queued ? of->other->queue_ns : 0);
}

static struct lock_freed freed_of(const struct modes *of)
{
	return of->other && of->other->freed.ns > of->l->freed.ns ? of->other->freed : of->l->freed;
}

static uint64_t got_of(const struct modes *of)
{
	return of->other && of->other->got_ns > of->l->got_ns ? of->other->got_ns : of->l->got_ns;
}

static bool is_due(const struct modes *of)
{
	return of->l->due || (of->other && of->other->due);
}

static void set_due(const struct modes *of, bool due)
{
	of->l->due = due;
	if (of->other)
		of->other->due = due;
}

/* The lock at @addr, as most are let go of again and again; 0: it is not known which. */
static uint32_t find_lock(struct model *m, uint64_t addr)
{
	uint32_t *met = &m->holds->met[hash_u64(addr) % HOLDS_MET];
	const struct lock *l = *met < m->locks->n ? &m->locks->locks[*met] : NULL;

	if (l && *met && l->addr == addr && !l->over && !l->many)
		return lock_is_waited_for(m->locks, *met) ? *met : 0;
	*met = lock_waited_at(m->locks, addr);
	return *met;
}

/* From then on no holder is known, until the next one gets it. */
static void let_go(struct model *m, uint32_t lock, const struct hold *h, uint64_t ns)
{
	m->locks->locks[lock].freed = (struct lock_freed){ns, h->stack, h->task};
}

/* @h->got_ns: no other task has had it since. */
static void count_release(struct model *m, uint32_t lock, struct hold *h, uint64_t ns)
{
	struct modes of = modes_of(m, lock);
	uint64_t since = waits_since(&of), queued = queue_since(&of);
	bool exact = !h->seen && (since <= h->got_ns || looks_of_all(m));

	if (since > h->got_ns)
		h->got_ns = since;
	if (queued && h->got_ns >= m->lost_until)
		holds_count(m, h, lock, ns, exact && queued <= h->got_ns);
}

/* A task that had waited for it releases it. */
static bool known_lets_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	uint32_t twin = m->locks->locks[lock].twin;
	struct hold h;

	if (!holds_take_out(m, lock, task, &h)) {
		if (!twin || !holds_take_out(m, twin, task, &h))
			return false;
		lock = twin;
	}
	struct modes of = modes_of(m, lock);
	set_due(&of, false);
	count_release(m, lock, &h, ns);
	let_go(m, lock, &h, ns);
	return true;
}

/* In which mode it had the lock is not said: as one who writes. */
static uint32_t writers_of(struct model *m, uint32_t lock)
{
	const struct lock *l = &m->locks->locks[lock];

	return locktype_is_reader(l->type)
		       ? lock_get(m->locks, l->addr, locktype_twin((enum lock_type)l->type))
		       : lock;
}

/* A task that had not waited releases it: it had it since no other task can have had it. */
static void other_lets_go(struct model *m, uint32_t lock, struct hold *h, uint64_t ns)
{
	struct modes of = modes_of(m, lock);
	struct lock_freed freed = freed_of(&of);
	uint64_t since = queue_since(&of), got = got_of(&of);
	uint32_t holders = of.l->n_holds + (of.other ? of.other->n_holds : 0);
	bool shared = locktype_twin((enum lock_type)of.l->type) != (enum lock_type)of.l->type;

	if (is_due(&of) || !since) {
		set_due(&of, false);
		return;
	}
	if (!freed.ns && got >= since) {
		/* The lock is another one's; or this is one more reader. */
		if (holders && locktype_is_reader(of.l->n_holds ? of.l->type : of.other->type))
			let_go(m, lock, h, ns);
		return;
	}
	/* The holder before has released it when no task waited. */
	holds_forget(m, lock);
	if (of.l->twin)
		holds_forget(m, of.l->twin);
	h->got_ns = freed.ns > got ? freed.ns : got;
	if (of.l->type != LOCK_SEMAPHORE && (freed.ns < since || !shared)) {
		uint32_t as = writers_of(m, lock);
		bool barged = freed.ns >= since;
		if (barged && freed.ns >= m->lost_until)
			holds_count(m, h, as, ns, false);
		else if (!barged)
			count_release(m, as, h, ns);
	}
	let_go(m, lock, h, ns);
}

/* A task that releases a lock has had it; of two modes the event does not name one. */
static void report_blame(struct model *m, uint32_t lock, uint32_t task)
{
	enum lock_type type = (enum lock_type)m->locks->locks[lock].type;

	if (m->blame->max && task != TASK_OTHER && locktype_twin(type) == type)
		blame_report(m, lock, task, false, UINT64_MAX);
	holder_let_go(m, lock, task, m->now_ns);
}

void release_event(struct model *m, const struct event *ev)
{
	uint32_t lock = find_lock(m, ev->release.lock);

	m->holds->releases++;
	if (lock < LOCK_TYPES)
		return;
	struct hold h = {.stack = STACK_OTHER};
	uint64_t waited_ns = holds_charge(m, lock);
	if (m->locks->locks[lock].twin)
		holds_charge(m, m->locks->locks[lock].twin);
	fold_if_full(m);
	h.task = task_get_quickly(m->tasks, ev->pid, ev->tid);
	report_blame(m, lock, h.task);
	if (h.task == TASK_OTHER || known_lets_go(m, lock, h.task, ev->time))
		return;
	h.waited_ns = waited_ns;
	h.since_ns = m->locks->locks[lock].share_from_ns;
	h.alone_ns = ev->time > h.since_ns ? ev->time - h.since_ns : 0;
	other_lets_go(m, lock, &h, ev->time);
}

static void count_handed(struct model *m, uint32_t lock, const struct lock_freed *freed,
			 uint64_t ns)
{
	const struct cell_key key = {.lock = lock, .stack = freed->stack, .task = freed->task};
	struct cell *c = cell_get(m->handed, key);

	if (!c) {
		cell_fold(m->handed, m->now_ns, fold_coarse_lock, m->locks);
		c = cell_get(m->handed, key);
	}
	if (c)
		(void)cell_add(m->handed, c, ns, ns, freed->ns + ns);
}

bool release_got(struct model *m, const struct wait *w, uint64_t ns)
{
	struct modes of = modes_of(m, w->lock);
	struct lock_freed freed = freed_of(&of);
	bool reads = locktype_is_reader(of.l->type),
	     by_twin = of.other && of.other->freed.ns == freed.ns;
	uint32_t holders = of.l->n_holds + (of.other ? of.other->n_holds : 0);
	uint64_t since = waits_since(&of);

	of.l->got_ns = ns;
	of.l->freed.ns = 0;
	if (of.other)
		of.other->freed.ns = 0;
	if (!freed.ns) {
		/* Readers get it together, by one release. */
		if (w->queued && (!reads || !holders))
			set_due(&of, true);
		return false;
	}
	set_due(&of, false);
	/* Readers of before: who reads now has got it from a writer, before them or beside them. */
	if (holders || (reads && !by_twin) || w->doubtful || since > freed.ns ||
	    freed.ns < m->lost_until || ns < freed.ns)
		return true;
	count_handed(m, by_twin ? of.l->twin : w->lock, &freed, ns - freed.ns);
	lockqueue_handed(m, w->lock, ns - freed.ns);
	return true;
}

/* A task that has ended must not keep its entry by it. */
void release_mark(struct model *m, struct lock *l)
{
	if (!l->marked || !l->freed.ns)
		return;
	if (task_ended_until(&m->tasks->tasks[l->freed.task], UINT64_MAX))
		l->freed.task = TASK_OTHER;
	m->stacks->stacks[l->freed.stack].marked = 1;
	m->tasks->tasks[l->freed.task].marked = 1;
}
