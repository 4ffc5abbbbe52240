// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot of perf events: see sections.h. */
#include "kontend/perfsnap.h"
#include "kontend/map64.h"
#include "kontend/sections.h"

static bool texts_fit(const struct perfsnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool event_fits(const struct perfsnap *s, const struct snap_event *e)
{
	const uint32_t texts[] = {e->owner_comm, e->target_comm, e->tracer_comm,
				  e->pmu,	 e->name,	 e->where};

	return e->context <= s->n_contexts && texts_fit(s, texts, 6);
}

/* True if all references are valid. */
static bool fits(const void *snap)
{
	const struct perfsnap *s = snap;
	bool ok = texts_fit(s, &s->head.reason, 1) && texts_fit(s, &s->head.creations_reason, 1);

	for (size_t i = 0; ok && i < s->n_events; i++)
		ok = event_fits(s, &s->events[i]);
	for (size_t i = 0; ok && i < s->n_registers; i++)
		ok = s->registers[i].event <= s->n_events;
	for (size_t i = 0; ok && i < s->n_holders; i++)
		ok = s->holders[i].event <= s->n_events && texts_fit(s, &s->holders[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_contexts; i++)
		ok = texts_fit(s, &s->contexts[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_creators; i++)
		ok = texts_fit(s, &s->creators[i].comm, 1);
	return ok;
}

/* Children that inherit an event of kontend are kontend's own, too. */
static int mark_own(void *snap)
{
	struct perfsnap *s = snap;
	struct map64 own = {0};
	int code = 0;

	for (size_t i = 0; i < s->n_events && !code; i++)
		if (s->events[i].flags & SNAP_OWN && s->events[i].flags & SNAP_INHERIT)
			code = map64_put(&own, s->events[i].id, 1);
	for (size_t i = 0; i < s->n_events && own.count; i++) {
		struct snap_event *e = &s->events[i];

		if (e->parent && map64_get(&own, e->parent))
			e->flags |= SNAP_OWN;
	}
	map64_deinit(&own);
	return code;
}

static const struct section list[] = {
	SECTION_HEAD(struct perfsnap),	     SECTION(struct perfsnap, slots),
	SECTION(struct perfsnap, registers), SECTION(struct perfsnap, events),
	SECTION(struct perfsnap, holders),   SECTION(struct perfsnap, contexts),
	SECTION(struct perfsnap, strings),   SECTION(struct perfsnap, creators),
};

const struct sections perfsnap_sections =
	SECTIONS(0x31504e5346524550ull, struct perfsnap, list, fits, mark_own); /* "PERFSNP1" */
