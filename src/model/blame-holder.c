// SPDX-License-Identifier: GPL-2.0-only
/*
 * States of holders, from the records that follow them; keeping indices for the model's folding;
 * and the start of blaming. A holder that got its lock after a wait runs at that moment; from then
 * on each change is reported, if the lock names its holder. For others, readers first of all, the
 * state is known once a record reports that they are followed. Of one that runs, samples of the
 * profile say where: the time from a sample to the next one is charged to its place, and the time
 * from when it began to run to its first sample to none.
 */
#include "blame-int.h"
#include "holds-int.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/event.h"
#include "kontend/holdrec.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/profile.h"
#include "kontend/recent.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "lockqueue-int.h"
#include "user-releases.h"
#include "wait-lost.h"

#include <errno.h>

static const uint8_t states[HOLDREC_STATES] = {
	[HOLDREC_UNKNOWN] = BLAME_NOT_FOLLOWED,
	[HOLDREC_RUNNING] = BLAME_RUNNING,
	[HOLDREC_RUNNABLE] = BLAME_RUNNABLE,
	[HOLDREC_ASLEEP] = BLAME_ASLEEP,
	[HOLDREC_IO] = BLAME_IO,
};

/* Forgets the states of all holders. */
static void stop(struct model *m)
{
	m->blame->following = false;
	for (uint32_t i = 1; i < m->blame->n_holds; i++)
		if (m->blame->holds[i].node && m->blame->holds[i].task != TASK_OTHER)
			blame_change(m, m->blame->holds[i].task, BLAME_NOT_FOLLOWED, 0);
}

/* The lock of a sleeping type at @addr; 0: no task has waited for it yet. */
static uint32_t find_lock(const struct model *m, uint64_t addr)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at =
			locktype_is_spin((enum lock_type)type)
				? NULL
				: map64_get(&m->locks->index, lock_key(addr, (enum lock_type)type));
		if (at)
			return *at;
	}
	return 0;
}

/* Without frames of the tracing, which depend on the other users of the tracepoint. */
static uint32_t sleeping_stack(struct model *m, const struct event *ev)
{
	uint32_t n = ev->holder.n_frames, traced = model_traced(m, ev->holder.frames, n);

	return n ? model_stack(m, ev->holder.frames + traced, n - traced) : STACK_OTHER;
}

static uint32_t why_of(struct model *m, const struct event *ev, uint32_t state)
{
	if (state == BLAME_ASLEEP || state == BLAME_IO)
		return sleeping_stack(m, ev);
	return state == BLAME_RUNNABLE && ev->holder.other_tid
		       ? task_get(m->tasks, ev->holder.other_pid, ev->holder.other_tid)
		       : TASK_OTHER;
}

/* By whom the task was kept off the CPU is known better in the end: what is not charged yet. */
static int kept_off(struct model *m, uint32_t task, const struct event *ev)
{
	uint32_t by = task_get_quickly(m->tasks, ev->holder.other_pid, ev->holder.other_tid);
	struct task *t = &m->tasks->tasks[task];

	if (t->did != BLAME_RUNNABLE || by == TASK_OTHER || by == task)
		return 0;
	for (uint32_t i = t->blame; i; i = m->blame->holds[i].of_task)
		m->blame->holds[i].why = by;
	t->why = by;
	return task_name(m->tasks, by, ev->holder.other_comm);
}

/* The hold of the task on the lock of the record; 0: it has none. */
static uint32_t find_hold(const struct model *m, uint32_t task, uint64_t addr)
{
	uint32_t lock = m->blame->max ? find_lock(m, addr) : 0;
	uint32_t node = lock ? m->locks->locks[lock].blame : 0;
	uint32_t i = node ? m->tasks->tasks[task].blame : 0;

	while (i && m->blame->holds[i].node != node)
		i = m->blame->holds[i].of_task;
	return i;
}

/* A holder that the lock does not name has it no more. Others that are not known may have it. */
static void is_gone(struct model *m, uint32_t hold)
{
	uint32_t node = m->blame->holds[hold].node, lock = m->blame->holds[hold].lock;

	blame_settle(m, node);
	holder_let_go(m, lock, m->blame->holds[hold].task, m->now_ns);
	blame_take_off(m, hold);
	if (!blame_at(m, node)->holds && blame_is_reader(m, lock))
		blame_report(m, lock, TASK_OTHER, true, UINT64_MAX);
}

