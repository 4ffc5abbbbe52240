// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a holder that could run does not, and whether that is a priority inversion: a real-time task
 * waits for a task of lower priority, which a third one keeps off its CPU, though it matters less
 * than the first. All of it is of one snapshot: queues with holders and waiters of any kind of
 * lock, and how these tasks are scheduled. A holder that sleeps for another lock of the snapshot
 * passes it on.
 */
#include "sched.h"
#include "../internal.h"
#include "kontend/holder.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/map64.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "queues.h"

#include <inttypes.h>

/* Of the kernel: below it are the priorities of real-time and deadline tasks. */
enum { PRIO_NORMAL = 100, CHAIN_MOST = 8 };

/* SCHED_* of sched(7) */
enum { POLICY_FIFO = 1, POLICY_RR = 2 };

static const double NS_PER_MS = 1e6;

const struct locksnap_run *query_run(struct query *q, int32_t tid)
{
	const struct locksnap *s = query_queues(q);

	for (size_t i = 0; s && i < s->n_runs; i++)
		if (s->runs[i].tid == tid)
			return &s->runs[i];
	return NULL;
}

static const char *policy_text(struct query *q, uint32_t policy, uint32_t rt_priority, int32_t nice)
{
	static const char *const names[] = {"NORMAL", "FIFO", "RR",	  "BATCH",
					    NULL,     "IDLE", "DEADLINE", "EXT"};
	const char *name = policy < sizeof(names) / sizeof(*names) ? names[policy] : NULL;

	if (!name)
		return arena_printf(&q->arena, "policy %" PRIu32, policy);
	if (policy == POLICY_FIFO || policy == POLICY_RR)
		return arena_printf(&q->arena, "%s %" PRIu32, name, rt_priority);
	return policy || !nice ? name : arena_printf(&q->arena, "%s nice %" PRId32, name, nice);
}

const char *query_run_policy(struct query *q, const struct locksnap_run *r)
{
	return policy_text(q, r->policy, r->rt_priority, r->nice);
}

const char *query_run_off_policy(struct query *q, const struct locksnap_run *r)
{
	return policy_text(q, r->off_policy, r->off_rt_priority, 0);
}

const char *query_run_off_name(struct query *q, const struct locksnap_run *r)
{
	return query_slash(&q->arena, locksnap_text(query_queues(q), r->off_comm), r->off_tid, "-");
}

static bool is_boosted(const struct locksnap_run *r)
{
	return r->prio < r->normal_prio;
}

/* "throttled by cpu.max of /app (10 of 100ms) for >=80.0ms"; "for 810ms of the last 1.00s" */
static const char *say_throttled(struct query *q, const struct locksnap_run *r)
{
	const char *limit = locksnap_text(query_queues(q), r->limit), *of = "";
	char ns[UNITS_BUF], of_ns[UNITS_BUF];
	const char *how_long = "";

	if (r->throttled_of_ns)
		how_long = arena_printf(&q->arena, " for %s of the last %s",
					units_ns(ns, r->throttled_ns),
					units_ns(of_ns, r->throttled_of_ns));
	else if (r->throttled_ns)
		how_long = arena_printf(&q->arena, " for >=%s", units_ns(ns, r->throttled_ns));
	if (r->quota_ns && r->period_ns)
		of = arena_printf(&q->arena, " (%.4g of %.4gms)", (double)r->quota_ns / NS_PER_MS,
				  (double)r->period_ns / NS_PER_MS);
	return arena_printf(&q->arena, "throttled by cpu.max%s%s%s%s", *limit ? " of " : "", limit,
			    of ? of : "", how_long ? how_long : "");
}

/* By BPF now, else lately. */
static bool is_throttled(const struct locksnap_run *r)
{
	return r->is_throttled && (r->state == LOCKSNAP_RUNNABLE || r->throttled_of_ns);
}

const char *query_run_throttled(struct query *q, int32_t tid)
{
	const struct locksnap_run *r = query_run(q, tid);

	return r && is_throttled(r) ? say_throttled(q, r) : NULL;
}

/* The kernel refused the programs that read it. */
static const char *say_unknown(struct query *q, const struct locksnap_queue *l)
{
	const struct locksnap *s = query_queues(q);

	if (!s || !s->head.no_runs || l->holder_state != LOCKSNAP_RUNNABLE)
		return "";
	return arena_printf(&q->arena, ", not known why: %s", locksnap_text(s, s->head.no_runs));
}

