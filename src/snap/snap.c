// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot of perf events as arrays in memory. */
#include "kontend/snap.h"
#include "kontend/mem.h"
#include "kontend/sections.h"

int snap_add_slots(struct snap *s, const struct snap_slots *item)
{
	return sections_add(&s->slots, &s->n_slots, &s->cap_slots, item, sizeof(*item));
}

int snap_add_register(struct snap *s, const struct snap_register *item)
{
	return sections_add(&s->registers, &s->n_registers, &s->cap_registers, item, sizeof(*item));
}

int snap_add_event(struct snap *s, const struct snap_event *item)
{
	return sections_add(&s->events, &s->n_events, &s->cap_events, item, sizeof(*item));
}

int snap_add_holder(struct snap *s, const struct snap_holder *item)
{
	return sections_add(&s->holders, &s->n_holders, &s->cap_holders, item, sizeof(*item));
}

int snap_add_context(struct snap *s, const struct snap_context *item)
{
	return sections_add(&s->contexts, &s->n_contexts, &s->cap_contexts, item, sizeof(*item));
}

uint32_t snap_add_text(struct snap *s, const char *text)
{
	return sections_add_text(&s->strings, &s->n_strings, &s->cap_strings, text);
}

const char *snap_text(const struct snap *s, uint32_t offset)
{
	return offset < s->n_strings ? s->strings + offset : "";
}

void snap_clear(struct snap *s)
{
	s->head = (struct snap_head){0};
	s->n_slots = s->n_registers = s->n_events = 0;
	s->n_holders = s->n_contexts = s->n_strings = 0;
}

void snap_deinit(struct snap *s)
{
	mem_free(s->slots);
	mem_free(s->registers);
	mem_free(s->events);
	mem_free(s->holders);
	mem_free(s->contexts);
	mem_free(s->strings);
	*s = (struct snap){0};
}