/* A holder that its lock does not name is followed from now on, or no more: see holdrec.h. */
static int report_unnamed(struct model *m, const struct event *ev)
{
	uint32_t task = task_get_holder(m->tasks, ev->pid, ev->tid);
	uint32_t hold = task == TASK_OTHER ? 0 : find_hold(m, task, ev->holder.lock);

	if (ev->holder.what == HOLDREC_GONE)
		holds_let_go(m, find_lock(m, ev->holder.lock), task, m->now_ns);
	if (!hold)
		return 0;
	if (ev->holder.what == HOLDREC_GONE)
		is_gone(m, hold);
	else if (ev->holder.what == HOLDREC_UNFOLLOWED)
		blame_change(m, task, BLAME_NOT_FOLLOWED, 0);
	else if (m->blame->following)
		blame_change(m, task, BLAME_RUNNING, 0);
	return task_name(m->tasks, task, ev->holder.comm) < 0 ? -ENOMEM : 0;
}

/* The task holds that lock. A task that is woken or runs again may have released it. */
static void report_holder(struct model *m, uint32_t lock, uint32_t task, const struct event *ev)
{
	m->holders_reported = true;
	if (ev->holder.what != HOLDREC_WOKEN && ev->holder.what != HOLDREC_ON)
		holder_report(m, lock, task | (ev->holder.hint ? OWNER_HINT : 0), ev->time);
}

/* The writer of a percpu-rwsem lets go: each time is reported, as long as holders are followed. */
static void count_release(struct model *m, uint32_t lock)
{
	uint32_t node = m->blame->max && lock ? m->locks->locks[lock].blame : 0;

	if (node && m->blame->following)
		blame_at(m, node)->writes++;
}

/* No task has the lock until the next one takes it. */
static int report_handed(struct model *m, const struct event *ev)
{
	uint32_t task = task_get_holder(m->tasks, ev->pid, ev->tid);
	uint32_t lock = find_lock(m, ev->holder.lock);

	if (task == TASK_OTHER || task >= OWNER_NEXT || !lock)
		return 0;
	m->holders_reported = true;
	holder_report(m, lock, cell_owner_handed(task), ev->time);
	return task_name(m->tasks, task, ev->holder.comm) < 0 ? -ENOMEM : 0;
}

int blame_holder(struct model *m, const struct event *ev)
{
	/* A holder may be reported at any time; its state is true only while it is followed. */
	uint32_t state = m->blame->following ? states[ev->holder.state] : BLAME_NOT_FOLLOWED;

	m->blame->not_followed += ev->holder.missed;
	(void)wait_lost_clock(m, ev->holder.idle, ev->time);
	if (ev->holder.what == HOLDREC_BEGUN)
		m->blame->following = true;
	if (ev->holder.what == HOLDREC_STOPPED)
		stop(m);
	if (ev->holder.what == HOLDREC_BEGUN || ev->holder.what == HOLDREC_STOPPED)
		return 0;
	fold_if_full(m);
	if (ev->holder.what == HOLDREC_HANDED)
		return report_handed(m, ev);
	if (ev->holder.what >= HOLDREC_GOT && ev->holder.what <= HOLDREC_UNFOLLOWED)
		return report_unnamed(m, ev);
	uint32_t task = task_get_holder(m->tasks, ev->pid, ev->tid);
	if (task == TASK_OTHER) {
		if (ev->holder.hint && task_has_ended(m->tasks, ev->tid))
			holder_readers(m, find_lock(m, ev->holder.lock), ev->time);
		return 0;
	}
	uint32_t why = why_of(m, ev, state);
	/* The task that woke it does not keep it off the CPU. */
	if (ev->holder.what == HOLDREC_WOKEN)
		why = TASK_OTHER;
	/* The state is as reported before; this record adds the function. */
	if (ev->holder.what == HOLDREC_SEEN && m->tasks->tasks[task].did == state)
		why = m->tasks->tasks[task].why;
	if (task_name(m->tasks, task, ev->holder.comm) < 0)
		return -ENOMEM;
	if (state == BLAME_RUNNABLE && why != TASK_OTHER &&
	    task_name(m->tasks, why, ev->holder.other_comm) < 0)
		return -ENOMEM;
	/* Until now, if no record has reported it. */
	if (!m->tasks->tasks[task].blame) {
		m->tasks->tasks[task].did =
			ev->holder.what == HOLDREC_OFF ? BLAME_RUNNING : BLAME_NOT_FOLLOWED;
		m->tasks->tasks[task].why = 0;
	}
	uint32_t lock = find_lock(m, ev->holder.lock);
	if (lock)
		report_holder(m, lock, task, ev);
	if (ev->holder.what == HOLDREC_RELEASED)
		count_release(m, lock);
	if (ev->holder.what == HOLDREC_ON && ev->holder.other_tid && kept_off(m, task, ev) < 0)
		return -ENOMEM;
	blame_change(m, task, state, why);
	if (!m->tasks->tasks[task].blame)
		m->tasks->tasks[task].did = BLAME_NOT_FOLLOWED;
	return 0;
}

