// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits that go on are the model's, by events or by looks; who holds a lock is what
 * query_holder_of() says of them. Both are of slightly different moments. Two things are refused
 * for that reason: a holder that waits for its own lock, and a circle that is not proved. It is
 * proved where a look that is later than the begin of all its waits saw each of its holders, sure,
 * and events have gone on since without an end of any: who waits can let go of nothing, so what
 * each of them held in that look it still holds.
 */
#include "graph.h"
#include "../locks/queues.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/longest-recent.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/userlock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void chain_sum_add(struct chain_sum *to, const struct chain_sum *s)
{
	to->n += s->n;
	to->sum_ns += s->sum_ns;
	to->approx |= s->approx;
	if (s->longest_ns > to->longest_ns)
		to->longest_ns = s->longest_ns;
	if (s->last_ns > to->last_ns)
		to->last_ns = s->last_ns;
}

struct chain_sum chain_sum_one(const struct chain_wait *w)
{
	bool approx = w->wait ? w->wait->at_least : !w->ns;

	return (struct chain_sum){1, w->ns, w->ns, w->end_ns, approx};
}

/* The holder of a wait that has ended. */
static uint32_t owner_of(const struct wait *w)
{
	return holder_then(w->held_by, w->seen, w->reported);
}

static struct chain_lock *lock_at(struct chain_graph *g, const struct wait *w)
{
	uint64_t key = g->ended ? w->addr ^ hash_u64(cell_owner_task(owner_of(w))) : w->addr;

	/* A writer of a percpu-rwsem waits for RCU or for readers, and others wait for it. */
	key ^= w->part;
	const uint32_t *known = map64_get(&g->by_addr, key);

	if (known)
		return &g->locks[*known];
	if (map64_put(&g->by_addr, key, g->n_locks) < 0)
		return NULL;
	g->locks[g->n_locks] = (struct chain_lock){.addr = w->addr,
						   .number = w->lock,
						   .waits = CHAIN_NONE,
						   .up = CHAIN_NONE,
						   .beside = CHAIN_NONE};
	return &g->locks[g->n_locks++];
}

/* A task that spins in an interrupt waits for two: the later one holds up the other. */
static int note_task(struct chain_graph *g, uint32_t wait)
{
	const uint32_t *known = map64_get(&g->by_tid, (uint32_t)g->waits[wait].tid);

	if (known && g->waits[*known].wait->begin_ns > g->waits[wait].wait->begin_ns)
		return 0;
	return map64_put(&g->by_tid, (uint32_t)g->waits[wait].tid, wait);
}

static int add_wait(struct chain_graph *g, const struct wait *w, uint64_t end_ns)
{
	struct chain_lock *l = lock_at(g, w);

	if (!l)
		return -ENOMEM;
	g->waits[g->n_waits] = (struct chain_wait){
		.wait = w,
		.pid = g->q->model->tasks->tasks[w->task].pid,
		.tid = w->task == TASK_OTHER ? 0 : g->q->model->tasks->tasks[w->task].tid,
		.lock = (uint32_t)(l - g->locks),
		.next = l->waits,
		.holds = CHAIN_NONE,
		.ns = end_ns ? wait_part_ns(w, 0, end_ns) : query_wait_ns(g->q->model, w),
		.end_ns = end_ns,
		.comm = query_process_comm(g->q, w->task),
	};
	const struct chain_sum one = chain_sum_one(&g->waits[g->n_waits]);
	chain_sum_add(&l->behind, &one);
	l->waits = g->n_waits++;
	return g->waits[l->waits].tid && !end_ns ? note_task(g, l->waits) : 0;
}

static bool has_room(struct chain_graph *g, size_t most)
{
	g->waits = arena_alloc(&g->q->arena, most * sizeof(*g->waits) + 1);
	g->locks = arena_alloc(&g->q->arena, most * sizeof(*g->locks) + 1);
	g->roots = arena_alloc(&g->q->arena, most * sizeof(*g->roots) + 1);
	return g->waits && g->locks && g->roots;
}

