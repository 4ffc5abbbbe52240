// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes that waits make to the graph of blame.c: they begin, end or become doubtful, and get
 * their lock.
 */
#include "blame-int.h"
#include "kontend/blame.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/task.h"
#include "kontend/wait.h"

/* The holds of a task whose wait begins or ends, as far as these had begun before. */
static void relink(struct model *m, const struct wait *w, bool begins)
{
	uint32_t node = m->locks->locks[w->lock].blame;

	for (uint32_t i = m->tasks->tasks[w->task].blame; i; i = m->blame->holds[i].of_task) {
		const struct blame_hold *h = &m->blame->holds[i];
		if (begins ? w->begin_ns < h->got_ns || (h->taking && h->node == node)
			   : h->blocked != node)
			continue;
		blame_settle(m, h->node);
		blame_link(m, i, begins ? node : blame_waited_for(m, &m->blame->holds[i], w));
	}
	blame_open_circles(m);
}

/* A task that begins to wait for a lock has released it, if it had it: readers do so unseen. */
static void let_go(struct model *m, const struct wait *w, uint32_t node)
{
	for (uint32_t i = m->tasks->tasks[w->task].blame; i; i = m->blame->holds[i].of_task) {
		if (m->blame->holds[i].node != node || m->blame->holds[i].taking ||
		    w->begin_ns < m->blame->holds[i].got_ns)
			continue;
		blame_settle(m, node);
		blame_take_off(m, i);
		return;
	}
}

/* Readers that have the lock keep others waiting from the first writer on that waits, to the last.
 */
static void count_writer(struct model *m, uint32_t node, const struct wait *w, int n)
{
	if (blame_is_reader(m, w->lock))
		return;
	if (blame_at(m, node)->n_writers == (n < 0 ? 1u : 0u) && blame_at(m, node)->holds)
		blame_settle(m, node);
	blame_at(m, node)->n_writers += (uint32_t)n;
}

void blame_wait(struct model *m, struct wait *w)
{
	uint32_t node = blame_node_of(m, w->lock);

	w->blame = node ? blame_class_of(m, node, w->lock, w->stack) : 0;
	if (!w->blame)
		return;
	if (w->task != TASK_OTHER)
		let_go(m, w, node);
	count_writer(m, node, w, 1);
	struct blame_class *c = &m->blame->classes[w->blame];
	blame_advance(m, c);
	w->joined_ns = m->now_ns;
	c->n++;
	c->n_lost += w->loses;
	if (!blame_at(m, node)->n++)
		blame_at(m, node)->reported_ns = blame_at(m, node)->since_ns = m->now_ns;
	blame_at(m, node)->begin_ns = w->begin_ns;
	if (w->task != TASK_OTHER && m->tasks->tasks[w->task].blame)
		relink(m, w, true);
}

void blame_par(struct model *m, const struct wait *w, uint64_t par_ns, uint64_t of_ns)
{
	uint64_t has_ns = m->now_ns > w->joined_ns ? m->now_ns - w->joined_ns : 0;

	if (!w->blame || !of_ns)
		return;
	struct blame_cost *c = &m->blame->classes[w->blame].cost;
	has_ns = has_ns < of_ns ? has_ns : of_ns;
	c->par_ns += blame_part(par_ns, has_ns, of_ns);
	c->par_of_ns += has_ns;
}

void blame_moves(struct model *m, const struct wait *w)
{
	struct blame_class *c = w->blame ? &m->blame->classes[w->blame] : NULL;

	if (!c || c->n != 1 || c->lock != w->lock)
		return;
	blame_advance(m, c);
	/* Others have waited there before, and their time is not of its calls. */
	if (c->ns > m->now_ns - w->joined_ns)
		return;
	for (uint32_t i = blame_at(m, m->locks->locks[w->lock].blame)->classes; i;
	     i = m->blame->classes[i].next)
		if (m->blame->classes[i].lock == c->lock && m->blame->classes[i].stack == w->stack)
			return;
	c->stack = w->stack;
}

/* @w is over, and its task has not got the lock that it was to take. */
void blame_not_taken(struct model *m, const struct wait *w)
{
	uint32_t node = m->locks->locks[w->lock].blame;

	for (uint32_t i = w->task == TASK_OTHER ? 0 : m->tasks->tasks[w->task].blame; i;
	     i = m->blame->holds[i].of_task) {
		if (m->blame->holds[i].node != node || !m->blame->holds[i].taking)
			continue;
		bool free = m->blame->holds[i].free;
		blame_settle(m, node);
		blame_take_off(m, i);
		if (free)
			blame_free(m, w->lock, TASK_OTHER);
		return;
	}
}

void blame_over(struct model *m, struct wait *w)
{
	uint32_t node = m->locks->locks[w->lock].blame;

	if (!w->blame)
		return;
	count_writer(m, node, w, -1);
	struct blame_class *c = &m->blame->classes[w->blame];
	blame_advance(m, c);
	c->n--;
	c->n_lost -= w->loses;
	w->blame = 0;
	if (w->task != TASK_OTHER && m->tasks->tasks[w->task].blame)
		relink(m, w, false);
	if (blame_at(m, node)->n > 1) {
		blame_at(m, node)->n--;
		return;
	}
	blame_settle(m, node);
	if (!blame_at(m, node)->holds)
		blame_charge_unknown(m, node);
	blame_drop_holds(m, node);
	blame_at(m, node)->n = 0;
}

