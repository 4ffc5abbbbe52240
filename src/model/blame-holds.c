// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders of each lock, and the locks for which they wait: holds, and their links to nodes
 * (blame.c). Before a hold or a link changes, its node is settled. The number of holds of a task,
 * and of waits at a node, is bounded, so that no recording makes an event go through more: beyond
 * that a holder is like one that is not known by name, or that waits for nothing.
 */
#include "blame-int.h"
#include "holds-int.h"
#include "internal.h"
#include "kontend/blame.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/userlock.h"
#include "kontend/wait.h"
#include "user-releases.h"

enum {
	READERS_MOST = 8,     /* of a node that are kept */
	STEPS_MOST = 32,      /* of a chain that are looked at for a circle */
	OF_TASK_MOST = 64,    /* locks of one task */
	CHILDREN_MOST = 1024, /* holds of those who wait at one node */
};

/* Links: what a hold waits for. */

static void forget_circle(struct blame *b, uint32_t hold)
{
	uint32_t at = 0;

	while (at < b->n_circles && b->circles[at] != hold)
		at++;
	if (at < b->n_circles)
		b->circles[at] = b->circles[--b->n_circles];
	b->holds[hold].circle = false;
}

static void unlink_hold(struct model *m, uint32_t hold)
{
	struct blame_hold *h = &m->blame->holds[hold];
	uint32_t *place;

	if (h->circle)
		forget_circle(m->blame, hold);
	if (!h->blocked)
		return;
	blame_at(m, h->blocked)->n_children--;
	place = &blame_at(m, h->blocked)->children;
	while (*place && *place != hold)
		place = &m->blame->holds[*place].beside;
	if (*place)
		*place = h->beside;
	h->blocked = h->beside = 0;
}

/* Does the chain of holders and their waits lead from @from to @node? */
static bool leads_to(const struct model *m, uint32_t from, uint32_t node)
{
	const struct blame *b = m->blame;

	for (int steps = 0; from && steps < STEPS_MOST; steps++) {
		uint32_t next = 0;
		if (from == node)
			return true;
		for (uint32_t i = b->nodes[from].holds; i && !next; i = b->holds[i].next)
			next = b->holds[i].circle ? 0 : b->holds[i].blocked;
		from = next;
	}
	return false;
}

void blame_link(struct model *m, uint32_t hold, uint32_t blocked)
{
	struct blame_hold *h = &m->blame->holds[hold];

	unlink_hold(m, hold);
	if (!blocked || blame_at(m, blocked)->n_children >= CHILDREN_MOST)
		return;
	if (leads_to(m, blocked, h->node)) {
		if (m->blame->n_circles >= BLAME_CIRCLES)
			return;
		m->blame->circles[m->blame->n_circles++] = hold;
		h->circle = true;
	}
	blame_at(m, blocked)->n_children++;
	h->blocked = blocked;
	h->beside = blame_at(m, blocked)->children;
	blame_at(m, blocked)->children = hold;
}

/* After a link has gone: what was a circle may be none any more. */
void blame_open_circles(struct model *m)
{
	struct blame *b = m->blame;

	for (uint32_t i = b->n_circles; i-- > 0;) {
		uint32_t hold = b->circles[i];
		if (leads_to(m, b->holds[hold].blocked, b->holds[hold].node))
			continue;
		blame_settle(m, b->holds[hold].node);
		forget_circle(b, hold);
	}
}

/* The node that the task of a hold waits for, other than in @but; 0: none. */
uint32_t blame_waited_for(struct model *m, const struct blame_hold *h, const struct wait *but)
{
	const struct task *t = &m->tasks->tasks[h->task];

	for (uint32_t i = h->task == TASK_OTHER ? 0 : t->depth; i-- > 0;) {
		const struct wait *w = &m->waits->waits[t->waits[i]];
		uint32_t node = w != but && !w->doubtful && w->begin_ns >= h->got_ns
					? blame_node_of(m, w->lock)
					: 0;
		if (node && !(h->taking && node == h->node))
			return node;
	}
	return 0;
}

