// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks without an entry of their own, which are "other" in all tables. Their waits are separated
 * all the same, by tid, while they continue; so there is an entry here for that long.
 */
#include "kontend/untracked.h"
#include "kontend/mem.h"
#include <errno.h>

enum { STRAYS = 65536 }; /* at once; beyond, ends were lost in masses */

void untracked_table_deinit(struct untracked_table *t)
{
	mem_free(t->untracked);
	map64_deinit(&t->by_tid);
	*t = (struct untracked_table){0};
}

int untracked_table_copy(struct untracked_table *dst, const struct untracked_table *src)
{
	*dst = *src;
	dst->by_tid = (struct map64){0};
	dst->untracked = src->n ? mem_dup(src->untracked, src->n, sizeof(*src->untracked)) : NULL;
	dst->cap = src->n;
	if (src->n && !dst->untracked)
		return -ENOMEM;
	return map64_copy(&dst->by_tid, &src->by_tid);
}

struct untracked *untracked_find(const struct untracked_table *t, int32_t tid)
{
	const uint32_t *index = t->in_use ? map64_get(&t->by_tid, (uint32_t)tid) : NULL;

	return index ? &t->untracked[*index] : NULL;
}

static uint32_t free_index(struct untracked_table *t)
{
	uint32_t index = t->free;

	if (index) {
		t->free = t->untracked[index].next_free;
		return index;
	}
	if (!t->n)
		t->n = 1;
	if (t->n > STRAYS || mem_grow(&t->untracked, &t->cap, t->n, sizeof(*t->untracked)))
		return 0;
	return (uint32_t)t->n++;
}

static void give_back(struct untracked_table *t, uint32_t index)
{
	t->untracked[index].next_free = t->free;
	t->free = index;
}

struct untracked *untracked_get(struct untracked_table *t, int32_t tid)
{
	struct untracked *known = untracked_find(t, tid);
	uint32_t index = known ? 0 : free_index(t);

	if (!index)
		return known;
	if (map64_put(&t->by_tid, (uint32_t)tid, index)) {
		give_back(t, index);
		return NULL;
	}
	t->untracked[index] = (struct untracked){.tid = tid};
	t->in_use++;
	return &t->untracked[index];
}

void untracked_put(struct untracked_table *t, struct untracked *s)
{
	map64_del(&t->by_tid, (uint32_t)s->tid);
	give_back(t, (uint32_t)(s - t->untracked));
	t->in_use--;
}
