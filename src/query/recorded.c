// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a recording. Samples of different events do not add up, so a profile shows one of
 * them, unless the user asks for several.
 */
#include "group.h"
#include "internal.h"
#include "kontend/engine.h"
#include "kontend/model.h"
#include "kontend/profile.h"
#include "kontend/query-recorded.h"

#include <errno.h>
#include <string.h>

static uint64_t samples_of(const struct profile *p, uint64_t events)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < EVENTLIST_MOST; i++)
		n += events >> i & 1 ? p->of_event[i] : 0;
	return n;
}

static uint64_t default_events(const struct query *q)
{
	const struct eventlist *l = &q->engine->events;
	uint64_t best = 0, best_n = 0;
	bool best_is_time = false;

	for (size_t i = 0; i < l->n && i < EVENTLIST_MOST; i++) {
		const struct eventlist_event *e = &l->events[i];
		uint64_t same = e->is_profile ? eventlist_same(l, i) : 0;
		uint64_t n = samples_of(q->engine->model->profile, same);
		bool is_time = e->is_time && n;
		if (!same ||
		    (best && (is_time < best_is_time || (is_time == best_is_time && n <= best_n))))
			continue;
		best = same;
		best_n = n;
		best_is_time = is_time;
	}
	return best;
}

uint64_t query_recorded_shown(const struct query *q)
{
	if (q->events)
		return q->events;
	if (q->engine->events_asked)
		return eventlist_match(&q->engine->events, q->engine->events_asked);
	return default_events(q);
}

uint64_t query_recorded_samples(const struct query *q)
{
	return samples_of(q->engine->model->profile, query_recorded_shown(q));
}

const struct eventlist_event *query_recorded_main(const struct query *q)
{
	const struct eventlist *l = &q->engine->events;
	const struct profile *p = q->engine->model->profile;
	uint64_t events = query_recorded_shown(q);
	const struct eventlist_event *best = NULL;
	uint64_t best_n = 0;

	for (size_t i = 0; i < l->n && i < EVENTLIST_MOST; i++) {
		if (!(events >> i & 1) || (best && p->of_event[i] <= best_n))
			continue;
		best = &l->events[i];
		best_n = p->of_event[i];
	}
	return best;
}

const char *query_recorded_names(struct query *q)
{
	const struct eventlist *l = &q->engine->events;
	const struct profile *p = q->engine->model->profile;
	uint64_t events = query_recorded_shown(q), put = 0;
	bool any = samples_of(p, events);
	const char *ret = "";

	for (size_t i = 0; ret && i < l->n && i < EVENTLIST_MOST; i++) {
		if (!(events >> i & 1) || put >> i & 1 || (any && !p->of_event[i]))
			continue;
		ret = arena_printf(&q->arena, "%s%s%s", ret, *ret ? ", " : "", l->events[i].name);
		for (size_t other = i; other < l->n && other < EVENTLIST_MOST; other++)
			if (!strcmp(l->events[other].name, l->events[i].name))
				put |= UINT64_C(1) << other;
	}
	return ret;
}

const struct profile *query_recorded_profile(struct query *q, const struct profile *p)
{
	uint64_t events = query_recorded_shown(q);
	const struct profile *all = q->engine->model->profile;

	if (samples_of(all, events) == samples_of(all, UINT64_MAX))
		return p;
	struct profile *ret = arena_alloc(&q->arena, sizeof(*ret));
	struct profile_cell *cells = arena_alloc(&q->arena, (p->n + 1) * sizeof(*cells));
	if (!ret || !cells) {
		q->cache->failed = true;
		return p;
	}
	*ret = *p;
	ret->cells = cells;
	ret->n = ret->samples = ret->period = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!(events >> p->cells[i].event & 1))
			continue;
		cells[ret->n++] = p->cells[i];
		ret->samples += p->cells[i].n;
		ret->period += p->cells[i].period;
	}
	return ret;
}

int query_recorded(struct query *q, struct query_recorded *ret)
{
	const struct eventlist *l = &q->engine->events;
	uint64_t shown = query_recorded_shown(q);
	struct query_recorded r = {0};

	r.events = arena_alloc(&q->arena, (l->n + 1) * sizeof(*r.events));
	if (!r.events)
		return -ENOMEM;
	for (size_t i = 0; i < l->n && i < EVENTLIST_MOST; i++) {
		const struct eventlist_event *e = &l->events[i];
		struct query_recorded_event *to = &r.events[r.n];
		if (e->is_own)
			continue;
		*to = (struct query_recorded_event){.number = (uint32_t)i + 1,
						    .name = arena_printf(&q->arena, "%s", e->name),
						    .samples = q->engine->merged.samples[i],
						    .is_profile = e->is_profile,
						    .is_used = e->is_used,
						    .is_decoded = !e->no_format,
						    .is_shown = shown >> i & 1};
		if (!to->name)
			return -ENOMEM;
		r.n++;
		if (to->is_used || to->is_shown || !to->samples)
			continue;
		r.hidden += to->samples;
		r.n_hidden++;
	}
	*ret = r;
	return 0;
}

const struct figure query_recorded_figures[] = {
	{FIGURE("number", COUNT, struct query_recorded_event, number)},
	{FIGURE("name", TEXT, struct query_recorded_event, name)},
	{FIGURE("samples", COUNT, struct query_recorded_event, samples)},
	{FIGURE("profile", BOOL, struct query_recorded_event, is_profile)},
	{FIGURE("decoded", BOOL, struct query_recorded_event, is_decoded)},
	{FIGURE("shown", BOOL, struct query_recorded_event, is_shown)},
	FIGURE_END,
};