/* Holds. */

static void forget_hold(struct model *m, uint32_t hold)
{
	struct blame *b = m->blame;
	struct task *t = &m->tasks->tasks[b->holds[hold].task];
	uint32_t *place = &t->blame;

	unlink_hold(m, hold);
	while (*place && *place != hold)
		place = &b->holds[*place].of_task;
	if (*place)
		*place = b->holds[hold].of_task;
	/* The state of a task is reported only while it has a lock. */
	if (!t->blame)
		t->did = BLAME_NOT_FOLLOWED;
	blame_put_hold(b, hold);
}

/* The charges stay. */
void blame_take_off(struct model *m, uint32_t hold)
{
	struct blame_node *n = blame_at(m, m->blame->holds[hold].node);
	uint32_t *place = &n->holds;

	while (*place && *place != hold)
		place = &m->blame->holds[*place].next;
	if (*place)
		*place = m->blame->holds[hold].next;
	forget_hold(m, hold);
	n->since_ns = m->now_ns;
	blame_open_circles(m);
}

void blame_drop_holds(struct model *m, uint32_t node)
{
	struct blame_node *n = blame_at(m, node);

	while (n->holds) {
		uint32_t hold = n->holds;
		n->holds = m->blame->holds[hold].next;
		forget_hold(m, hold);
	}
	n->since_ns = m->now_ns;
	blame_open_circles(m);
}

/* Too many to be kept apart: one hold stands for them. */
static bool join_others(struct model *m, uint32_t node, uint32_t lock)
{
	struct blame *b = m->blame;
	uint32_t n = 0, others = 0;

	for (uint32_t i = blame_at(m, node)->holds; i; i = b->holds[i].next) {
		others = b->holds[i].task == TASK_OTHER && b->holds[i].lock == lock ? i : others;
		n++;
	}
	if (n < READERS_MOST || !others)
		return false;
	if (b->holds[others].weight < UINT16_MAX)
		b->holds[others].weight++;
	return true;
}

static uint32_t count_of_task(const struct model *m, uint32_t task)
{
	uint32_t n = 0;

	for (uint32_t i = m->tasks->tasks[task].blame; i; i = m->blame->holds[i].of_task)
		n++;
	return n;
}

uint32_t blame_add_hold(struct model *m, uint32_t node, uint32_t task, uint32_t lock)
{
	struct blame *b = m->blame;
	uint32_t n = 0;

	for (uint32_t i = blame_at(m, node)->holds; i; i = b->holds[i].next)
		n++;
	if (n >= READERS_MOST && join_others(m, node, lock))
		return 0;
	if (n >= READERS_MOST || (task != TASK_OTHER && count_of_task(m, task) >= OF_TASK_MOST))
		task = TASK_OTHER;
	uint32_t hold = blame_new_hold(b);
	if (!hold)
		return 0;
	struct blame_hold *h = &b->holds[hold];
	struct task *t = &m->tasks->tasks[task];
	h->node = node;
	h->task = task;
	h->lock = lock;
	h->state = BLAME_NOT_FOLLOWED;
	h->next = blame_at(m, node)->holds;
	blame_at(m, node)->holds = hold;
	if (task != TASK_OTHER) {
		h->of_task = t->blame;
		t->blame = hold;
	}
	return hold;
}

void blame_change(struct model *m, uint32_t task, uint32_t state, uint32_t why)
{
	struct task *t = &m->tasks->tasks[task];

	for (uint32_t i = t->blame; i; i = m->blame->holds[i].of_task) {
		if (m->blame->holds[i].state == state && m->blame->holds[i].why == why)
			continue;
		blame_settle(m, m->blame->holds[i].node);
		m->blame->holds[i].state = (uint8_t)state;
		m->blame->holds[i].why = why;
	}
	t->did = (uint8_t)state;
	t->why = why;
}

