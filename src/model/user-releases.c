// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blame and held for a wait that is known only when it is over: its time is divided at the releases
 * of the lock that were seen meanwhile. The thread that releases the lock had it since the release
 * before; so each part has its holder for sure, unless one in between released it and no thread
 * waited for that. The activity of holders is a sample: the state of the one that a snapshot has
 * seen stands for all of the lock until the next one. If that one runs, samples of the profile say
 * where, as in blame-holder.c. It is not known which thread has the lock while the woken one waits
 * for a CPU.
 */
#include "user-releases.h"
#include "blame-int.h"
#include "holds-int.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/hash.h"
#include "kontend/map64.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/userrec.h"
#include "kontend/wait.h"

#include <string.h>

/* A snapshot is taken each second, or more often. */
static const uint64_t SAMPLE_NS = 2500000000;

static struct user_releases_of *find(struct user_releases *r, uint64_t addr)
{
	return &r->locks[hash_slot(addr, USER_RELEASES_BITS)];
}

void user_release_see(struct user_releases *r, uint64_t addr, uint32_t state, uint32_t why,
		      uint64_t ns)
{
	struct user_releases_of *l = find(r, addr);

	if (l->addr != addr)
		return;
	l->state = state;
	l->why = why;
	l->seen_ns = ns;
}

uint32_t user_release_state(const struct model *m, uint64_t addr, uint32_t *ret_why)
{
	const struct user_releases_of *l = find(m->user_releases, addr);
	bool is_known = l->addr == addr && l->state && m->now_ns < l->seen_ns + SAMPLE_NS;

	*ret_why = is_known ? l->why : 0;
	return is_known ? l->state : BLAME_NOT_FOLLOWED;
}

bool user_release_wants_place(const struct model *m, uint32_t task)
{
	const struct task *t = &m->tasks->tasks[task];

	return t->owner_ns && m->now_ns < t->owner_ns + SAMPLE_NS;
}

void user_release_place(struct model *m, uint32_t task, uint32_t stack)
{
	struct user_releases *r = m->user_releases;

	r->places[r->n_places++ % USER_PLACES] = (struct user_place){m->now_ns, task, stack};
}

/* The number of the first place that is not older; they are kept from the returned one on. */
static uint64_t places_since(const struct user_releases *r, uint64_t ns)
{
	uint64_t at = r->n_places, oldest = at > USER_PLACES ? at - USER_PLACES : 0;

	while (at > oldest && r->places[(at - 1) % USER_PLACES].ns >= ns)
		at--;
	return at;
}

uint32_t user_release_last_place(const struct model *m, uint32_t task, uint64_t since_ns)
{
	const struct user_releases *r = m->user_releases;
	uint64_t first = places_since(r, since_ns);

	for (uint64_t i = r->n_places; i-- > first;)
		if (r->places[i % USER_PLACES].task == task)
			return r->places[i % USER_PLACES].stack;
	return STACK_OTHER;
}

void user_releases_mark(struct model *m)
{
	for (size_t i = 0; i < 1 << USER_RELEASES_BITS; i++) {
		const struct user_releases_of *l = &m->user_releases->locks[i];
		blame_mark_why(m, l->state, l->why);
		for (uint32_t k = 0; k < l->n; k++)
			m->stacks->stacks[l->v[k].stack].marked = 1;
	}
	for (size_t i = 0; i < USER_PLACES; i++) {
		m->stacks->stacks[m->user_releases->places[i].stack].marked = 1;
		m->tasks->tasks[m->user_releases->places[i].task].marked = 1;
	}
}

static uint32_t stack_of(const struct model *m, const struct wait *w, const struct event *ev)
{
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)ev->user.waker_tid);

	return w && task && m->held->max ? holds_stack(m, w->lock, *task) : STACK_OTHER;
}

void user_release_note(struct model *m, const struct wait *w, const struct event *ev)
{
	struct user_releases_of *l = find(m->user_releases, ev->user.lock);
	const uint32_t *waker = map64_get(&m->tasks->by_tid, (uint32_t)ev->user.waker_tid);
	uint64_t ns = ev->user.woken_ns;

	if (waker)
		m->tasks->tasks[*waker].owner_ns = m->now_ns;
	if (l->addr != ev->user.lock)
		*l = (struct user_releases_of){.addr = ev->user.lock};
	uint32_t at = l->n;
	while (at && l->v[at - 1].ns > ns)
		at--;
	/* One release may wake several. */
	if ((at && l->v[at - 1].ns == ns) || (!at && l->n == USER_RELEASES))
		return;
	if (l->n == USER_RELEASES) {
		l->dropped_ns = l->v[0].ns;
		memmove(&l->v[0], &l->v[1], --at * sizeof(l->v[0]));
	} else {
		memmove(&l->v[at + 1], &l->v[at], (l->n++ - at) * sizeof(l->v[0]));
	}
	l->v[at] = (struct user_release){ns, ev->user.waker_pid, ev->user.waker_tid,
					 stack_of(m, w, ev)};
}

