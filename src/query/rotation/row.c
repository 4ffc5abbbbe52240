// SPDX-License-Identifier: GPL-2.0-only
/*
 * One timer in full: the distribution of what its expiries took, a bar an octave, and the owners of
 * the events that took turns there.
 */
#include "../internal.h"
#include "kontend/hist-fine.h"
#include "kontend/query-hist.h"
#include "kontend/rotation.h"
#include "kontend/units.h"
#include "list.h"

#include <errno.h>

enum { OCTAVES = HIST_FINE_LOW + HIST_FINE_OCTAVES };

static int make_hist(struct query *q, const struct hist_fine *f, struct query_hist *ret)
{
	struct query_hist h = {.n_waits = f->n,
			       .total_ns = f->total_ns,
			       .min_ns = f->min_ns,
			       .max_ns = f->max_ns,
			       .p50_ns = hist_fine_percentile(f, 50),
			       .p90_ns = hist_fine_percentile(f, 90),
			       .p99_ns = hist_fine_percentile(f, 99)};

	h.bars = arena_alloc(&q->arena, OCTAVES * sizeof(*h.bars));
	if (!h.bars)
		return -ENOMEM;
	for (unsigned o = HIST_FINE_LOW; o < OCTAVES; o++) {
		struct query_bar b = {.lower_ns = 1ull << o, .upper_ns = 2ull << o};
		b.n = hist_fine_between(f, b.lower_ns, b.upper_ns);
		b.pct = units_percent(b.n, f->n);
		if (b.n || h.n)
			h.bars[h.n++] = b;
	}
	while (h.n && !h.bars[h.n - 1].n)
		h.n--;
	*ret = h;
	return 0;
}

static const char *owners_text(struct query *q, const struct query_perf *p, uint32_t cpu,
			       uint32_t *ret_elsewhere)
{
	struct query_culprits c;
	const char *text = NULL;

	if (!p->snap || query_rotation_culprits(q, p, cpu, &c) < 0)
		return NULL;
	*ret_elsewhere = c.elsewhere;
	for (size_t i = 0; i < c.n; i++) {
		const struct query_owner *o = &c.owners[i];
		const char *name = o->pid ? query_perf_task(q, p, o->comm, o->pid) : "?";
		text = arena_printf(&q->arena, "%s%s%s%s (%u %s)", text ? text : "",
				    text ? "\n" : "", c.guessed ? "~" : "", name ? name : "?",
				    o->events, query_owner_kind(o));
		if (!text)
			break;
	}
	return text;
}

static const struct rotation_timer *find_timer(const struct query *q, uint64_t id)
{
	const uint32_t *at = map64_get(&q->model->rotation->by_timer, id);

	return at ? &q->model->rotation->timers[*at] : NULL;
}

int query_rotation_row(struct query *q, uint64_t id, const struct query_rotation_costs *c,
		       struct query_rotation_row *ret)
{
	const struct rotation_timer *t = find_timer(q, id);
	struct query_rotation_row r = {0};
	struct query_perf p = {0};

	if (!t)
		return -ENOENT;
	if (query_sync(q) < 0 || make_hist(q, &t->time, &r.hist) < 0 ||
	    query_perf(q, QUERY_PERF_EVENTS, &p) == -ENOMEM ||
	    query_rotation_what_if(q, &p, c, t, &r.what_if) < 0)
		return -ENOMEM;
	r.owners = owners_text(q, &p, t->cpu, &r.elsewhere);
	*ret = r;
	return 0;
}
