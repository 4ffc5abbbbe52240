// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events by task and CPU. The target of an event is in its attributes and never changes, so two
 * snapshots with the same events agree, whatever the events' state at the time of each.
 */
#include "census.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"
#include "kontend/pmus.h"
#include <errno.h>
#include <linux/perf_event.h>

static uint64_t key_of(enum census_what what, int32_t tid, int32_t cpu)
{
	return (uint64_t)(uint32_t)tid << 32 | (uint64_t)what << 24 | (uint32_t)(cpu + 1);
}

static int count(struct census *c, uint64_t key, const struct snap_event *e)
{
	const uint32_t *at = map64_get(&c->index, key);
	size_t i = at ? *at : c->n;

	if (!at) {
		if (mem_grow(&c->counts, &c->cap, c->n, sizeof(*c->counts)) ||
		    map64_put(&c->index, key, (uint32_t)c->n))
			return -ENOMEM;
		c->counts[c->n++] = (struct census_count){0};
	}
	c->counts[i].n++;
	c->counts[i].ids += hash_u64(e->id);
	return 0;
}

/* PMUs that do not rotate have room for any number of events. */
static bool takes_counter(const struct snap_event *e, const struct pmus *p)
{
	if (e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_HW_CACHE ||
	    e->type == PERF_TYPE_RAW)
		return true;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->items[i].type == e->type)
			return true;
	}
	return false;
}

static int count_event(struct census *c, const struct snap_event *e, const struct pmus *p,
		       bool ticks)
{
	int r = count(c, key_of(CENSUS_ALL, e->target_tid, e->cpu), e);

	if (r == 0 && takes_counter(e, p))
		r = count(c, key_of(CENSUS_COUNTERS, e->target_tid, e->cpu), e);
	if (r == 0 && ticks)
		r = count(c, key_of(CENSUS_TICK, e->target_tid, e->target_tid ? -1 : e->cpu), e);
	return r;
}

static int count_all(struct census *c, const struct perfsnap *s, const struct pmus *p)
{
	bool *ticks = mem_calloc(s->n_contexts + 1, sizeof(*ticks));
	int r = ticks ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (e->context && e->state >= SNAP_INACTIVE && (e->flags & SNAP_FREQUENCY))
			ticks[e->context] = true;
	}
	for (size_t i = 0; r == 0 && i < s->n_events; i++) {
		if (s->events[i].state >= SNAP_INACTIVE)
			r = count_event(c, &s->events[i], p, ticks[s->events[i].context]);
	}
	mem_free(ticks);
	return r;
}

int census_take(struct census *c, const struct snapshot *perf, const struct snapshot *pmus)
{
	struct pmus p = {0};
	struct perfsnap s = {0};
	int r = perfsnap_decode(&s, perf->bytes, perf->len);

	*c = (struct census){0};
	if (r == 0 && (s.head.missing & (SNAP_NO_EVENTS | SNAP_NO_CONTEXTS) || s.head.incomplete ||
		       s.head.dropped))
		r = -ENODATA;
	if (pmus)
		pmus_decode(pmus->bytes, pmus->len, &p);
	if (r == 0)
		r = count_all(c, &s, &p);
	if (r < 0)
		census_deinit(c);
	perfsnap_deinit(&s);
	return r == 0 || r == -ENOMEM ? r : -ENODATA;
}

void census_add(struct census_count *sum, const struct census *c, enum census_what what,
		int32_t tid, int32_t cpu)
{
	const uint32_t *at = map64_get(&c->index, key_of(what, tid, cpu));

	if (!at)
		return;
	sum->n += c->counts[*at].n;
	sum->ids += c->counts[*at].ids;
}

void census_deinit(struct census *c)
{
	map64_deinit(&c->index);
	mem_free(c->counts);
	*c = (struct census){0};
}
