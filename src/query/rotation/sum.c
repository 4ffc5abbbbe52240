// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation in one line: is there a PMU that rotates at all, is it measured, and what did it take on
 * all CPUs together. Nothing is an answer of its own: that no PMU rotates, that none has had to, or
 * that the recording does not say.
 */
#include "../internal.h"
#include "kontend/rotation.h"
#include "list.h"

#include <errno.h>

static const char *pmu_list(struct query *q, const struct pmus *p)
{
	const char *text = "";

	for (uint32_t i = 0; text && i < p->n; i++)
		text = arena_printf(&q->arena, "%s%s%s %ums", text, i ? ", " : "", p->items[i].name,
				    p->items[i].interval_ms);
	return text;
}

static void add_timer(const struct rotation_timer *t, bool average, struct query_rotation_sum *s,
		      uint64_t *n, uint64_t *ns)
{
	if (!t->expiries)
		return;
	s->timers++;
	s->rotations += t->expiries;
	s->unpaired += t->unpaired;
	s->total_ns += t->time.total_ns;
	*n += average ? t->expiries : t->rate_n;
	*ns += average ? t->time.total_ns : t->rate_ns;
}

int query_rotation_sum(struct query *q, bool average, struct query_rotation_sum *ret)
{
	const struct rotation *r = q->model->rotation;
	struct query_rotation_sum s = {.dropped = r->dropped, .unmatched = r->unmatched};
	uint64_t n = 0, ns = 0, of = average ? query_elapsed(q->model) : q->model->rate_ns;
	struct pmus pmus = {0};

	s.known = query_rotation_pmus(q, &pmus);
	s.pmus = pmus.n;
	s.pmu = pmu_list(q, &pmus);
	s.reason = *pmus.reason ? arena_printf(&q->arena, "%s", pmus.reason) : "";
	if (!s.pmu || !s.reason)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_timers; i++)
		if (query_rotation_is_mux(q, &r->timers[i]))
			add_timer(&r->timers[i], average, &s, &n, &ns);
	s.per_s = query_per_s(n, of);
	s.ns_per_s = query_per_s(ns, of);
	*ret = s;
	return 0;
}

const char *query_rotation_none(const struct query_rotation_sum *s)
{
	if (!s->known)
		return "not known: the recording does not say which PMUs rotate";
	if (!s->pmus)
		return "no rotating PMU: this machine has no hardware counters that events could "
		       "take turns on";
	if (*s->reason)
		return s->reason;
	return "no rotation: the events fit into the counters";
}
