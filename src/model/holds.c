// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the holder of a lock kept others waiting. A task that waited for a lock and got it is
 * its holder, until the next waiter gets it. That time is counted where it is known that the holder
 * held the lock for others: the next one waited already when the holder got it, so the lock went
 * from hand to hand, or a record reported, when it began to wait, that the lock was this holder's.
 * Otherwise the lock may have been free in between: such holds have no time, and only count as
 * acquisitions. A task that takes the lock without waiting is not seen; if it came in between, the
 * time is longer than the hold. So it is an upper bound.
 *
 * Readers hold a lock together: each of them until the next writer gets it, or until a record
 * reports that it has been back in user space. The latter count when the writer gets the lock, too:
 * only then it is known for whom that one waited. A lock has its holders as a list; those of the
 * other mode at its address hold it as well. Where records are missing, others may have had it:
 * what was got before is not followed.
 *
 * The time that all sure waits for a lock lose, from one change of their number to the next, is
 * charged to its holder meanwhile; readers share it. A holder that got it without waiting is known
 * only from a snapshot, or from the next waiter's owner: it is charged with all time since the lock
 * went from hand to hand.
 */
#include "kontend/holds.h"
#include "cell-int.h"
#include "holds-int.h"
#include "internal.h"
#include "kontend/cell-recent.h"
#include "kontend/damage.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include <errno.h>

enum {
	READERS_MOST = 64,    /* that are followed of a lock */
	HOLDS_MOST = 1 << 18, /* of all locks */
};

static uint32_t take_entry(struct holds *h)
{
	uint32_t index = h->free;

	if (index) {
		h->free = h->v[index].next;
		return index;
	}
	if (!h->n)
		h->n = 1;
	if (h->n >= HOLDS_MOST || mem_grow(&h->v, &h->cap, h->n, sizeof(*h->v)))
		return 0;
	return h->n++;
}

static void free_entry(struct holds *h, uint32_t index)
{
	h->v[index].next = h->free;
	h->free = index;
}

static struct cell *find_cell(struct model *m, const struct hold *h, uint32_t lock, bool exact)
{
	const struct cell_key key = {.lock = lock,
				     .stack = h->stack,
				     .task = h->task,
				     .owner = exact ? HOLD_EXACT : OWNER_NONE};
	struct cell *c = cell_get(m->held, key);

	if (c)
		return c;
	m->damage->folded += cell_fold(m->held, m->now_ns, fold_coarse_lock, m->locks);
	holds_done_forget(m);
	return cell_get(m->held, key);
}

/* The final charge of a hold. */
static void end_share(const struct lock *l, struct hold *h)
{
	h->waited_ns = l->share_ns - h->share_ns;
	h->since_ns = h->got_ns;
	h->alone_ns = l->share_time_ns - h->share_time_ns;
}

/* Was it @h for whom @next waited? */
static bool is_followed(const struct model *m, const struct hold *h, const struct wait *next)
{
	if (h->got_ns < m->lost_until || next->task == h->task)
		return false;
	if (next->begin_ns <= h->got_ns)
		return true;
	return h->task != TASK_OTHER && (next->reported == h->task || next->seen == h->task);
}

void holds_count(struct model *m, const struct hold *h, uint32_t lock, uint64_t end_ns, bool exact)
{
	uint64_t ns = end_ns > h->got_ns ? end_ns - h->got_ns : 0;
	struct cell *c = find_cell(m, h, lock, exact);

	m->holds->known++;
	m->holds->exact += exact;
	m->holds->charged_ns += h->waited_ns;
	if (m->holds->watch)
		m->holds->watch->reported(m->holds->watch,
					  &(const struct hold_reported){h, lock, end_ns, exact});
	if (!c || cell_add(m->held, c, ns, h->waited_ns, end_ns)) {
		m->damage->folded++;
		return;
	}
	holds_note(m, h, c, end_ns);
	cell_wait(m->held, c, h->waited_ns);
	cell_recent_part(m->held, c, h->waited_ns - ns);
}

/* Until now so many have waited. */
static void wait_on(struct model *m, struct lock *l)
{
	uint64_t ns = m->now_ns > l->reported_ns ? (m->now_ns - l->reported_ns) * l->n_sure : 0;

	l->reported_ns = m->now_ns > l->reported_ns ? m->now_ns : l->reported_ns;
	l->waited_ns += ns;
	m->holds->waited_ns += ns;
}