/* The time that is not charged yet, and in which its state was not known, is of this one, too. */
void blame_see_holder(struct model *m, uint32_t task, uint32_t state, uint32_t why)
{
	const struct task *t = &m->tasks->tasks[task];

	for (uint32_t i = t->blame; i; i = m->blame->holds[i].of_task) {
		uint32_t lock = m->blame->holds[i].lock;
		enum lock_type type = (enum lock_type)m->locks->locks[lock].type;
		if (!locktype_is_file(type) && !locktype_is_user(type))
			return;
	}
	for (uint32_t i = t->blame; i; i = m->blame->holds[i].of_task) {
		struct blame_hold *h = &m->blame->holds[i];
		if (h->state == BLAME_NOT_FOLLOWED) {
			h->state = (uint8_t)state;
			h->why = why;
		}
	}
	/* It still runs, and samples say where. */
	if (state == BLAME_RUNNING && t->did == BLAME_RUNNING)
		why = t->why;
	if (t->blame)
		blame_change(m, task, state, why);
}

bool blame_has_hold(const struct model *m, uint32_t node, uint32_t task)
{
	for (uint32_t i = m->blame->nodes[node].holds; i; i = m->blame->holds[i].next)
		if (m->blame->holds[i].task == task)
			return true;
	return false;
}

/* The holder itself is charged with the part of the sum from before it began to wait. */
static void charge_before(struct model *m, uint32_t hold, uint32_t blocked, uint64_t since_ns)
{
	const struct blame_hold *h = &m->blame->holds[hold];
	const struct task *t = &m->tasks->tasks[h->task];
	uint64_t begin_ns = m->now_ns;

	for (uint32_t i = 0; i < t->depth; i++) {
		const struct wait *w = &m->waits->waits[t->waits[i]];
		if (m->locks->locks[w->lock].blame == blocked && w->begin_ns < begin_ns)
			begin_ns = w->begin_ns;
	}
	if (begin_ns > since_ns && m->now_ns > since_ns)
		blame_charge_part(m, h->node,
				  (uint32_t)((double)(begin_ns - since_ns) /
					     (double)(m->now_ns - since_ns) * BLAME_WHOLE));
}

/* A snapshot saw the task with the lock for which it waited; the end of the wait is not reported
 * yet. */
static bool has_just_got(const struct model *m, uint32_t task, uint32_t lock, uint64_t seen_ns)
{
	const struct wait *w = task && seen_ns != UINT64_MAX
				       ? holder_wait_at(m, task, m->locks->locks[lock].addr)
				       : NULL;

	return w && !w->doubtful && w->begin_ns <= seen_ns;
}

/* As records say, or of the lock of a program as the latest snapshot does. */
static void put_state(const struct model *m, struct blame_hold *h, uint64_t addr)
{
	const struct task *t = &m->tasks->tasks[h->task];

	h->state = t->did ? t->did : BLAME_NOT_FOLLOWED;
	h->why = t->why;
	if (h->state == BLAME_NOT_FOLLOWED && userlock_is(addr))
		h->state = (uint8_t)user_release_state(m, addr, &h->why);
}

static void report_hold(struct model *m, uint32_t node, uint32_t lock, uint32_t task,
			uint64_t seen_ns)
{
	const struct blame_node *n = blame_at(m, node);
	uint64_t since_ns = n->since_ns;
	uint32_t hold = blame_add_hold(m, node, task, lock);

	if (!hold)
		return;
	n = blame_at(m, node);
	struct blame_hold *h = &m->blame->holds[hold];
	h->seen_ns = n->begin_ns;
	h->taking = has_just_got(m, task, lock, seen_ns);
	if (task != TASK_OTHER && n->last_task == task) {
		h->got = n->last_got;
		h->got_ns = n->last_ns;
	}
	if (task != TASK_OTHER)
		put_state(m, h, m->locks->locks[lock].addr);
	uint32_t blocked = blame_waited_for(m, h, NULL);
	if (blocked && blocked != node)
		charge_before(m, hold, blocked, since_ns);
	blame_at(m, node)->since_ns = m->now_ns;
	blame_at(m, node)->writes +=
		!m->blame->following && m->locks->locks[lock].type == LOCK_PCPU_SEM_W;
	/* The task had it and waits for it again; but a writer of a percpu-rwsem has it before its
	 * wait for the earlier readers is over. */
	if (blocked == node && m->locks->locks[lock].type == LOCK_PCPU_SEM_W)
		return;
	if (blocked == node)
		blame_take_off(m, hold);
	else
		blame_link(m, hold, blocked);
}

