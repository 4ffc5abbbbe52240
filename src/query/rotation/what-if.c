// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of rotation with less of it. Fewer events: each rotation is shorter by the slope of the
 * line through the points; that they might fit into the counters then, and rotation end, is not
 * taken into account. Another interval: rotations are as long, and as much rarer as the interval is
 * longer.
 */
#include "../internal.h"
#include "kontend/mem.h"
#include "kontend/rotation.h"
#include "kontend/units.h"
#include "list.h"

#include <errno.h>
#include <stdio.h>

enum { FEWER = 8, TIMES = 2 };

static void set_saved(struct query_rotation_what_if *w)
{
	if (!w->fit.known || w->fit.per_event_ns <= 0)
		return;
	w->fewer = w->events && w->events <= FEWER ? w->events - 1 : FEWER;
	w->saved_pct = w->fewer * w->fit.per_event_ns * w->per_s / 1e9 * 100;
	if (w->saved_pct > w->cpu_pct)
		w->saved_pct = w->cpu_pct;
}

static void set_other(struct query_rotation_what_if *w, uint32_t interval_ms)
{
	w->interval_ms = interval_ms;
	w->other_ms = TIMES * interval_ms;
	w->other_pct = w->cpu_pct / TIMES;
}

int query_rotation_what_if(struct query *q, const struct query_perf *p,
			   const struct query_rotation_costs *c, const struct rotation_timer *t,
			   struct query_rotation_what_if *ret)
{
	uint64_t ns = query_elapsed(q->model);
	struct query_rotation_what_if w = {
		.cpu = t->cpu,
		.per_s = query_per_s(t->expiries, ns),
		.cpu_pct = units_percent(t->time.total_ns, ns),
		.fit = query_rotation_fit(c, ROTATION_OF_MUX, t->cpu),
	};
	struct query_culprits culprits = {0};
	struct pmus pmus;

	if (p->snap && query_rotation_culprits(q, p, t->cpu, &culprits) < 0)
		return -ENOMEM;
	w.events = culprits.events;
	if (!w.fit.known) {
		w.fit = c->fit;
		w.of_all = w.fit.known;
	}
	set_saved(&w);
	const struct pmus_item *item =
		query_rotation_pmus(q, &pmus) ? query_rotation_pmu(&pmus, &culprits) : NULL;
	if (item) {
		w.pmu = arena_printf(&q->arena, "%s", item->name);
		if (!w.pmu)
			return -ENOMEM;
		set_other(&w, item->interval_ms);
	}
	*ret = w;
	return 0;
}

/* Insertion keeps them in order; there is one a CPU. */
static void insert(struct query_rotation_what_if *list, size_t n,
		   const struct query_rotation_what_if *w)
{
	for (; n > 0 && list[n - 1].cpu_pct < w->cpu_pct; n--)
		list[n] = list[n - 1];
	list[n] = *w;
}

int query_rotation_what_ifs(struct query *q, const struct query_rotation_costs *c,
			    struct query_rotation_what_if **ret, size_t *ret_n)
{
	const struct rotation *r = q->model->rotation;
	struct query_rotation_what_if w, *list;
	struct query_perf p = {0};
	size_t n = 0;

	list = arena_alloc(&q->arena, (r->n_timers + 1) * sizeof(*list));
	if (!list || query_sync(q) < 0 || query_perf(q, QUERY_PERF_EVENTS, &p) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_timers; i++) {
		const struct rotation_timer *t = &r->timers[i];
		if (!t->expiries || !query_rotation_is_mux(q, t))
			continue;
		if (query_rotation_what_if(q, &p, c, t, &w) < 0)
			return -ENOMEM;
		insert(list, n++, &w);
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

const char *query_rotation_fewer_text(const struct query_rotation_what_if *w, char *buf,
				      size_t size)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (!w->fit.known)
		snprintf(buf, size, "what fewer events would save is not known: %s",
			 w->events ? "only one number was seen" : "their number is not known");
	else if (!w->fewer)
		snprintf(buf, size, "handler %s; more events were not seen to take longer",
			 units_ns(a, whole_ns(w->fit.base_ns)));
	else
		snprintf(buf, size, "handler %s + %s x events%s; %u fewer save %.2f%% of this CPU",
			 units_ns(a, whole_ns(w->fit.base_ns)),
			 units_ns(b, whole_ns(w->fit.per_event_ns)), w->of_all ? " (all CPUs)" : "",
			 w->fewer, w->saved_pct);
	return buf;
}

const char *query_rotation_other_text(const struct query_rotation_what_if *w, char *buf,
				      size_t size)
{
	buf[0] = '\0';
	if (w->interval_ms)
		snprintf(buf, size, "%u ms instead of %u would halve it to %.2f%%", w->other_ms,
			 w->interval_ms, w->other_pct);
	return buf;
}
