// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot of perf events as bytes: see sections.h. */
#include "kontend/sections.h"
#include "kontend/snap.h"

#include <errno.h>

static const uint64_t MAGIC = 0x31504e5346524550ull; /* "PERFSNP1" */

/* Sections by their number in the bytes. */
enum { S_HEAD = 1, S_SLOTS, S_REGISTERS, S_EVENTS, S_HOLDERS, S_CONTEXTS, S_STRINGS, S_END };

enum { SECTIONS = S_END - S_HEAD };

#define ARRAY_OF(number, s, name)                                                                  \
	{                                                                                          \
		number, sizeof(*(s)->name), &(s)->name, &(s)->n_##name, &(s)->cap_##name           \
	}

static void describe(struct snap *s, struct section ret[SECTIONS])
{
	const struct section all[SECTIONS] = {
		{S_HEAD, sizeof(s->head), &s->head, NULL, NULL},
		ARRAY_OF(S_SLOTS, s, slots),
		ARRAY_OF(S_REGISTERS, s, registers),
		ARRAY_OF(S_EVENTS, s, events),
		ARRAY_OF(S_HOLDERS, s, holders),
		ARRAY_OF(S_CONTEXTS, s, contexts),
		ARRAY_OF(S_STRINGS, s, strings),
	};

	for (int i = 0; i < SECTIONS; i++)
		ret[i] = all[i];
}

size_t snap_size(const struct snap *s)
{
	struct snap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	return sections_size(all, SECTIONS);
}

void snap_encode(const struct snap *s, void *ret)
{
	struct snap copy = *s;
	struct section all[SECTIONS];

	describe(&copy, all);
	sections_encode(MAGIC, all, SECTIONS, ret);
}

static bool texts_fit(const struct snap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool event_fits(const struct snap *s, const struct snap_event *e)
{
	const uint32_t texts[] = {e->owner_comm, e->target_comm, e->tracer_comm,
				  e->pmu,	 e->name,	 e->where};

	return e->context <= s->n_contexts && texts_fit(s, texts, 6);
}

/* Whatever is referred to is there. */
static bool fits(const struct snap *s)
{
	bool ok = texts_fit(s, &s->head.reason, 1);

	for (size_t i = 0; ok && i < s->n_events; i++)
		ok = event_fits(s, &s->events[i]);
	for (size_t i = 0; ok && i < s->n_registers; i++)
		ok = s->registers[i].event <= s->n_events;
	for (size_t i = 0; ok && i < s->n_holders; i++)
		ok = s->holders[i].event <= s->n_events && texts_fit(s, &s->holders[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_contexts; i++)
		ok = texts_fit(s, &s->contexts[i].comm, 1);
	return ok;
}

int snap_decode(struct snap *s, const void *data, size_t len)
{
	struct section all[SECTIONS];

	snap_clear(s);
	describe(s, all);
	int code = sections_decode(MAGIC, all, SECTIONS, data, len);
	if (!code && !fits(s))
		code = -EBADMSG;
	if (code)
		snap_clear(s);
	return code;
}
