// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots of 16 bytes: four fit in a cache line, and a lookup is usually one miss. Deletion moves
 * later members of the same run back instead of leaving tombstones: entries come and go all the
 * time (waits in flight), and probes must not get longer with age.
 */
#include "kontend/map64.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { MAP64_FIRST = 16 };

/* The slot of @key, or the free one where it belongs. There is always a free one. */
static struct map64_slot *map64_slot(const struct map64 *m, uint64_t key)
{
	size_t i = hash_u64(key) & m->mask;

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static int map64_enlarge(struct map64 *m)
{
	size_t n = m->slots ? m->mask + 1 : 0;
	size_t more = n ? n * 2 : MAP64_FIRST;
	struct map64 bigger = {.mask = more - 1, .count = m->count};

	bigger.slots = mem_calloc(more, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (m->slots[i].used)
			*map64_slot(&bigger, m->slots[i].key) = m->slots[i];
	mem_free(m->slots);
	*m = bigger;
	return 0;
}

int map64_put(struct map64 *m, uint64_t key, uint32_t value)
{
	uint32_t *old = map64_get(m, key);

	if (old) {
		*old = value;
		return 0;
	}
	if (!m->slots || m->count >= (m->mask + 1) / 4 * 3) {
		int r = map64_enlarge(m);
		if (r)
			return r;
	}
	*map64_slot(m, key) = (struct map64_slot){.key = key, .value = value, .used = 1};
	m->count++;
	return 0;
}

bool map64_del(struct map64 *m, uint64_t key)
{
	if (!m->slots)
		return false;
	struct map64_slot *hole = map64_slot(m, key);
	if (!hole->used)
		return false;

	size_t at = (size_t)(hole - m->slots);
	for (size_t i = (at + 1) & m->mask; m->slots[i].used; i = (i + 1) & m->mask) {
		size_t home = hash_u64(m->slots[i].key) & m->mask;

		/* A slot may move back to the hole unless that is before its home. */
		if (((i - home) & m->mask) < ((i - at) & m->mask))
			continue;
		m->slots[at] = m->slots[i];
		at = i;
	}
	m->slots[at] = (struct map64_slot){0};
	m->count--;
	return true;
}

void map64_clear(struct map64 *m)
{
	if (m->slots)
		memset(m->slots, 0, (m->mask + 1) * sizeof(*m->slots));
	m->count = 0;
}

int map64_copy(struct map64 *dst, const struct map64 *src)
{
	*dst = *src;
	dst->slots = mem_dup(src->slots, src->mask + 1, sizeof(*src->slots));
	if (dst->slots || !src->slots)
		return 0;
	*dst = (struct map64){0};
	return -ENOMEM;
}

void map64_deinit(struct map64 *m)
{
	mem_free(m->slots);
	*m = (struct map64){0};
}
