// SPDX-License-Identifier: GPL-2.0-only
/*
 * Would one more breakpoint get a slot? Computed from a snapshot. `users` are the breakpoints of
 * the pool in question by task, those of CPUs first (tid 0). A row is a CPU. Where the breakpoint
 * does not fit, exactly one slot is missing (the kernel never gives more than there are), so
 * closing one event helps: of the CPU, or of the task. If several tasks have the maximum, closing
 * an event of one task does not help, unless all of them close one. Each of these is a demand. The
 * set to close is the smallest one found that meets all demands, taking first the event that meets
 * most. An inherited event is closed with the one that it comes from.
 */
#include "kontend/enospc.h"
#include "kontend/map64.h"
#include "kontend/mem.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSES_MAX = 64 };

struct user {
	int32_t tid, cpu;
	uint32_t event, root; /* indices of events */
	bool counts;	      /* takes a slot where the breakpoint does not fit */
};

/* One of these must be closed: of the CPU, if cpu_too, or of task @tid that are valid there. */
struct demand {
	uint32_t cpu;
	int32_t tid;
	bool cpu_too, met;
};

struct score {
	size_t n, last; /* the last demand counted, + 1 */
};

struct judge {
	struct enospc *ret;
	const struct perfsnap *snap;
	const struct enospc_ask *ask;
	struct user *users;
	struct demand *demands;
	struct score *scores; /* by index of event */
	size_t n_users, n_demands, cap_demands;
};

static bool is_in_pool(const struct enospc_ask *a, uint32_t type, uint32_t rwx)
{
	return type == SNAP_SLOT_ANY || !(a->rwx & HW_BREAKPOINT_X) == !(rwx & HW_BREAKPOINT_X);
}

static bool is_pool_asked(const struct enospc_ask *a, const struct snap_slots *c)
{
	uint32_t want = a->rwx & HW_BREAKPOINT_X ? SNAP_SLOT_EXEC : SNAP_SLOT_DATA;

	return c->type == SNAP_SLOT_ANY || c->type == want;
}

static bool is_cpu_asked(const struct enospc_ask *a, uint32_t cpu)
{
	bool found = !a->n_cpus;

	for (size_t i = 0; i < a->n_cpus; i++)
		found |= a->cpus[i] == cpu;
	return found;
}

static bool is_tid_asked(const struct enospc_ask *a, int32_t tid)
{
	bool found = !a->n_tids;

	for (size_t i = 0; i < a->n_tids; i++)
		found |= a->tids[i] == tid;
	return found;
}

static bool is_valid(const struct user *u, uint32_t cpu)
{
	return u->cpu == (int32_t)cpu || (u->tid && u->cpu < 0);
}

