// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums of holds by kind, what is left out of them and why, and what measuring them costs.
 */
#include "kontend/snapshot.h"
#include "../snapshots.h"
#include "holds.h"
#include "kontend/mem.h"
#include "kontend/units.h"

#include <errno.h>
#include <inttypes.h>

struct query_holds_cache {
	struct holdsnap snap;
	struct query_decoded of;
};

void query_holds_deinit(struct query *q)
{
	if (q->holds)
		holdsnap_deinit(&q->holds->snap);
	mem_free(q->holds);
	q->holds = NULL;
}

bool query_holds_asked(const struct query *q)
{
	return snapshot_set_get(q->engine->model->snapshots, SNAPSHOT_HOLDS);
}

const struct holdsnap *query_holds_snap(struct query *q)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_HOLDS);

	if (s && !q->holds)
		q->holds = mem_calloc(1, sizeof(*q->holds));
	if (!s || !q->holds)
		return NULL;
	struct query_holds_cache *c = q->holds;
	return query_decode(q, &c->of, &holdsnap_sections, &c->snap, s) ? &c->snap : NULL;
}

uint64_t query_holds_span(const struct holdsnap *s)
{
	uint64_t end_ns = s->head.off_ns ? s->head.off_ns : s->head.time_ns;

	return end_ns > s->head.from_ns ? end_ns - s->head.from_ns : 0;
}

static double rate_of(const struct holdsnap *s, const struct holdsnap_sum *k, bool average)
{
	uint64_t ns = s->head.time_ns - s->head.before_ns;

	if (average || !s->head.before_ns || s->head.off_ns)
		return query_per_s(k->acquired, query_holds_span(s));
	return query_per_s(k->acquired - k->acquired_before, ns);
}

static void add_kind(struct query_holds_sum *to, const struct holdsnap *s,
		     const struct holdsnap_sum *k, bool average)
{
	if ((!k->acquired && !k->unbegun) || to->n_kinds == QUERY_HOLDS_KINDS)
		return;
	to->kinds[to->n_kinds++] = (struct query_holds_kind){
		.kind = holdsnap_kind_name(k->kind),
		.acquired = k->acquired,
		.acquired_per_s = rate_of(s, k, average),
		.holds = k->holds,
		.total_ns = k->total_ns,
		.avg_ns = k->holds ? k->total_ns / k->holds : 0,
		.p50_ns = holdsnap_percentile(k->buckets, 50, k->max_ns),
		.p99_ns = holdsnap_percentile(k->buckets, 99, k->max_ns),
		.max_ns = k->max_ns,
		.unbegun = k->unbegun,
		.unended = k->unended,
		.by_other = k->by_other,
		.chainless = k->chainless,
		.no_room = k->no_room,
	};
}

static void add_note(struct query *q, struct query_holds_sum *s, uint64_t n, const char *what)
{
	char count[UNITS_BUF];

	if (!n || s->n_notes == QUERY_HOLDS_NOTES)
		return;
	const char *text = arena_printf(&q->arena, "%s %s", units_count(count, n), what);
	if (text)
		s->notes[s->n_notes++] = text;
}

static void note_level(struct query *q, struct query_holds_sum *s, const struct holdsnap *snap)
{
	const struct holdsnap_head *h = &snap->head;
	double limit = (double)h->target_ppm / 1e4;
	const char *text = NULL;

	if (h->level == HOLDSNAP_NO_CHAINS)
		text = arena_printf(&q->arena,
				    "call chains are left out for now, as all costs more than "
				    "--max-overhead %.4g%%",
				    limit);
	else if (h->level == HOLDSNAP_SOME)
		text = arena_printf(&q->arena,
				    "one in %" PRIu32
				    " acquisitions is measured and stands for all "
				    "of them, without call chains, as more costs more than "
				    "--max-overhead %.4g%%",
				    h->every, limit);
	else if (h->level == HOLDSNAP_OFF)
		text = arena_printf(&q->arena,
				    "measuring holds has stopped, as even one in 512 acquisitions "
				    "costs more than --max-overhead %.4g%%",
				    limit);
	if (text)
		s->notes[s->n_notes++] = text;
}