void holds_waits(struct model *m, uint32_t lock, int n)
{
	struct lock *l = &m->locks->locks[lock];

	wait_on(m, l);
	if (!l->n_sure) {
		const struct lock *twin = l->twin ? &m->locks->locks[l->twin] : NULL;
		l->waits_ns = twin && twin->n_sure ? twin->waits_ns : m->now_ns;
	}
	l->n_sure += (uint32_t)n;
}

/* Charges the holders with the time waited since the last charge. Returns that time. */
static uint64_t charge(struct model *m, struct lock *l)
{
	struct lock *twin = l->twin ? &m->locks->locks[l->twin] : NULL;

	wait_on(m, l);
	if (twin)
		wait_on(m, twin);
	uint64_t all = l->waited_ns + (twin ? twin->waited_ns : 0), ns = all - l->charged_ns;

	l->charged_ns = all;
	l->share_from_ns = l->share_at_ns;
	if (l->n_holds) {
		uint64_t left = ns + l->share_rest;
		if (m->now_ns > l->share_at_ns)
			l->share_time_ns += (m->now_ns - l->share_at_ns) / l->n_holds;
		l->share_ns += left / l->n_holds;
		l->share_rest = (uint32_t)(left % l->n_holds);
	}
	l->share_at_ns = m->now_ns;
	return ns;
}

uint64_t holds_charge(struct model *m, uint32_t lock)
{
	return charge(m, &m->locks->locks[lock]);
}

/* Of @task, of the lock in either mode; NULL: it is not known to have it. */
static struct hold *open_hold(const struct model *m, uint32_t lock, uint32_t task)
{
	const uint32_t modes[] = {lock, m->locks->locks[lock].twin};

	for (size_t k = 0; k < sizeof(modes) / sizeof(*modes) && modes[k]; k++)
		for (uint32_t i = m->locks->locks[modes[k]].holds; i; i = m->holds->v[i].next)
			if (m->holds->v[i].task == task && !m->holds->v[i].gone_ns)
				return &m->holds->v[i];
	return NULL;
}

uint32_t holds_stack(const struct model *m, uint32_t lock, uint32_t task)
{
	const struct hold *h = open_hold(m, lock, task);

	return h ? h->stack : STACK_OTHER;
}

/* A hold that is over is in its cell. */
void holds_give(struct model *m, uint32_t lock, uint32_t task, uint32_t stack, uint64_t ns)
{
	struct cell_key key = {.lock = lock, .stack = stack, .task = task};
	struct hold *h = task == TASK_OTHER ? NULL : open_hold(m, lock, task);

	m->holds->waited_ns += ns;
	if (h)
		h->share_ns -= ns;
	if (h || task == TASK_OTHER)
		return;
	if (locktype_is_reader((enum lock_type)m->locks->locks[lock].type))
		key.lock = m->locks->locks[lock].twin;
	uint32_t at = cell_prefetch(m->held, key);
	if (at < m->held->n && cell_is(&m->held->cells[at], &key) &&
	    cell_give(m->held, &m->held->cells[at], ns) == 0)
		m->holds->charged_ns += ns;
}

static void let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	struct lock *l = &m->locks->locks[lock];

	for (uint32_t i = l->holds; i; i = m->holds->v[i].next) {
		struct hold *h = &m->holds->v[i];
		if (h->task != task || h->gone_ns || ns < h->got_ns)
			continue;
		charge(m, l);
		end_share(l, h);
		h->gone_ns = ns;
		l->n_holds--;
		return;
	}
}

void holds_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	uint32_t twin = m->locks->locks[lock].twin;

	if (!m->held->max || lock < LOCK_TYPES || task == TASK_OTHER)
		return;
	if (!locktype_is_reader((enum lock_type)m->locks->locks[lock].type))
		lock = twin;
	if (lock)
		let_go(m, lock, task, ns);
}

bool holds_take_out(struct model *m, uint32_t lock, uint32_t task, struct hold *ret)
{
	struct lock *l = &m->locks->locks[lock];

	for (uint32_t *at = &l->holds; *at; at = &m->holds->v[*at].next) {
		uint32_t index = *at;
		if (m->holds->v[index].task != task || m->holds->v[index].gone_ns)
			continue;
		*ret = m->holds->v[index];
		end_share(l, ret);
		*at = ret->next;
		free_entry(m->holds, index);
		l->n_holds--;
		return true;
	}
	return false;
}

