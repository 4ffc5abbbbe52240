// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two snapshots of a kind, one after the other: entries that the first has and the second has not
 * have ended, and are copied out of the first. Entries that come back, as a list changed during the
 * snapshot between, are no longer counted as ended. Breakpoints are in two kinds of snapshots:
 * those of slots, and of all.
 */
#include "kontend/ended.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/record.h"

#include <errno.h>
#include <linux/perf_event.h>

enum { TEXT_MOST = 1 << 20 };

/* Functions to walk the entries of one kind in a snapshot. */
struct items {
	enum ended_kind kind;
	size_t n;
	uint64_t time_ns;
	const struct perfsnap *perf;
	const struct upsnap *uprobes;
};

int ended_new(struct ended **ret)
{
	*ret = mem_calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void ended_free(struct ended *e)
{
	if (!e)
		return;
	for (int k = 0; k < ENDED_KINDS; k++)
		map64_deinit(&e->lists[k].at);
	perfsnap_deinit(&e->perf);
	perfsnap_deinit(&e->breakpoints);
	perfsnap_deinit(&e->contexts);
	perfsnap_deinit(&e->next);
	upsnap_deinit(&e->uprobes);
	upsnap_deinit(&e->upsnap);
	upsnap_deinit(&e->upnext);
	mem_free(e->slots);
	mem_free(e);
}

/* Identity of an item; 0: it is not kept. */
static uint64_t key_of(const struct items *t, size_t i)
{
	const struct snap_event *e;
	const struct snap_context *c;

	switch (t->kind) {
	case ENDED_CONTEXT:
		c = &t->perf->contexts[i];
		return hash_u64(c->addr) ^ ((uint64_t)(uint32_t)c->tid << 32 | (uint32_t)c->cpu);
	case ENDED_BREAKPOINT:
		e = &t->perf->events[i];
		return e->type == PERF_TYPE_BREAKPOINT && !(e->flags & SNAP_OWN) ? e->id : 0;
	case ENDED_AREA:
		return hash_u64(t->uprobes->areas[i].mm) ^ (uint32_t)t->uprobes->areas[i].pid;
	default:
		return t->uprobes->probes[i].id;
	}
}

static int put_context(struct perfsnap *to, const struct perfsnap *from, size_t i, size_t at)
{
	struct snap_context c = from->contexts[i];

	c.comm = perfsnap_add_text(to, perfsnap_text(from, c.comm));
	if (at == to->n_contexts)
		return perfsnap_add_context(to, &c);
	to->contexts[at] = c;
	return 0;
}

/* The tasks with a descriptor of the event @i, which is at @at now. */
static int put_holders(struct perfsnap *to, const struct perfsnap *from, size_t i, size_t at)
{
	int code = 0;

	for (size_t k = 0; k < to->n_holders; k++)
		if (to->holders[k].event == at + 1)
			to->holders[k].event = 0;
	for (size_t k = 0; code == 0 && k < from->n_holders; k++) {
		struct snap_holder h = from->holders[k];
		if (h.event != i + 1)
			continue;
		h.event = (uint32_t)at + 1;
		h.comm = perfsnap_add_text(to, perfsnap_text(from, h.comm));
		code = perfsnap_add_holder(to, &h);
	}
	return code;
}

static int put_breakpoint(struct perfsnap *to, const struct perfsnap *from, size_t i, size_t at)
{
	struct snap_event e = from->events[i];
	uint32_t *texts[] = {&e.owner_comm, &e.target_comm, &e.tracer_comm,
			     &e.pmu,	    &e.name,	    &e.where};

	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		*texts[k] = perfsnap_add_text(to, perfsnap_text(from, *texts[k]));
	e.context = 0;
	e.hits = UINT64_MAX;
	if (at < to->n_events)
		to->events[at] = e;
	else if (perfsnap_add_event(to, &e) < 0)
		return -ENOMEM;
	return put_holders(to, from, i, at);
}

static int put_area(struct upsnap *to, const struct upsnap *from, size_t i, size_t at)
{
	struct upsnap_area a = from->areas[i];

	a.comm = upsnap_add_text(to, upsnap_text(from, a.comm));
	if (at == to->n_areas)
		return upsnap_add_area(to, &a);
	to->areas[at] = a;
	return 0;
}

static int put_probe(struct upsnap *to, const struct upsnap *from, size_t i, size_t at)
{
	struct upsnap_probe p = from->probes[i];
	uint32_t *texts[] = {&p.owner_comm, &p.binary, &p.symbol, &p.name, &p.reason, &p.hint};

	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
		*texts[k] = upsnap_add_text(to, upsnap_text(from, *texts[k]));
	if (at == to->n_probes)
		return upsnap_add_probe(to, &p);
	to->probes[at] = p;
	return 0;
}

static int put_item(struct ended *e, const struct items *t, size_t i, size_t at)
{
	switch (t->kind) {
	case ENDED_CONTEXT:
		return put_context(&e->perf, t->perf, i, at);
	case ENDED_BREAKPOINT:
		return put_breakpoint(&e->perf, t->perf, i, at);
	case ENDED_AREA:
		return put_area(&e->uprobes, t->uprobes, i, at);
	default:
		return put_probe(&e->uprobes, t->uprobes, i, at);
	}
}

static int end(struct ended *e, const struct items *t, size_t i, uint64_t key)
{
	struct ended_list *l = &e->lists[t->kind];
	const uint32_t *known = map64_get(&l->at, key);
	uint32_t at = known ? *known - 1 : l->n;

	if (at == ENDED_MOST || e->perf.n_strings + e->uprobes.n_strings > TEXT_MOST) {
		l->more++;
		return 0;
	}
	if (put_item(e, t, i, at) < 0 || (!known && map64_put(&l->at, key, at + 1) < 0))
		return -ENOMEM;
	l->n += !known;
	l->last_ns[at] = t->time_ns;
	return 0;
}

/* From the look @was to the next one, @is. */
static int compare(struct ended *e, const struct items *was, const struct items *is)
{
	struct ended_list *l = &e->lists[is->kind];
	struct map64 there = {0};
	int code = 0;

	for (size_t i = 0; code == 0 && i < is->n; i++) {
		uint64_t key = key_of(is, i);
		const uint32_t *at = key && l->n ? map64_get(&l->at, key) : NULL;
		if (at)
			l->last_ns[*at - 1] = 0;
		code = key ? map64_put(&there, key, 1) : 0;
	}
	for (size_t i = 0; code == 0 && i < was->n; i++) {
		uint64_t key = key_of(was, i);
		if (key && !map64_get(&there, key))
			code = end(e, was, i, key);
	}
	map64_deinit(&there);
	return code;
}

static struct items of_perf(const struct perfsnap *s, enum ended_kind kind)
{
	return (struct items){.kind = kind,
			      .n = kind == ENDED_CONTEXT ? s->n_contexts : s->n_events,
			      .time_ns = s->head.time_ns,
			      .perf = s};
}

static struct items of_uprobes(const struct upsnap *s, enum ended_kind kind)
{
	return (struct items){.kind = kind,
			      .n = kind == ENDED_AREA ? s->n_areas : s->n_probes,
			      .time_ns = s->head.time_ns,
			      .uprobes = s};
}

static struct ended_slots *slots_of(struct ended *e, const struct snap_slots *s)
{
	for (size_t i = 0; i < e->n_slots; i++)
		if (e->slots[i].cpu == s->cpu && e->slots[i].type == s->type)
			return &e->slots[i];
	if (mem_grow(&e->slots, &e->cap_slots, e->n_slots, sizeof(*e->slots)) < 0)
		return NULL;
	e->slots[e->n_slots] = (struct ended_slots){s->cpu, s->type, -1};
	return &e->slots[e->n_slots++];
}

static int note_slots(struct ended *e, const struct perfsnap *s)
{
	for (size_t i = 0; i < s->n_slots; i++) {
		const struct snap_slots *c = &s->slots[i];
		struct ended_slots *most = slots_of(e, c);
		if (!most)
			return -ENOMEM;
		int32_t used = c->cpu_pinned < 0 || c->task_pinned_max < 0
				       ? -1
				       : c->cpu_pinned + c->task_pinned_max;
		most->most = used > most->most ? used : most->most;
	}
	return 0;
}

static int look_at_perf(struct ended *e, uint16_t kind, const void *payload, size_t len)
{
	int code = perfsnap_decode(&e->next, payload, len);

	if (code < 0)
		return code == -ENOMEM ? code : 0;
	struct items was = of_perf(&e->breakpoints, ENDED_BREAKPOINT),
		     is = of_perf(&e->next, ENDED_BREAKPOINT);
	code = note_slots(e, &e->next);
	code = code < 0 ? code : compare(e, &was, &is);
	if (code == 0 && kind == SNAPSHOT_PERF) {
		was = of_perf(&e->contexts, ENDED_CONTEXT);
		is = of_perf(&e->next, ENDED_CONTEXT);
		code = compare(e, &was, &is);
		/* The one of contexts is kept apart, as looks at slots have none. */
		if (code == 0)
			code = perfsnap_decode(&e->contexts, payload, len);
	}
	struct perfsnap old = e->breakpoints;
	e->breakpoints = e->next;
	e->next = old;
	return code == -ENOMEM ? code : 0;
}

static int look_at_uprobes(struct ended *e, const void *payload, size_t len)
{
	int code = upsnap_decode(&e->upnext, payload, len);

	for (int k = ENDED_AREA; code == 0 && k <= ENDED_PROBE; k++) {
		struct items was = of_uprobes(&e->upsnap, (enum ended_kind)k),
			     is = of_uprobes(&e->upnext, (enum ended_kind)k);
		code = compare(e, &was, &is);
	}
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	struct upsnap old = e->upsnap;
	e->upsnap = e->upnext;
	e->upnext = old;
	return 0;
}

int ended_look(struct ended *e, uint16_t kind, const void *payload, size_t len)
{
	if (kind == SNAPSHOT_PERF || kind == SNAPSHOT_SLOTS)
		return look_at_perf(e, kind, payload, len);
	return kind == SNAPSHOT_UPROBES ? look_at_uprobes(e, payload, len) : 0;
}

void ended_zero(struct ended *e)
{
	for (int k = 0; k < ENDED_KINDS; k++) {
		map64_clear(&e->lists[k].at);
		e->lists[k].n = 0;
		e->lists[k].more = 0;
	}
	perfsnap_clear(&e->perf);
	upsnap_clear(&e->uprobes);
	e->n_slots = 0;
	/* Entries that exist as the sums begin count from now on as well; there is room for them.
	 */
	(void)note_slots(e, &e->breakpoints);
}

int32_t ended_most_used(const struct ended *e, uint32_t cpu, uint32_t type)
{
	for (size_t i = 0; e && i < e->n_slots; i++)
		if (e->slots[i].cpu == cpu && e->slots[i].type == type)
			return e->slots[i].most;
	return -1;
}