static bool node_is_free(const struct model *m, uint32_t node)
{
	uint32_t hold = m->blame->nodes[node].holds;

	return hold && m->blame->holds[hold].free;
}

/* Woken, and not on a CPU yet; but who spins for the lock runs. */
static uint8_t state_of_next(const struct wait *w)
{
	return w && w->flags & LCB_F_SPIN ? BLAME_RUNNING : BLAME_RUNNABLE;
}

void blame_free(struct model *m, uint32_t lock, uint32_t next)
{
	const struct wait *w = next ? holder_wait_at(m, next, m->locks->locks[lock].addr) : NULL;
	uint32_t node = m->locks->locks[lock].blame;

	if (!node || !blame_at(m, node)->n || lock < LOCK_TYPES ||
	    (node_is_free(m, node) && blame_has_hold(m, node, next)))
		return;
	blame_settle(m, node);
	if (!blame_at(m, node)->holds)
		blame_charge_unknown(m, node);
	blame_note_before(m, node, next);
	blame_drop_holds(m, node);
	uint32_t hold = blame_add_hold(m, node, next, w ? w->lock : lock);
	if (!hold)
		return;
	struct blame_hold *h = &m->blame->holds[hold];
	h->free = h->taking = true;
	h->got = w ? w->stack : STACK_OTHER;
	h->state = next ? state_of_next(w) : BLAME_UNKNOWN;
}

void blame_report(struct model *m, uint32_t lock, uint32_t task, bool hint, uint64_t seen_ns)
{
	uint32_t node = m->blame->max ? m->locks->locks[lock].blame : 0;
	enum lock_type type = (enum lock_type)m->locks->locks[lock].type;

	if (!node || !blame_at(m, node)->n || lock < LOCK_TYPES ||
	    seen_ns < blame_at(m, node)->since_ns)
		return;
	/* That is of no exact time, and the lock was seen to be free. */
	if (seen_ns == UINT64_MAX && node_is_free(m, node))
		return;
	/* A sure one is a writer; a hint says no more than that readers have it. */
	if (hint)
		task = TASK_OTHER;
	if (!node_is_free(m, node) &&
	    (blame_has_hold(m, node, task) || (hint && blame_at(m, node)->holds)))
		return;
	if (locktype_twin(type) != type && hint != locktype_is_reader(type))
		lock = lock_get(m->locks, m->locks->locks[lock].addr, locktype_twin(type));
	if (lock < LOCK_TYPES || blame_node_of(m, lock) != node)
		return;
	blame_settle(m, node);
	if (blame_at(m, node)->holds)
		blame_drop_holds(m, node);
	report_hold(m, node, lock, task, seen_ns);
}

void blame_task_gone(struct model *m, uint32_t task)
{
	struct blame *b = m->blame;

	while (task != TASK_OTHER && m->tasks->tasks[task].blame) {
		uint32_t hold = m->tasks->tasks[task].blame;
		holds_let_go(m, b->holds[hold].lock, task, m->now_ns);
		blame_settle(m, b->holds[hold].node);
		blame_take_off(m, hold);
	}
}

/* Records are missing: others may have the locks. */
void blame_lost(struct model *m)
{
	for (uint32_t i = 1; i < m->blame->n_holds; i++) {
		uint32_t node = m->blame->holds[i].node;
		if (!node)
			continue;
		blame_settle(m, node);
		blame_drop_holds(m, node);
	}
}