/* @more: room for so many sleeps. */
static int collect(struct chain_graph *g, size_t more)
{
	const struct wait_pool *p = g->q->model->waits;

	if (!has_room(g, p->high + more))
		return -ENOMEM;
	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (!w->used)
			continue;
		g->n_doubtful += w->doubtful;
		if (!w->doubtful && add_wait(g, w, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool waits_for(const struct chain_graph *g, int32_t tid, const struct chain_lock *l)
{
	const uint32_t *wait = map64_get(&g->by_tid, (uint32_t)tid);

	return wait && &g->locks[g->waits[*wait].lock] == l;
}

static enum chain_evidence evidence_of(const struct query_holder *h)
{
	if (strcmp(h->certainty, "sure") == 0)
		return CHAIN_SURE;
	if (strcmp(h->certainty, "free") == 0)
		return CHAIN_FREE;
	return strcmp(h->certainty, "evidence") == 0 ? CHAIN_EVIDENCE : CHAIN_HINT;
}

/*
 * By the first of its waits that knows it now. A reader that was let in and has no CPU yet reports
 * itself as the next one, while others have the lock: so a task that has it counts more than the
 * next one, and both more than what an older snapshot knows.
 */
static void find_holder(struct chain_graph *g, struct chain_lock *l)
{
	struct query_holder h, other = {0};
	bool is_known = false;

	l->seen = query_queue_at(g->q, l->addr);
	for (uint32_t i = l->waits; i != CHAIN_NONE && !is_known; i = g->waits[i].next) {
		if (!query_holder_of(g->q, g->waits[i].wait, false, &h) ||
		    (h.tid && waits_for(g, h.tid, l)))
			continue;
		is_known = !h.age_ns && evidence_of(&h) != CHAIN_FREE;
		if (is_known || !other.certainty || (other.age_ns && !h.age_ns))
			other = h;
	}
	if (!other.certainty)
		return;
	l->by = other;
	l->holder = l->by.tid;
	l->evidence = evidence_of(&l->by);
}

/* Locks of holders that wait hang below these waits. */
static void link_up(struct chain_graph *g)
{
	for (uint32_t i = 0; i < g->n_locks; i++) {
		struct chain_lock *l = &g->locks[i];
		const uint32_t *wait =
			l->holder ? map64_get(&g->by_tid, (uint32_t)l->holder) : NULL;
		if (!wait)
			continue;
		l->up = *wait;
		l->beside = g->waits[*wait].holds;
		g->waits[*wait].holds = i;
	}
}

static uint32_t lock_above(const struct chain_graph *g, uint32_t lock)
{
	uint32_t up = g->locks[lock].up;

	return up == CHAIN_NONE ? CHAIN_NONE : g->waits[up].lock;
}

/* From the leaves on; a lock that keeps locks below it is in a circle. */
static int sum_up(struct chain_graph *g)
{
	uint32_t *below = arena_alloc(&g->q->arena, g->n_locks * sizeof(*below) + 1);
	uint32_t *ready = arena_alloc(&g->q->arena, g->n_locks * sizeof(*ready) + 1);
	uint32_t n = 0, up;

	if (!below || !ready)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_locks; i++)
		if ((up = lock_above(g, i)) != CHAIN_NONE)
			below[up]++;
	for (uint32_t i = 0; i < g->n_locks; i++) {
		g->locks[i].in_circle = true;
		if (!below[i])
			ready[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		g->locks[ready[i]].in_circle = false;
		up = lock_above(g, ready[i]);
		if (up == CHAIN_NONE)
			continue;
		chain_sum_add(&g->locks[up].behind, &g->locks[ready[i]].behind);
		if (!--below[up])
			ready[n++] = up;
	}
	return 0;
}

/*
 * Was that wait going on, and its lock held by @l's holder, at the moment of the look? The kernel
 * lists locks of files, and who waits for them, at one moment; the queues of its own locks are read
 * one after the other, so events of that time must have been applied.
 */
static bool is_proved(const struct chain_graph *g, const struct chain_lock *l,
		      const struct locksnap_head *look)
{
	const struct chain_wait *up = &g->waits[l->up];
	const struct locksnap_queue *seen = g->locks[up->lock].seen;
	bool at_once = (look->files && filelock_is(seen->addr)) || userlock_is(seen->addr);
	/* The thread that owns a mutex of a program sleeps: only it could have changed the owner.
	 */
	bool is_sure = l->evidence == CHAIN_SURE ||
		       (l->evidence == CHAIN_EVIDENCE && userlock_is(l->addr));

	return is_sure && l->by.by_look && up->wait->begin_ns < look->time_ns &&
	       (at_once || g->q->model->now_ns > look->time_ns + look->cost_ns) &&
	       query_queue_waiter(g->q, seen, up->tid);
}

static void add_circle(struct chain_graph *g, uint32_t first)
{
	const struct locksnap *look = query_queues(g->q);
	struct chain_root *r = &g->roots[g->n_roots++];
	uint32_t at = first;

	*r = (struct chain_root){.lock = first, .circle = true, .proved = look != NULL};
	do {
		const struct chain_lock *l = &g->locks[at];
		chain_sum_add(&r->behind, &l->behind);
		r->proved = r->proved && g->locks[g->waits[l->up].lock].seen &&
			    is_proved(g, l, &look->head);
		at = lock_above(g, at);
	} while (at != first);
}

/* A holder may have several locks: these are beside each other. */
static int add_roots(struct chain_graph *g)
{
	struct map64 of_holder = {0};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < g->n_locks; i++) {
		struct chain_lock *l = &g->locks[i];
		if (l->up != CHAIN_NONE)
			continue;
		const uint32_t *known =
			l->holder ? map64_get(&of_holder, (uint32_t)l->holder) : NULL;
		if (known) {
			struct chain_root *root = &g->roots[*known];
			chain_sum_add(&root->behind, &l->behind);
			l->beside = root->lock;
			root->lock = i;
			continue;
		}
		if (l->holder)
			r = map64_put(&of_holder, (uint32_t)l->holder, g->n_roots);
		g->roots[g->n_roots++] = (struct chain_root){.lock = i, .behind = l->behind};
	}
	map64_deinit(&of_holder);
	return r;
}

static bool is_counted(const struct chain_graph *g, uint32_t lock, uint32_t n_before)
{
	for (uint32_t i = n_before; i < g->n_roots; i++)
		for (uint32_t at = lock_above(g, g->roots[i].lock);; at = lock_above(g, at)) {
			if (at == lock)
				return true;
			if (at == g->roots[i].lock)
				break;
		}
	return false;
}

static int worst_first(const void *a, const void *b)
{
	const struct chain_root *x = a, *y = b;

	if (x->proved != y->proved)
		return x->proved ? -1 : 1;
	if (x->behind.sum_ns != y->behind.sum_ns)
		return x->behind.sum_ns > y->behind.sum_ns ? -1 : 1;
	return x->lock < y->lock ? -1 : x->lock > y->lock;
}

static int finish(struct chain_graph *ret)
{
	int r = sum_up(ret);

	if (r == 0)
		r = add_roots(ret);
	const uint32_t n_trees = ret->n_roots;
	for (uint32_t i = 0; r == 0 && i < ret->n_locks; i++)
		if (ret->locks[i].in_circle && !is_counted(ret, i, n_trees))
			add_circle(ret, i);
	if (ret->n_roots)
		qsort(ret->roots, ret->n_roots, sizeof(*ret->roots), worst_first);
	return r;
}

static int make(struct query *q, size_t sleeps, int32_t start, struct chain_graph *ret)
{
	*ret = (struct chain_graph){.q = q};
	int r = collect(ret, sleeps);

	for (uint32_t i = 0; r == 0 && i < ret->n_locks; i++)
		find_holder(ret, &ret->locks[i]);
	r = r < 0 ? r : chain_sleeps_add(ret, sleeps, start);
	if (r < 0)
		return r;
	link_up(ret);
	return finish(ret);
}

int chain_graph_make(struct query *q, struct chain_graph *ret)
{
	return make(q, chain_sleeps_most(q), 0, ret);
}

int chain_graph_make_of(struct query *q, int32_t tid, struct chain_graph *ret)
{
	return make(q, chain_sleeps_most(q), tid, ret);
}

int chain_graph_make_locks(struct query *q, struct chain_graph *ret)
{
	return make(q, 0, 0, ret);
}

static bool is_known(const struct model *m, const struct wait *w)
{
	return w->lock < m->locks->n && w->stack < m->stacks->n && w->task < m->tasks->n &&
	       cell_owner_task(owner_of(w)) < m->tasks->n;
}

static int collect_ended(struct chain_graph *g)
{
	const struct longest_recent_wait *past[LONGEST_MOST];
	const struct model *m = g->q->model;
	uint32_t n = longest_recent_list(m->past, m->now_ns, past);

	if (!has_room(g, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (!past[i]->wait.doubtful && is_known(m, &past[i]->wait) &&
		    add_wait(g, &past[i]->wait, past[i]->end_ns) < 0)
			return -ENOMEM;
	return 0;
}

uint32_t chain_longest(const struct chain_graph *g, const struct chain_lock *l)
{
	uint32_t longest = l->waits;

	for (uint32_t i = l->waits; i != CHAIN_NONE; i = g->waits[i].next)
		if (g->waits[i].ns > g->waits[longest].ns)
			longest = i;
	return longest;
}

const char *chain_task_name(const struct chain_graph *g, const struct chain_wait *w)
{
	const struct locksnap *s = query_queues(g->q);

	return w->wait ? query_task_name(g->q, w->wait->task)
		       : query_slash(&g->q->arena, locksnap_text(s, w->sleep->task->comm), w->tid,
				     "-");
}

const char *chain_process_name(const struct chain_graph *g, const struct chain_wait *w)
{
	return w->wait ? query_process_name(g->q, w->wait->task)
		       : query_slash(&g->q->arena, w->comm, w->pid, "-");
}

const char *chain_lock_text(const struct chain_graph *g, const struct chain_lock *l)
{
	struct query *q = g->q;

	if (l->object)
		return l->object->object;
	enum lock_type type = (enum lock_type)q->model->locks->locks[l->number].type;
	const char *name = query_lock_name(q, l->number);
	return arena_printf(&q->arena, "%s %s", locktype_base(type), name ? name : "-");
}

/* Is lock @below one of those that lead to @lock? */
static bool leads_to(const struct chain_graph *g, uint32_t lock, uint32_t below)
{
	for (uint32_t at = lock; at != CHAIN_NONE; at = lock_above(g, at))
		if (at == below)
			return true;
	return false;
}

/* The wait that the holder was in when the longest wait for its lock began; CHAIN_NONE: none. */
static uint32_t wait_of_holder(const struct chain_graph *g, uint32_t lock)
{
	const struct chain_lock *l = &g->locks[lock];
	uint64_t begin = g->waits[chain_longest(g, l)].wait->begin_ns;

	for (uint32_t i = 0; i < g->n_waits; i++) {
		const struct chain_wait *w = &g->waits[i];
		if (w->tid == l->holder && w->wait->addr != l->addr && w->wait->begin_ns <= begin &&
		    w->end_ns > begin && !leads_to(g, w->lock, lock))
			return i;
	}
	return CHAIN_NONE;
}

static void link_ended(struct chain_graph *g)
{
	for (uint32_t i = 0; i < g->n_locks; i++) {
		struct chain_lock *l = &g->locks[i];
		const struct wait *longest = g->waits[chain_longest(g, l)].wait;
		if (!query_holder_of(g->q, longest, true, &l->by))
			continue;
		l->holder = l->by.tid;
		l->evidence = evidence_of(&l->by);
		uint32_t wait = l->holder ? wait_of_holder(g, i) : CHAIN_NONE;
		if (wait == CHAIN_NONE)
			continue;
		l->up = wait;
		l->beside = g->waits[wait].holds;
		g->waits[wait].holds = i;
	}
}

int chain_graph_make_ended(struct query *q, struct chain_graph *ret)
{
	*ret = (struct chain_graph){.q = q, .ended = true};
	int r = collect_ended(ret);

	if (r < 0)
		return r;
	link_ended(ret);
	return finish(ret);
}

void chain_graph_deinit(struct chain_graph *g)
{
	map64_deinit(&g->by_tid);
	map64_deinit(&g->by_addr);
}