/*
 * Readers of a percpu-rwsem that were woken together get a CPU one after the other: the first of
 * them showed that the writer has released it, for which @w has waited, too.
 */
static uint32_t written_before(const struct model *m, const struct blame_node *n,
			       const struct wait *w)
{
	bool is_same = m->locks->locks[w->lock].type == LOCK_PCPU_SEM_R && !n->holds;

	return is_same && n->before_ns >= w->begin_ns ? n->before_task : TASK_OTHER;
}

/* Charges the reported holder while @w waited: no other one was known. */
static void charge_reported(struct model *m, uint32_t node, const struct wait *w)
{
	uint32_t reported = holds_reported(w);
	uint64_t writes = blame_at(m, node)->writes;

	if (reported == TASK_OTHER)
		reported = written_before(m, blame_at(m, node), w);
	if (reported != TASK_OTHER && !blame_at(m, node)->holds)
		blame_report(m, w->lock, reported, false, UINT64_MAX);
	blame_at(m, node)->writes = writes; /* it was counted when it was seen */
	blame_settle(m, node);
	if (!blame_at(m, node)->holds)
		blame_charge_unknown(m, node);
}

static bool have_readers(const struct model *m, uint32_t node)
{
	uint32_t hold = m->blame->nodes[node].holds;

	return hold && !m->blame->holds[hold].free &&
	       blame_is_reader(m, m->blame->holds[hold].lock);
}

/* Notes one of them if several readers hold the lock. */
void blame_note_before(struct model *m, uint32_t node, uint32_t next)
{
	struct blame_node *n = blame_at(m, node);
	const struct blame_hold *h = &m->blame->holds[n->holds];

	if (!n->holds || h->free || h->task == TASK_OTHER || h->task == next)
		return;
	n->before_task = h->task;
	n->before_state = h->state;
	n->before_ns = m->now_ns;
}

/*
 * A reader of a percpu-rwsem keeps no task waiting, but shows that the writer has released it, for
 * which it waited: unless the writer was seen only after the reader had begun to wait. Readers that
 * were let in before a writer came get a CPU, and show that they have it, only later.
 */
static void got_percpu(struct model *m, uint32_t node, const struct wait *w)
{
	uint32_t hold = blame_at(m, node)->holds;

	if (hold && w->begin_ns < m->blame->holds[hold].seen_ns)
		return;
	charge_reported(m, node, w);
	if (hold) /* else it is not known that it had the lock until now */
		blame_note_before(m, node, w->task);
	blame_drop_holds(m, node);
}

/*
 * The task that got it runs at this moment. Each later change is reported for sure only where the
 * lock's word names its holder, or a holder cannot sleep: for others a record reports that they are
 * followed (HOLDREC_GOT).
 */
static bool is_followed(const struct model *m, const struct wait *w)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;

	return m->blame->following && (locktype_is_spin(type) || type == LOCK_MUTEX ||
				       type == LOCK_RWSEM_W || type == LOCK_RT_MUTEX);
}

void blame_got(struct model *m, const struct wait *w)
{
	uint32_t node = m->locks->locks[w->lock].blame;
	bool joins = blame_is_reader(m, w->lock) && node && have_readers(m, node);

	if (!node)
		return;
	if (m->locks->locks[w->lock].type == LOCK_PCPU_SEM_R) {
		got_percpu(m, node, w);
		return;
	}
	/* Where no record counts releases: who was seen to have it in the end of its wait has been
	 * counted then. */
	if (m->locks->locks[w->lock].type == LOCK_PCPU_SEM_W && !m->blame->following &&
	    !blame_has_hold(m, node, w->task))
		blame_at(m, node)->writes++;
	if (!joins) {
		charge_reported(m, node, w);
		blame_note_before(m, node, w->task);
		blame_drop_holds(m, node);
	}
	if (w->doubtful || w->lock < LOCK_TYPES)
		return;
	struct blame_node *n = blame_at(m, node);
	if (n->n <= 1 && !joins) { /* no other task waits */
		n->last_task = w->task;
		n->last_lock = w->lock;
		n->last_got = w->stack;
		n->last_ns = m->now_ns;
		return;
	}
	if (joins && blame_has_hold(m, node, w->task))
		return;
	uint32_t hold = blame_add_hold(m, node, w->task, w->lock);
	if (!hold || m->blame->holds[hold].task == TASK_OTHER)
		return;
	m->blame->holds[hold].got = w->stack;
	m->blame->holds[hold].got_ns = m->now_ns;
	/* A task that is followed because of another lock runs, too. */
	if (is_followed(m, w) || m->tasks->tasks[w->task].did > BLAME_NOT_FOLLOWED)
		blame_change(m, w->task, BLAME_RUNNING, 0);
}

void blame_tick(struct model *m, uint64_t time_ns)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->blame)
			blame_settle(m, m->locks->locks[w->lock].blame);
	}
	blame_close_bucket(m, time_ns);
	blame_done_prune(m);
}
