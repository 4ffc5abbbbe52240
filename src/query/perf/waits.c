// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the slots themselves: of the waits by caller those whose caller takes or gives back a
 * breakpoint slot, summed up; and the same by lock, where locks of which there is one a task are
 * one row.
 */
#include "../internal.h"
#include "kontend/locktype.h"
#include "kontend/query-perf.h"

#include <errno.h>
#include <string.h>

enum { LOCKS_MOST = 16 };

struct waits {
	struct query_perf_waits *sum;
	uint64_t rate_n, rate_ns, waited_ns, most_ns;
};

static void add_group(struct waits *w, const struct group *g, const char *caller)
{
	const struct group_times t = query_group_times(g, false);

	w->rate_n += g->rate_n;
	w->rate_ns += g->rate_wait_ns;
	w->waited_ns += g->waited_ns;
	w->sum->contended += g->n;
	w->sum->total_ns += t.total_ns;
	w->sum->at_least |= t.at_least;
	w->sum->waiting += g->waiting;
	if (t.max_ns > w->sum->max_ns) {
		w->sum->max_ns = t.max_ns;
		w->sum->max_at_least = t.max_at_least;
	}
	if (!w->sum->caller || t.total_ns > w->most_ns) {
		w->sum->caller = caller;
		w->most_ns = t.total_ns;
	}
}

/* NULL: there are too many. */
static struct query_perf_lock *lock_of(struct query_perf_lock *locks, size_t *n, const char *name,
				       enum lock_type type)
{
	for (size_t i = 0; i < *n; i++)
		if (locks[i].type == type && !strcmp(locks[i].name, name))
			return &locks[i];
	if (*n == LOCKS_MOST)
		return NULL;
	locks[*n] = (struct query_perf_lock){.name = name, .type = type};
	return &locks[(*n)++];
}

static void add_lock(struct query *q, struct group *g, struct query_perf_lock *locks, size_t *n)
{
	const char *name = query_slot_lock_name(q, g->first.lock);

	name = name ? name : query_lock_class(q, g->first.lock);
	struct query_perf_lock *l = name ? lock_of(locks, n, name, (enum lock_type)g->type) : NULL;
	if (!l)
		return;
	const struct group_times t = query_group_times(g, false);
	l->contended += g->n;
	l->total_ns += t.total_ns;
	l->waiting += g->waiting;
	l->max_ns = t.max_ns > l->max_ns ? t.max_ns : l->max_ns;
}

/* The longest waited first. */
static void sort_locks(struct query_perf_lock *locks, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct query_perf_lock l = locks[i];
		size_t at = i;
		for (; at && locks[at - 1].total_ns < l.total_ns; at--)
			locks[at] = locks[at - 1];
		locks[at] = l;
	}
}

static int sum_locks(struct query *q, struct query_perf_waits *sum)
{
	struct query_perf_lock *locks = arena_alloc(&q->arena, LOCKS_MOST * sizeof(*locks));
	struct query_scope all = {0};
	struct groups gs;

	if (!locks || query_group(q, BY_LOCK, &all, &gs) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < gs.n; i++) {
		const char *caller = query_func_name(q, query_group_caller(q, &gs, &gs.g[i]));
		if (caller && sym_is_slot_function(caller))
			add_lock(q, &gs.g[i], locks, &sum->n_locks);
	}
	sort_locks(locks, sum->n_locks);
	sum->locks = locks;
	return 0;
}

int query_perf_waits(struct query *q, bool average, struct query_perf_waits *ret)
{
	struct query_perf_waits sum = {0};
	struct waits w = {.sum = &sum};
	struct query_scope all = {0};
	struct groups gs;

	if (query_sync(q) < 0 || query_group(q, BY_CALLER, &all, &gs) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < gs.n; i++) {
		const char *caller = query_func_name(q, gs.g[i].func);
		if (caller && sym_is_slot_function(caller))
			add_group(&w, &gs.g[i], caller);
	}
	uint64_t ns = average ? query_elapsed(q->model) : query_rate_ns(q);
	sum.per_s = query_per_s(average ? sum.contended : w.rate_n, ns);
	sum.wait_ns_per_s = query_per_s(average ? w.waited_ns : w.rate_ns, ns);
	if (sum.caller && sum_locks(q, &sum) < 0)
		return -ENOMEM;
	*ret = sum;
	return 0;
}