/* The latest possible end of the hold. A reader that has exited meanwhile had released it by
 * then. */
static uint64_t end_of(const struct model *m, const struct hold *h, uint32_t lock, uint64_t ns)
{
	const struct task *t = &m->tasks->tasks[h->task];
	bool reads = locktype_is_reader((enum lock_type)m->locks->locks[lock].type);

	if (h->gone_ns)
		return h->gone_ns;
	return reads && task_ended_until(t, ns) && t->exit_ns > h->got_ns ? t->exit_ns : ns;
}

/* Takes out the first hold of a lock that has one, with its final charge. */
static struct hold pop_hold(struct model *m, struct lock *l)
{
	uint32_t index = l->holds;
	struct hold h = m->holds->v[index];

	l->holds = h.next;
	l->n_holds -= !h.gone_ns;
	if (!h.gone_ns)
		end_share(l, &h);
	free_entry(m->holds, index);
	return h;
}

/* Ends the holds, as @next has got the lock; NULL: as the holder is not known. */
static void release(struct model *m, uint32_t lock, const struct wait *next, uint64_t ns)
{
	struct lock *l = &m->locks->locks[lock];

	while (l->holds) {
		struct hold h = pop_hold(m, l);
		if (next && is_followed(m, &h, next))
			holds_count(m, &h, lock, end_of(m, &h, lock, ns), false);
	}
}

uint32_t holds_reported(const struct wait *next)
{
	uint32_t at_begin = next->reported & OWNER_HINT ? OWNER_NONE : next->reported;
	uint32_t seen = next->seen & OWNER_HINT ? OWNER_NONE : next->seen & ~OWNER_EVIDENT;
	uint32_t both = at_begin && seen && at_begin != seen ? OWNER_NONE : at_begin | seen;
	uint32_t task = cell_owner_task(both);

	return task == next->task ? TASK_OTHER : task;
}

/* @waited_ns is because of @task, which had the lock since @got_ns, but had not waited for it. */
static void charge_task(struct model *m, uint32_t lock, struct hold h, uint64_t ns)
{
	enum lock_type type = (enum lock_type)m->locks->locks[lock].type;

	h.stack = STACK_OTHER;
	h.since_ns = m->locks->locks[lock].share_from_ns;
	h.alone_ns = ns > h.since_ns ? ns - h.since_ns : 0;
	if (h.task == TASK_OTHER)
		return;
	/* A sure one is a writer. */
	if (locktype_is_reader(type))
		lock = lock_get(m->locks, m->locks->locks[lock].addr, locktype_twin(type));
	holds_count(m, &h, lock, ns, false);
}

/* Charges the reported holder with all time since the lock was got last, @waited_ns. */
static void charge_reported(struct model *m, const struct wait *next, uint64_t waited_ns,
			    uint64_t ns)
{
	charge_task(m, next->lock,
		    (struct hold){.got_ns = next->begin_ns,
				  .task = holds_reported(next),
				  .waited_ns = waited_ns},
		    ns);
}

void holds_forget(struct model *m, uint32_t lock)
{
	struct lock *l = &m->locks->locks[lock];

	while (l->holds) {
		uint32_t index = l->holds;
		l->holds = m->holds->v[index].next;
		free_entry(m->holds, index);
	}
	l->n_holds = 0;
}

/* A writer had the lock while @next waited: who had read before has let go of it unseen. */
static void forget_reported(struct model *m, struct lock *l, const struct wait *next)
{
	uint32_t *at = &l->holds;

	if (holds_reported(next) == TASK_OTHER)
		return;
	while (*at) {
		uint32_t index = *at;
		struct hold *h = &m->holds->v[index];
		if (h->got_ns >= next->begin_ns) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		l->n_holds -= !h->gone_ns;
		free_entry(m->holds, index);
	}
}

static void add_hold(struct model *m, struct lock *l, struct hold h)
{
	uint32_t index = l->n_holds < READERS_MOST ? take_entry(m->holds) : 0;

	if (!index)
		return;
	h.next = l->holds;
	m->holds->v[index] = h;
	l->holds = index;
	l->n_holds++;
}