/* One part after the other. */
struct parts {
	struct model *m;
	const struct wait *w;
	const struct event *ev;
	uint64_t at_ns, until_ns;
	uint32_t state, why; /* of holders */
};

/* When in the wait a CPU was idle, or other threads ran, is not known: each part has its share. */
static void charge_key(const struct parts *p, const struct blame_key *key, uint64_t ns)
{
	const struct event *ev = p->ev;
	uint64_t all_ns = ev->time - ev->user.begin_ns;
	const struct blame_cost all = {.lost_ns = ev->user.is_lost_known ? ev->user.lost_ns : 0,
				       .par_ns = ev->user.is_par_known ? ev->user.par_ns : 0,
				       .par_of_ns = ev->user.is_par_known ? all_ns : 0,
				       .is_lost = ev->user.is_lost_known,
				       .unlost = !ev->user.is_lost_known};
	const struct blame_sum s = {ns, ns, blame_cost_part(&all, ns, all_ns)};

	blame_charge(p->m, key, &s);
}

/* To each place the time until the next sample. */
static void charge_places(const struct parts *p, struct blame_key *key, uint64_t to_ns)
{
	const struct user_releases *r = p->m->user_releases;
	uint64_t at_ns = p->at_ns;

	for (uint64_t i = places_since(r, at_ns); i < r->n_places; i++) {
		const struct user_place *place = &r->places[i % USER_PLACES];
		if (place->ns >= to_ns)
			break;
		if (place->task != key->task)
			continue;
		if (place->ns > at_ns)
			charge_key(p, key, place->ns - at_ns);
		key->why = place->stack;
		at_ns = place->ns;
	}
	if (to_ns > at_ns)
		charge_key(p, key, to_ns - at_ns);
}

static void charge(struct parts *p, uint64_t to_ns, int32_t pid, int32_t tid, uint32_t stack)
{
	uint64_t to = to_ns < p->until_ns ? to_ns : p->until_ns;
	uint32_t task = tid ? task_get_holder(p->m->tasks, pid, tid) : TASK_OTHER;
	struct blame_key key = {.lock = p->w->lock,
				.stack = p->w->stack,
				.root_lock = p->w->lock,
				.task = task,
				.got = stack,
				.state = task == TASK_OTHER ? BLAME_UNKNOWN : p->state,
				.why = task == TASK_OTHER ? 0 : p->why,
				.direct = 1};

	if (to <= p->at_ns)
		return;
	if (p->m->blame->max && key.state == BLAME_RUNNING)
		charge_places(p, &key, to);
	else if (p->m->blame->max)
		charge_key(p, &key, to - p->at_ns);
	if (p->m->held->max)
		holds_give(p->m, p->w->lock, task, stack, to - p->at_ns);
	p->at_ns = to;
}

void user_release_charge(struct model *m, const struct wait *w, const struct event *ev,
			 uint64_t until_ns)
{
	const struct user_releases_of *l = find(m->user_releases, ev->user.lock);
	struct parts p = {
		.m = m, .w = w, .ev = ev, .at_ns = ev->user.begin_ns, .until_ns = until_ns};
	bool handed = ev->user.flags & USERREC_HANDED, owned = true;

	if ((!m->blame->max && !m->held->max) || w->doubtful)
		return;
	if (p.at_ns < m->zero_ns)
		p.at_ns = m->zero_ns;
	p.state = user_release_state(m, ev->user.lock, &p.why);
	for (uint32_t i = 0; l->addr == ev->user.lock && i < l->n; i++) {
		const struct user_release *r = &l->v[i];
		if (r->ns <= ev->user.begin_ns || r->ns >= ev->user.woken_ns)
			continue;
		if (l->dropped_ns > p.at_ns)
			charge(&p, l->dropped_ns, 0, 0, STACK_OTHER);
		charge(&p, r->ns, r->pid, r->tid, r->stack);
		owned = false;
	}
	if (handed)
		charge(&p, ev->user.woken_ns, ev->user.waker_pid, ev->user.waker_tid,
		       stack_of(m, w, ev));
	else
		charge(&p, ev->user.woken_ns, ev->user.owner_pid, owned ? ev->user.owner_tid : 0,
		       STACK_OTHER);
	charge(&p, ev->time, 0, 0, STACK_OTHER);
}
