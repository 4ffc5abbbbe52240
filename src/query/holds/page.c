// SPDX-License-Identifier: GPL-2.0-only
/* The holds of one lock as a few lines, for its page: how long, what that costs, and by whom. */
#include "holds.h"
#include "kontend/query-lock.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

enum { LISTED = 3 };

static void add_line(struct query_holds_page *p, const char *text)
{
	if (text && *text && p->n < QUERY_HOLDS_LINES)
		p->lines[p->n++] = text;
}

static double rate_of(const struct query_holds_sum *s, const struct holdsnap_lock *l)
{
	for (size_t i = 0; s->lock && i < s->n_kinds; i++)
		if (!strcmp(s->kinds[i].kind, holdsnap_kind_name(l->kind)))
			return s->kinds[i].acquired_per_s;
	return query_per_s(l->acquired, s->span_ns);
}

static const char *percentiles(struct query *q, const struct query_holds_sum *s,
			       const struct holdsnap_lock *l)
{
	char p50[UNITS_BUF], p99[UNITS_BUF];

	for (size_t i = 0; s->lock && i < s->n_kinds; i++) {
		const struct query_holds_kind *k = &s->kinds[i];
		if (!strcmp(k->kind, holdsnap_kind_name(l->kind)))
			return arena_printf(&q->arena, ", p50 %s, p99 %s", units_ns(p50, k->p50_ns),
					    units_ns(p99, k->p99_ns));
	}
	return "";
}

static const char *holder(struct query *q, const struct holdsnap *s, const struct holdsnap_lock *l)
{
	char ns[UNITS_BUF];

	for (size_t i = 0; i < s->n_now; i++) {
		const struct holdsnap_now *now = &s->now[i];
		if (now->addr != l->addr || now->kind != l->kind)
			continue;
		uint64_t since_ns = now->since_ns ? now->since_ns : s->head.from_ns;
		const char *task =
			query_slash(&q->arena, holdsnap_text(s, now->comm), now->tid, "-");
		return arena_printf(
			&q->arena, "; now by %s for %s%s", task ? task : "?",
			now->since_ns ? "" : "more than ",
			units_ns(ns, s->head.time_ns > since_ns ? s->head.time_ns - since_ns : 0));
	}
	return "";
}

static void add_lock(struct query *q, const struct holdsnap *s, const struct query_holds_sum *sum,
		     const struct holdsnap_lock *l, struct query_holds_page *ret)
{
	char rate[UNITS_BUF], avg[UNITS_BUF], max[UNITS_BUF], held[UNITS_BUF];
	const char *rest = percentiles(q, sum, l), *now = holder(q, s, l);

	add_line(ret, arena_printf(&q->arena, "held (%s) %s/s, total %s, avg %s%s, max %s%s",
				   holdsnap_kind_name(l->kind), units_rate(rate, rate_of(sum, l)),
				   units_ns(held, l->total_ns),
				   units_ns(avg, l->holds ? l->total_ns / l->holds : 0),
				   rest ? rest : "", units_ns(max, l->max_ns), now ? now : ""));
}

static const char *caller(struct query *q, const struct holdsnap *s, const struct holdsnap_chain *c)
{
	const char *name =
		c->n_frames ? query_func_name(q, query_func(q, s->frames[c->frame])) : "[others]";

	return name ? name : "?";
}

/* Of all locks of a type nothing says which of these calls took this one. */
static void add_calls(struct query *q, const struct holdsnap *s, struct query_holds_page *ret)
{
	const char *text = "taken in", *task;
	double total_ns = 0;
	char pct[UNITS_BUF];

	for (size_t i = 0; i < s->n_sums; i++)
		total_ns += (double)s->sums[i].total_ns;
	for (size_t i = 0; text && i < s->n_chains && i < LISTED; i++)
		text = arena_printf(&q->arena, "%s%s %s %s%%", text, i ? "," : "",
				    caller(q, s, &s->chains[i]),
				    units_pct(pct, 100 * (double)s->chains[i].total_ns / total_ns));
	if (!s->n_chains)
		text = "";
	for (size_t i = 0; text && i < s->n_tasks && i < LISTED; i++) {
		const struct holdsnap_task *t = &s->tasks[i];
		task = t->tid ? query_slash(&q->arena, holdsnap_text(s, t->comm), t->tid, "-")
			      : "[others]";
		text = arena_printf(&q->arena, "%s%s %s %s%%", text,
				    i	    ? ","
				    : *text ? "; by"
					    : "by",
				    task ? task : "?",
				    units_pct(pct, 100 * (double)t->total_ns / total_ns));
	}
	add_line(ret, text);
}

int query_holds_page(struct query *q, uint64_t id, struct query_holds_page *ret)
{
	struct query_holds_sum sum;
	const struct holdsnap *s;

	*ret = (struct query_holds_page){0};
	if (!query_holds_asked(q) || !query_lock_has_address(q, id))
		return 0;
	if (query_holds_sum(q, false, &sum) < 0)
		return -ENOMEM;
	if (sum.none)
		add_line(ret, arena_printf(&q->arena, "holds not measured: %s", sum.none));
	s = sum.none ? NULL : query_holds_snap(q);
	uint64_t addr = query_lock_addr(q, id);
	for (size_t i = 0; s && i < s->n_locks; i++)
		if (s->locks[i].addr == addr)
			add_lock(q, s, &sum, &s->locks[i], ret);
	if (!s || !ret->n)
		return 0;
	if (sum.lock)
		add_calls(q, s, ret);
	const char *price = query_holds_price(q, &sum);
	add_line(ret, price ? arena_printf(&q->arena, "measuring holds %s%s%s", price,
					   sum.n_notes ? "; " : "", sum.n_notes ? sum.notes[0] : "")
			    : NULL);
	return 0;
}
