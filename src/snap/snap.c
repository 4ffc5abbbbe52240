// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot as arrays in memory. Texts stand one behind the other in one block; as neighbours in
 * the arrays often have the same names, the last few are looked at before one is added again.
 */
#include "kontend/snap.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

enum { LOOK_BACK = 256, TEXT_MAX = 256 }; /* bytes of texts looked at; longest text */

static int add(void *items, size_t *n, size_t *cap, const void *item, size_t size)
{
	if (mem_grow(items, cap, *n, size) < 0)
		return -ENOMEM;
	char *base;
	memcpy(&base, items, sizeof(base));
	memcpy(base + *n * size, item, size);
	(*n)++;
	return 0;
}

int snap_add_slots(struct snap *s, const struct snap_slots *item)
{
	return add(&s->slots, &s->n_slots, &s->cap_slots, item, sizeof(*item));
}

int snap_add_register(struct snap *s, const struct snap_register *item)
{
	return add(&s->registers, &s->n_registers, &s->cap_registers, item, sizeof(*item));
}

int snap_add_event(struct snap *s, const struct snap_event *item)
{
	return add(&s->events, &s->n_events, &s->cap_events, item, sizeof(*item));
}

int snap_add_holder(struct snap *s, const struct snap_holder *item)
{
	return add(&s->holders, &s->n_holders, &s->cap_holders, item, sizeof(*item));
}

int snap_add_context(struct snap *s, const struct snap_context *item)
{
	return add(&s->contexts, &s->n_contexts, &s->cap_contexts, item, sizeof(*item));
}

static int reserve_text(struct snap *s, size_t more)
{
	size_t cap = s->cap_strings ? s->cap_strings : 256;

	while (cap < s->n_strings + more)
		cap *= 2;
	if (cap == s->cap_strings)
		return 0;
	char *p = mem_resize(s->strings, cap, 1);
	if (!p)
		return -ENOMEM;
	s->strings = p;
	s->cap_strings = cap;
	return 0;
}

/* Offset of a text as @text among the last ones, or 0. */
static uint32_t find_text(const struct snap *s, const char *text, size_t len)
{
	size_t from = s->n_strings > LOOK_BACK ? s->n_strings - LOOK_BACK : 0;

	/* Only what begins behind the end of another text. */
	for (size_t i = from; i + len < s->n_strings; i++)
		if (i && !s->strings[i - 1] && memcmp(s->strings + i, text, len + 1) == 0)
			return (uint32_t)i;
	return 0;
}

uint32_t snap_add_text(struct snap *s, const char *text)
{
	size_t len = strnlen(text, TEXT_MAX);
	char copy[TEXT_MAX + 1];

	if (!len || reserve_text(s, len + 2) < 0)
		return 0;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (!s->n_strings)
		s->strings[s->n_strings++] = 0;
	uint32_t at = find_text(s, copy, len);
	if (at)
		return at;
	at = (uint32_t)s->n_strings;
	memcpy(s->strings + at, copy, len + 1);
	s->n_strings += len + 1;
	return at;
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
