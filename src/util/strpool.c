// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hash set of pointers into an arena, at most 3/4 full. Texts are never removed. Hashes are not
 * stored: texts are short, and the table is rehashed only when it doubles.
 */
#include "kontend/strpool.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { STRPOOL_FIRST = 64 };

static uint64_t strpool_hash(const char *s, size_t len)
{
	uint64_t h = hash_bytes(HASH_START, s, len);

	return h ^ h >> 32;
}

static const char **strpool_slot(const char **slots, size_t mask, const char *s, size_t len)
{
	size_t i = strpool_hash(s, len) & mask;

	while (slots[i] && (strncmp(slots[i], s, len) != 0 || slots[i][len]))
		i = (i + 1) & mask;
	return &slots[i];
}

static int strpool_enlarge(struct strpool *p)
{
	size_t n = p->slots ? p->mask + 1 : 0;
	size_t more = n ? n * 2 : STRPOOL_FIRST;
	const char **slots = mem_calloc(more, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (p->slots[i])
			*strpool_slot(slots, more - 1, p->slots[i], strlen(p->slots[i])) =
				p->slots[i];
	mem_free(p->slots);
	p->slots = slots;
	p->mask = more - 1;
	return 0;
}

const char *strpool_intern_n(struct strpool *p, const char *s, size_t len)
{
	len = strnlen(s, len);
	if ((!p->slots || p->count >= (p->mask + 1) / 4 * 3) && strpool_enlarge(p))
		return NULL;

	const char **slot = strpool_slot(p->slots, p->mask, s, len);
	if (*slot)
		return *slot;
	const char *copy = arena_strndup(&p->arena, s, len);
	if (!copy)
		return NULL;
	*slot = copy;
	p->count++;
	return copy;
}

const char *strpool_find(const struct strpool *p, const char *s, size_t len)
{
	len = strnlen(s, len);
	return p->slots ? *strpool_slot(p->slots, p->mask, s, len) : NULL;
}

const char *strpool_intern(struct strpool *p, const char *s)
{
	return strpool_intern_n(p, s, strlen(s));
}

void strpool_deinit(struct strpool *p)
{
	arena_deinit(&p->arena);
	mem_free(p->slots);
	*p = (struct strpool){0};
}