const char *query_run_why(struct query *q, const struct locksnap_queue *l)
{
	const struct locksnap_run *r = query_run(q, l->holder_tid);
	struct arena *a = &q->arena;
	const char *why = "", *boost = "";

	if (!r)
		return say_unknown(q, l);
	if (is_throttled(r))
		why = arena_printf(a, ", %s", say_throttled(q, r));
	else if (r->state == LOCKSNAP_RUNNABLE && r->off_tid)
		why = arena_printf(a, ", kept off by %s (%s)", query_run_off_name(q, r),
				   query_run_off_policy(q, r));
	else
		why = say_unknown(q, l);
	if (r->state == LOCKSNAP_RUNNABLE && r->cpus == 1)
		why = arena_printf(a, " only%s", why ? why : "");
	if (is_boosted(r))
		boost = arena_printf(a, ", boosted to priority %" PRId32 " (inherited)",
				     PRIO_NORMAL - 1 - r->prio);
	return arena_printf(a, "%s%s", why ? why : "", boost ? boost : "");
}

/* The queue in which that task waits itself; NULL: none. */
static const struct locksnap_queue *waits_in(const struct locksnap *s, int32_t tid)
{
	for (size_t i = 0; i < s->n_waiters; i++)
		if (s->waiters[i].tid == tid)
			return &s->queues[s->waiters[i].queue];
	return NULL;
}

/* The holder, over a chain of them, that could run and does not; NULL: none. */
static const struct locksnap_run *kept_off(struct query *q, const struct locksnap_queue *l,
					   const struct locksnap_queue **ret)
{
	const struct locksnap *s = query_queues(q);

	for (int i = 0; l && i < CHAIN_MOST && query_queue_certainty(l); i++) {
		const struct locksnap_run *r = query_run(q, l->holder_tid);

		*ret = l;
		if (!r || r->state == LOCKSNAP_RUNNING)
			return NULL;
		if (r->state == LOCKSNAP_RUNNABLE)
			return r->off_tid ? r : NULL;
		l = waits_in(s, l->holder_tid);
	}
	return NULL;
}

static uint64_t waited_ns(const struct query *q, const struct locksnap *s,
			  const struct locksnap_waiter *w, uint64_t addr)
{
	const struct model *m = q->model;
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)w->tid);
	const struct wait *wait = task ? holder_wait_at(m, *task, addr) : NULL;

	if (wait)
		return query_wait_ns(m, wait);
	return w->ran_ns && s->head.time_ns > w->ran_ns ? s->head.time_ns - w->ran_ns : 0;
}

bool query_inversion_of(struct query *q, const struct locksnap_waiter *w,
			struct query_inversion *ret)
{
	const struct locksnap *s = query_queues(q);
	const struct locksnap_run *high = query_run(q, w->tid), *low;

	if (!high || high->prio >= PRIO_NORMAL)
		return false;
	*ret = (struct query_inversion){.waiter = w, .queue = &s->queues[w->queue], .high = high};
	low = kept_off(q, ret->queue, &ret->root);
	if (!low || high->prio >= low->off_prio || low->off_prio >= low->prio)
		return false;
	ret->low = low;
	ret->ns = waited_ns(q, s, w, ret->queue->addr);
	return true;
}

const char *query_inversion_text(struct query *q, const struct query_inversion *i)
{
	const struct locksnap *s = query_queues(q);
	struct arena *a = &q->arena;
	const char *high = query_slash(a, locksnap_text(s, i->waiter->comm), i->waiter->tid, "-");
	const char *low =
		query_slash(a, locksnap_text(s, i->root->holder_comm), i->root->holder_tid, "-");

	return arena_printf(a,
			    "priority inversion: %s %s waits for %s %s, kept off by %s %s; "
			    "not inherited",
			    query_run_policy(q, i->high), high, query_run_policy(q, i->low), low,
			    query_run_off_policy(q, i->low), query_run_off_name(q, i->low));
}

bool query_inversion_worst(struct query *q, uint64_t addr, struct query_inversion *ret,
			   uint32_t *ret_n)
{
	const struct locksnap *s = query_queues(q);
	struct query_inversion one;

	*ret_n = 0;
	for (size_t i = 0; s && s->n_runs && i < s->n_waiters; i++) {
		const struct locksnap_waiter *w = &s->waiters[i];
		if ((addr && s->queues[w->queue].addr != addr) || !query_inversion_of(q, w, &one))
			continue;
		if (!*ret_n || one.ns > ret->ns)
			*ret = one;
		++*ret_n;
	}
	return *ret_n != 0;
}