static void add_notes(struct query *q, struct query_holds_sum *s, const struct holdsnap *snap)
{
	static const struct {
		size_t at;
		const char *what;
	} counts[] = {
		{offsetof(struct query_holds_kind, unbegun),
		 "releases are of holds that began before, or whose begin was not seen: in no sum"},
		{offsetof(struct query_holds_kind, unended),
		 "holds have ended unseen, so their lengths are not known: in no sum"},
		{offsetof(struct query_holds_kind, by_other),
		 "holds were ended by another task than the one that began them"},
		{offsetof(struct query_holds_kind, chainless), "holds have no known call chain"},
		{offsetof(struct query_holds_kind, no_room),
		 "acquisitions found no room: in no sum of holds"},
	};

	note_level(q, s, snap);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		bool expected = counts[i].at == offsetof(struct query_holds_kind, chainless) &&
				snap->head.level != HOLDSNAP_ALL;
		uint64_t n = 0;
		for (size_t k = 0; k < s->n_kinds && !expected; k++)
			n += *(const uint64_t *)((const char *)&s->kinds[k] + counts[i].at);
		add_note(q, s, n, counts[i].what);
	}
	add_note(q, s, snap->head.readers_unknown, "more readers have it now, since before");
	add_note(q, s, snap->head.missed, "calls were not seen, as the kernel left out programs");
	const char *lacks = holdsnap_text(snap, snap->head.lacks);
	if (*lacks && s->n_notes < QUERY_HOLDS_NOTES) {
		const char *text = arena_printf(&q->arena, "not seen: acquisitions by %s", lacks);
		if (text)
			s->notes[s->n_notes++] = text;
	}
}

static void take_price(struct query *q, struct query_holds_sum *s, const struct holdsnap_head *h)
{
	const struct holdsnap *snap = &q->holds->snap;

	s->is_priced = h->price_ns && !h->off_ns;
	s->no_price = h->off_ns	    ? "nothing is measured any more"
		      : h->no_price ? holdsnap_text(snap, h->no_price)
				    : "it has not been measured yet";
	if (!s->is_priced)
		return;
	s->cost_pct = 100 * (double)h->run_ns / (double)h->price_ns;
	s->runs_per_s = query_per_s(h->runs, h->price_ns);
	s->run_ns = h->runs ? h->run_ns / h->runs : 0;
}

static const char *copy(struct query *q, const char *text)
{
	const char *ret = arena_printf(&q->arena, "%s", text);

	return ret ? ret : "";
}

int query_holds_sum(struct query *q, bool average, struct query_holds_sum *ret)
{
	static const char *const levels[HOLDSNAP_LEVELS] = {
		[HOLDSNAP_ALL] = "all",
		[HOLDSNAP_NO_CHAINS] = "no chains",
		[HOLDSNAP_SOME] = "one in N",
		[HOLDSNAP_OFF] = "stopped",
	};
	const struct holdsnap *s = query_sync(q) < 0 ? NULL : query_holds_snap(q);

	*ret = (struct query_holds_sum){.what = "", .none = "not asked for: --holds", .every = 1};
	if (!s)
		return q->cache && q->cache->failed ? -ENOMEM : 0;
	const char *reason = holdsnap_text(s, s->head.reason);
	ret->asked = true;
	ret->what = copy(q, holdsnap_text(s, s->head.asked));
	ret->none = *reason ? copy(q, reason) : NULL;
	ret->lock = s->head.lock;
	ret->span_ns = query_holds_span(s);
	ret->level = levels[s->head.level];
	ret->every = s->head.every;
	ret->missed = s->head.missed;
	ret->readers_unknown = s->head.readers_unknown;
	if (ret->none)
		return 0;
	for (size_t i = 0; i < s->n_sums; i++)
		add_kind(ret, s, &s->sums[i], average);
	take_price(q, ret, &s->head);
	ret->no_price = copy(q, ret->no_price);
	add_notes(q, ret, s);
	return 0;
}

const char *query_holds_price(struct query *q, const struct query_holds_sum *s)
{
	char cost[UNITS_BUF], rate[UNITS_BUF], run[UNITS_BUF];

	if (!s->is_priced)
		return arena_printf(&q->arena, "price not known: %s", s->no_price);
	return arena_printf(&q->arena, "costs %s%% of a CPU at %s/s (%s each)",
			    units_pct(cost, s->cost_pct), units_rate(rate, s->runs_per_s),
			    units_ns(run, s->run_ns));
}