/* The hand-over has ended. The time waited meanwhile goes to the task that got it now. */
static bool take_free(struct model *m, uint32_t lock, struct hold *ret)
{
	uint32_t first = m->locks->locks[lock].holds;

	if (!first || !m->holds->v[first].free)
		return false;
	*ret = m->holds->v[first];
	holds_forget(m, lock);
	return true;
}

/* Since when sure waits for the lock, of either mode, have continued without a break. */
static uint64_t waits_since(const struct model *m, const struct lock *l)
{
	const struct lock *twin = l->twin ? &m->locks->locks[l->twin] : l;
	uint64_t since = l->n_sure ? l->waits_ns : UINT64_MAX;

	return twin->n_sure && twin->waits_ns < since ? twin->waits_ns : since;
}

/*
 * None of its holders has it any more; another task was reported to have it. Is one counted? Those
 * that got it before the tasks of now began to wait may have let go of it unseen.
 */
static bool end_all(struct model *m, uint32_t lock, uint32_t reported, uint64_t ns)
{
	struct lock *l = &m->locks->locks[lock];
	uint64_t since = waits_since(m, l);
	bool is_counted = false;

	while (l->holds) {
		struct hold h = pop_hold(m, l);
		if (h.free || h.got_ns < m->lost_until ||
		    (since > h.got_ns && (!reported || reported != h.task)))
			continue;
		holds_count(m, &h, lock, end_of(m, &h, lock, ns), false);
		is_counted = true;
	}
	return is_counted;
}

/* Since when the reported holder has held the lock for sure: @next, which waits for it, may have
 * seen it when it began to wait. */
static uint64_t reported_since(const struct model *m, uint32_t lock, const struct lock_has *was,
			       uint32_t reported, uint32_t next)
{
	const struct wait *w = next ? holder_wait_at(m, next, m->locks->locks[lock].addr) : NULL;

	return w && holds_reported(w) == reported && w->begin_ns < was->reported_ns
		       ? w->begin_ns
		       : was->reported_ns;
}

/* The holder of before gives way to the one that is reported; false: that is no news. */
static bool end_before(struct model *m, uint32_t lock, const struct lock_has *was, bool free,
		       uint32_t task, uint64_t ns)
{
	struct lock *l = &m->locks->locks[lock];
	uint32_t twin = l->twin, first = l->holds ? l->holds
					 : twin	  ? m->locks->locks[twin].holds
						  : 0;
	uint32_t reported = was->gone_ns || was->who & OWNER_HINT ? 0 : cell_owner_task(was->who);
	const struct hold *h = first ? &m->holds->v[first] : NULL;
	bool is_reported = h && h->free == free && h->task == task;

	bool is_over =
		h && (h->free || h->seen ||
		      (holder_wait_at(m, h->task, l->addr) && h->got_ns >= waits_since(m, l)));

	/* A holder that is reported for the first time may have had the lock for any time. */
	if (is_reported || (!free && !is_over && (!reported || reported == task)))
		return false;
	uint64_t waited_ns = charge(m, l);
	if (twin)
		charge(m, &m->locks->locks[twin]);
	uint64_t since_ns = reported ? reported_since(m, lock, was, reported, task) : 0;
	bool is_counted = end_all(m, lock, reported, ns);
	if (twin)
		is_counted |= end_all(m, twin, reported, ns);
	if (!is_counted && reported)
		charge_task(
			m, lock,
			(struct hold){.got_ns = since_ns, .task = reported, .waited_ns = waited_ns},
			ns);
	return true;
}

void holds_seen(struct model *m, uint32_t lock, const struct lock_has *was, uint32_t owner,
		uint64_t ns)
{
	bool free = cell_owner_is_free(owner);
	uint32_t task = free ? cell_owner_next(owner) : cell_owner_task(owner);
	const struct wait *w = task ? holder_wait_at(m, task, m->locks->locks[lock].addr) : NULL;
	enum lock_type type = (enum lock_type)m->locks->locks[lock].type;

	if (lock < LOCK_TYPES || (!free && (owner & OWNER_HINT || !task)) ||
	    !end_before(m, lock, was, free, task, ns) || !task)
		return;
	if (w)
		lock = w->lock;
	else if (locktype_is_reader(type))
		lock = lock_get(m->locks, m->locks->locks[lock].addr, locktype_twin(type));
	struct lock *l = &m->locks->locks[lock];
	add_hold(m, l,
		 (struct hold){.got_ns = ns,
			       .stack = w ? w->stack : STACK_OTHER,
			       .task = task,
			       .free = free,
			       .seen = !free,
			       .share_ns = l->share_ns,
			       .share_time_ns = l->share_time_ns});
}