static int by_task(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

static int find_roots(struct judge *j)
{
	struct map64 at = {0};
	int code = 0;

	for (size_t i = 0; code == 0 && i < j->snap->n_events; i++)
		code = map64_put(&at, j->snap->events[i].id, (uint32_t)i);
	for (size_t i = 0; code == 0 && i < j->n_users; i++) {
		const struct snap_event *e = &j->snap->events[j->users[i].event];
		const uint32_t *parent = e->parent ? map64_get(&at, e->parent) : NULL;
		j->users[i].root = parent ? *parent : j->users[i].event;
	}
	map64_deinit(&at);
	return code;
}

static int collect(struct judge *j, uint32_t type)
{
	j->users = mem_calloc(j->snap->n_events + 1, sizeof(*j->users));
	if (!j->users)
		return -ENOMEM;
	for (size_t i = 0; i < j->snap->n_events; i++) {
		const struct snap_event *e = &j->snap->events[i];
		if (e->type == PERF_TYPE_BREAKPOINT && is_in_pool(j->ask, type, e->bp_type))
			j->users[j->n_users++] = (struct user){
				.tid = e->target_tid, .cpu = e->cpu, .event = (uint32_t)i};
	}
	qsort(j->users, j->n_users, sizeof(*j->users), by_task);
	return find_roots(j);
}

static bool lacks(const struct enospc_row *r, int32_t own)
{
	return r->slots >= 0 && r->cpu_pinned + own + 1 > r->slots;
}

static int demand(struct judge *j, uint32_t cpu, int32_t tid, bool cpu_too)
{
	if (mem_grow(&j->demands, &j->cap_demands, j->n_demands, sizeof(*j->demands)) < 0)
		return -ENOMEM;
	j->demands[j->n_demands++] = (struct demand){cpu, tid, cpu_too, false};
	return 0;
}

/* Visits each task's run of users that are valid on the row's CPU. */
static int each_task(struct judge *j, struct enospc_row *r,
		     int (*visit)(struct judge *j, struct enospc_row *r, int32_t tid, int32_t own))
{
	int code = 0;

	for (size_t i = 0, k; code == 0 && i < j->n_users; i = k) {
		int32_t own = 0, tid = j->users[i].tid;
		for (k = i; k < j->n_users && j->users[k].tid == tid; k++)
			own += is_valid(&j->users[k], r->cpu);
		if (tid && own && is_tid_asked(j->ask, tid))
			code = visit(j, r, tid, own);
	}
	return code;
}

static int find_most(struct judge *j, struct enospc_row *r, int32_t tid, int32_t own)
{
	(void)j;
	if (own > r->task_pinned) {
		r->task_pinned = own;
		r->tid = tid;
		r->tied = 0;
	}
	r->tied += own == r->task_pinned;
	return 0;
}

/* A task without a free slot: one of its events, or of the CPU's, must be closed. */
static int demand_of_task(struct judge *j, struct enospc_row *r, int32_t tid, int32_t own)
{
	if (!lacks(r, own))
		return 0;
	for (size_t i = 0; i < j->n_users; i++)
		if (j->users[i].tid == tid && is_valid(&j->users[i], r->cpu))
			j->users[i].counts = true;
	/* For a CPU with several tasks at the maximum, each would have to close one: see the head.
	 */
	bool for_cpu = !j->ask->n_tids, cpu_too = !for_cpu || r->tied < 2;
	return for_cpu && r->tied > 1 && r->cpu_pinned ? 0 : demand(j, r->cpu, tid, cpu_too);
}

static int demand_of_row(struct judge *j, struct enospc_row *r)
{
	int code = 0;

	for (size_t i = 0; i < j->n_users; i++)
		if (!j->users[i].tid && j->users[i].cpu == (int32_t)r->cpu)
			j->users[i].counts = true;
	/* Threads without events are refused, too, if the CPU's events take all slots. */
	if (r->cpu_pinned && (r->tied > 1 || lacks(r, 0)) && (!j->ask->n_tids || lacks(r, 0)))
		code = demand(j, r->cpu, 0, true);
	return code < 0 ? code : each_task(j, r, demand_of_task);
}

/* Uses slot counts if the snapshot has no events. */
static void take_counts(const struct enospc_ask *a, const struct snap_slots *c,
			struct enospc_row *r)
{
	r->task_pinned = a->n_tids ? -1 : c->task_pinned_max;
	for (size_t i = 0; i < a->n_counts; i++)
		if (a->counts[i].cpu == c->cpu && a->counts[i].own > r->task_pinned) {
			r->task_pinned = a->counts[i].own;
			r->tid = a->counts[i].tid;
			r->tied = 1;
		}
}

static int judge_row(struct judge *j, const struct snap_slots *c, struct enospc_row *r)
{
	bool events = !(j->snap->head.missing & SNAP_NO_EVENTS);

	*r = (struct enospc_row){.cpu = c->cpu, .type = c->type, .slots = c->slots};
	r->cpu_pinned = c->cpu_pinned;
	if (!events)
		take_counts(j->ask, c, r);
	else
		each_task(j, r, find_most);
	bool counted = c->slots >= 0 && c->cpu_pinned >= 0;
	bool refused = counted && lacks(r, r->task_pinned > 0 ? r->task_pinned : 0);
	r->known = refused || (counted && r->task_pinned >= 0);
	r->fits = r->known && !refused;
	return events && refused ? demand_of_row(j, r) : 0;
}

static bool meets(const struct judge *j, const struct user *u, const struct demand *d)
{
	if (j->snap->events[u->event].flags & SNAP_KERNEL)
		return false;
	if (!u->tid)
		return d->cpu_too && u->cpu == (int32_t)d->cpu;
	return u->tid == d->tid && is_valid(u, d->cpu);
}

static void mark_met(struct judge *j, uint32_t root)
{
	for (size_t i = 0; i < j->n_demands; i++)
		for (size_t k = 0; !j->demands[i].met && k < j->n_users; k++)
			j->demands[i].met =
				j->users[k].root == root && meets(j, &j->users[k], &j->demands[i]);
}

/* Counts the demands that closing each root event would meet. */
static void score(const struct judge *j)
{
	memset(j->scores, 0, j->snap->n_events * sizeof(*j->scores));
	for (size_t i = 0; i < j->n_demands; i++) {
		if (j->demands[i].met)
			continue;
		for (size_t k = 0; k < j->n_users; k++) {
			struct score *s = &j->scores[j->users[k].root];
			if (s->last == i + 1 || !meets(j, &j->users[k], &j->demands[i]))
				continue;
			s->last = i + 1;
			s->n++;
		}
	}
}

/* Of two with the same score: the disabled one, else the newer one. */
static bool is_better(const struct snap_event *a, const struct snap_event *b)
{
	bool off = a->state <= SNAP_OFF, other = b->state <= SNAP_OFF;

	return off != other ? off : a->id > b->id;
}

/* The next to close; NULL: none helps. */
static const struct user *find_close(const struct judge *j)
{
	const struct snap_event *events = j->snap->events;
	const struct user *best = NULL;
	size_t most = 0;

	score(j);
	for (size_t i = 0; i < j->n_users; i++) {
		const struct user *u = &j->users[i];
		size_t n = j->scores[u->root].n;
		if (n > most ||
		    (n && n == most && is_better(&events[u->root], &events[best->root]))) {
			most = n;
			best = u;
		}
	}
	return best;
}

static int name_them(struct judge *j)
{
	struct enospc *r = j->ret;
	const struct user *u;

	r->holders = mem_calloc(j->n_users + 1, sizeof(*r->holders));
	r->closes = mem_calloc(CLOSES_MAX, sizeof(*r->closes));
	j->scores = mem_calloc(j->snap->n_events + 1, sizeof(*j->scores));
	if (!r->holders || !r->closes || !j->scores)
		return -ENOMEM;
	for (size_t i = 0; i < j->n_users; i++)
		if (j->users[i].counts)
			r->holders[r->n_holders++] = j->users[i].event;
	while (r->n_closes < CLOSES_MAX && (u = find_close(j))) {
		mark_met(j, u->root);
		r->closes[r->n_closes++] = u->root;
	}
	for (size_t i = 0; i < j->n_demands; i++)
		r->helpless |= !j->demands[i].met;
	return 0;
}

static int judge_rows(struct judge *j)
{
	const struct perfsnap *s = j->snap;
	struct enospc *r = j->ret;
	int code = 0;

	r->rows = mem_calloc(s->n_slots + 1, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; code == 0 && i < s->n_slots; i++) {
		const struct snap_slots *c = &s->slots[i];
		if (!is_pool_asked(j->ask, c) || !is_cpu_asked(j->ask, c->cpu))
			continue;
		if (!j->users)
			code = collect(j, c->type);
		if (code == 0)
			code = judge_row(j, c, &r->rows[r->n_rows++]);
	}
	return code;
}

int enospc_judge(struct enospc *ret, const struct perfsnap *s, const struct enospc_ask *ask)
{
	struct judge j = {.ret = ret, .snap = s, .ask = ask};
	bool refused = false, known = true;

	*ret = (struct enospc){0};
	int code = judge_rows(&j);
	for (size_t i = 0; i < ret->n_rows; i++) {
		known &= ret->rows[i].known;
		refused |= ret->rows[i].known && !ret->rows[i].fits;
	}
	ret->known = refused || (known && ret->n_rows);
	ret->fits = ret->known && !refused;
	code = code < 0 ? code : name_them(&j);
	mem_free(j.users);
	mem_free(j.demands);
	mem_free(j.scores);
	if (code < 0)
		enospc_deinit(ret);
	return code;
}

void enospc_deinit(struct enospc *e)
{
	mem_free(e->rows);
	mem_free(e->holders);
	mem_free(e->closes);
	*e = (struct enospc){0};
}