void blame_sample(struct model *m, const struct event *ev, uint32_t task)
{
	const struct task *t = &m->tasks->tasks[task];
	bool runs = t->blame && t->did == BLAME_RUNNING;
	bool owns = user_release_wants_place(m, task);
	uint64_t frames[PROFILE_PLACE];

	if (!runs && !owns)
		return;
	fold_if_full(m);
	uint32_t n = profile_place(m->profile, ev, frames);
	uint32_t stack = stack_get(m->stacks, frames, n);
	if (runs)
		blame_change(m, task, BLAME_RUNNING, stack);
	if (owns)
		user_release_place(m, task, stack);
}

uint32_t blame_runs_in(const struct model *m, uint32_t task, uint64_t since_ns)
{
	const struct task *t = &m->tasks->tasks[task];

	if (t->blame && t->did == BLAME_RUNNING && t->why)
		return t->why;
	if (t->blame && t->did != BLAME_RUNNING && t->did != BLAME_NOT_FOLLOWED)
		return STACK_OTHER;
	return user_release_last_place(m, task, since_ns);
}

uint32_t blame_got_in(const struct model *m, uint32_t lock, uint32_t task)
{
	const struct blame *b = m->blame;
	uint32_t node = b->max ? m->locks->locks[lock].blame : 0;

	for (uint32_t i = node ? b->nodes[node].holds : 0; i; i = b->holds[i].next)
		if (b->holds[i].task == task && task != TASK_OTHER && !b->holds[i].free)
			return b->holds[i].got;
	return STACK_OTHER;
}

static void mark_hold(struct model *m, const struct blame_hold *h)
{
	m->tasks->tasks[h->task].marked = 1;
	m->locks->locks[h->lock].marked = 1;
	m->stacks->stacks[h->got].marked = 1;
	blame_mark_why(m, h->state, h->why);
}

/* The last owner of a lock is forgotten when that task ends. */
static void mark_last(struct model *m, struct blame_node *n)
{
	if (n->last_task && task_ended_until(&m->tasks->tasks[n->last_task], UINT64_MAX))
		n->last_task = n->last_lock = n->last_got = 0;
	if (n->before_task && task_ended_until(&m->tasks->tasks[n->before_task], UINT64_MAX))
		n->before_task = 0;
	m->tasks->tasks[n->before_task].marked = 1;
	m->tasks->tasks[n->last_task].marked = 1;
	m->locks->locks[n->last_lock].marked = 1;
	m->stacks->stacks[n->last_got].marked = 1;
}

void blame_mark(struct model *m)
{
	struct blame *b = m->blame;

	blame_mark_cells(m);
	for (uint32_t i = 1; i < b->n_holds; i++)
		if (b->holds[i].node)
			mark_hold(m, &b->holds[i]);
	for (uint32_t i = 1; i < b->n_nodes; i++) {
		if (b->nodes[i].n)
			mark_last(m, &b->nodes[i]);
		else
			b->nodes[i].last_task = b->nodes[i].last_lock = b->nodes[i].last_got =
				b->nodes[i].before_task = 0;
		for (uint32_t c = b->nodes[i].refs ? b->nodes[i].classes : 0; c;
		     c = b->classes[c].next) {
			if (!b->classes[c].n && !b->classes[c].ns)
				continue;
			m->locks->locks[b->classes[c].lock].marked = 1;
			m->stacks->stacks[b->classes[c].stack].marked = 1;
		}
	}
}

/* Classes of which nothing is left name what may be forgotten now. */
void blame_sweep(struct model *m)
{
	struct blame *b = m->blame;

	for (uint32_t i = 1; i < b->n_nodes; i++) {
		uint32_t *at = &b->nodes[i].classes;
		while (b->nodes[i].refs && *at) {
			uint32_t class = *at;
			if (b->classes[class].n || b->classes[class].ns) {
				at = &b->classes[class].next;
				continue;
			}
			*at = b->classes[class].next;
			b->classes[class].next = b->free_class;
			b->free_class = class;
		}
	}
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++)
		if (m->locks->locks[i].blame && !m->locks->locks[i].marked)
			blame_forget_lock(m, i);
}

void blame_zero(struct model *m)
{
	struct blame *b = m->blame;

	for (uint32_t i = 1; i < b->n_nodes; i++)
		if (b->nodes[i].refs)
			blame_settle(m, i);
	for (uint32_t i = 1; i < b->n_classes; i++) {
		b->classes[i].ns = 0;
		b->classes[i].cost = (struct blame_cost){0};
	}
	for (uint32_t i = 1; i < b->n_nodes; i++)
		b->nodes[i].time_ns = 0;
	b->n = b->n_touched = 0;
	b->lost_ns = b->not_followed = b->folded = b->doubtful_ns = 0;
	blame_done_forget(m);
	map64_clear(&b->index);
	recent_clear(&b->recent);
}