void holds_got(struct model *m, const struct wait *w, uint64_t ns)
{
	const struct lock *of = &m->locks->locks[w->lock];
	const struct wait *next = w->doubtful ? NULL : w;
	uint64_t known = m->holds->known, waited_ns;
	struct hold free = {0};

	if (w->lock < LOCK_TYPES)
		return;
	waited_ns = charge(m, &m->locks->locks[w->lock]);
	if (of->twin)
		charge(m, &m->locks->locks[of->twin]);
	bool was_free = take_free(m, w->lock, &free), goes_on = was_free && free.task == w->task;
	if (of->twin)
		was_free |= take_free(m, of->twin, &free);
	bool is_reported = release_got(m, w, ns);
	if (of->twin)
		release(m, of->twin, next, ns);
	if (!locktype_is_reader(of->type))
		release(m, w->lock, next, ns);
	else if (next)
		forget_reported(m, &m->locks->locks[w->lock], next);
	m->holds->got++;
	if (next && !is_reported && !was_free && known == m->holds->known && !of->n_holds)
		charge_reported(m, next, waited_ns, ns);
	struct lock *l = &m->locks->locks[w->lock]; /* they may have moved */
	/* A reader of a percpu-rwsem keeps no task waiting. */
	bool is_holder = next && l->type != LOCK_PCPU_SEM_R;
	if (is_holder)
		add_hold(m, l,
			 (struct hold){.got_ns = ns,
				       .stack = w->stack,
				       .task = w->task,
				       .share_ns = goes_on ? free.share_ns : l->share_ns,
				       .share_time_ns =
					       goes_on ? free.share_time_ns : l->share_time_ns});
}

/* A task that has ended holds nothing, and a hold must not keep its entry. */
static void forget_ended(struct model *m, struct lock *l)
{
	uint32_t *at = &l->holds;

	while (*at) {
		uint32_t index = *at;
		struct hold *h = &m->holds->v[index];
		if (!task_ended_until(&m->tasks->tasks[h->task], UINT64_MAX)) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		l->n_holds -= !h->gone_ns;
		free_entry(m->holds, index);
	}
}

static void mark_cells(struct model *m, const struct cell_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		m->locks->locks[c->lock].marked = 1;
		m->stacks->stacks[c->stack].marked = 1;
		m->tasks->tasks[c->task].marked = 1;
	}
}

void holds_mark(struct model *m)
{
	holds_done_forget(m);
	mark_cells(m, m->held);
	mark_cells(m, m->handed);
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++) {
		struct lock *l = &m->locks->locks[i];
		if (!l->marked)
			holds_forget(m, i);
		forget_ended(m, l);
		release_mark(m, l);
		for (uint32_t h = l->holds; h; h = m->holds->v[h].next) {
			m->stacks->stacks[m->holds->v[h].stack].marked = 1;
			m->tasks->tasks[m->holds->v[h].task].marked = 1;
		}
	}
}

void holds_zero(struct model *m)
{
	cell_table_clear(m->held);
	cell_table_clear(m->handed);
	for (size_t i = 0; m->held->max && i < m->locks->n; i++) {
		struct lock *l = &m->locks->locks[i];
		charge(m, l);
		for (uint32_t h = l->holds; h; h = m->holds->v[h].next)
			m->holds->v[h].share_ns = l->share_ns;
	}
	holds_done_forget(m);
	m->holds->got = m->holds->known = m->holds->exact = 0;
	m->holds->waited_ns = m->holds->charged_ns = m->holds->doubtful_ns = 0;
}

int holds_copy(struct holds *dst, const struct holds *src)
{
	*dst = *src;
	dst->watch = NULL;
	dst->cap = src->n;
	dst->v = src->n ? mem_dup(src->v, src->n, sizeof(*src->v)) : NULL;
	dst->cap_done = src->n_done;
	dst->done = src->n_done ? mem_dup(src->done, src->n_done, sizeof(*src->done)) : NULL;
	return (!src->n || dst->v) && (!src->n_done || dst->done) ? 0 : -ENOMEM;
}
