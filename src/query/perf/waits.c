// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the slots themselves are fought for: of the waits by caller those whose caller takes or
 * gives back a breakpoint slot, summed up.
 */
#include "../internal.h"
#include "kontend/query-perf.h"

#include <errno.h>

struct waits {
	struct query_perf_waits *sum;
	uint64_t rate_n, rate_ns, waited_ns, most_ns;
};

static void add(struct waits *w, const struct group *g, const char *caller)
{
	uint64_t ns = g->total_ns + g->inflight_ns;

	w->rate_n += g->rate_n;
	w->rate_ns += g->rate_wait_ns;
	w->waited_ns += g->waited_ns;
	w->sum->contended += g->n;
	w->sum->total_ns += g->total_ns;
	w->sum->waiting += g->waiting;
	if (g->max_ns > w->sum->max_ns)
		w->sum->max_ns = g->max_ns;
	if (!w->sum->caller || ns > w->most_ns) {
		w->sum->caller = caller;
		w->most_ns = ns;
	}
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
			add(&w, &gs.g[i], caller);
	}
	uint64_t ns = average ? query_elapsed(q->model) : query_rate_ns(q);
	sum.per_s = query_per_s(average ? sum.contended : w.rate_n, ns);
	sum.wait_ns_per_s = query_per_s(average ? w.waited_ns : w.rate_ns, ns);
	*ret = sum;
	return 0;
}
