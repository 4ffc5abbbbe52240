// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks without an entry of their own, who are "other" in all tables. Their waits can be told apart
 * all the same, by tid, as long as they go on; so there is an entry here for as long as that is.
 */
#include "kontend/stray.h"
#include "kontend/mem.h"
#include <errno.h>

enum { STRAYS = 65536 }; /* at once; beyond, ends were lost in masses */

void stray_table_deinit(struct stray_table *t)
{
	mem_free(t->strays);
	map64_deinit(&t->by_tid);
	*t = (struct stray_table){0};
}

int stray_table_copy(struct stray_table *dst, const struct stray_table *src)
{
	*dst = *src;
	dst->by_tid = (struct map64){0};
	dst->strays = src->n ? mem_dup(src->strays, src->n, sizeof(*src->strays)) : NULL;
	dst->cap = src->n;
	if (src->n && !dst->strays)
		return -ENOMEM;
	return map64_copy(&dst->by_tid, &src->by_tid);
}

struct stray *stray_find(const struct stray_table *t, int32_t tid)
{
	const uint32_t *index = t->in_use ? map64_get(&t->by_tid, (uint32_t)tid) : NULL;

	return index ? &t->strays[*index] : NULL;
}

static uint32_t free_index(struct stray_table *t)
{
	uint32_t index = t->free;

	if (index) {
		t->free = t->strays[index].next_free;
		return index;
	}
	if (!t->n)
		t->n = 1;
	if (t->n > STRAYS || mem_grow(&t->strays, &t->cap, t->n, sizeof(*t->strays)))
		return 0;
	return (uint32_t)t->n++;
}

static void give_back(struct stray_table *t, uint32_t index)
{
	t->strays[index].next_free = t->free;
	t->free = index;
}

struct stray *stray_get(struct stray_table *t, int32_t tid)
{
	struct stray *known = stray_find(t, tid);
	uint32_t index = known ? 0 : free_index(t);

	if (!index)
		return known;
	if (map64_put(&t->by_tid, (uint32_t)tid, index)) {
		give_back(t, index);
		return NULL;
	}
	t->strays[index] = (struct stray){.tid = tid};
	t->in_use++;
	return &t->strays[index];
}

void stray_put(struct stray_table *t, struct stray *s)
{
	map64_del(&t->by_tid, (uint32_t)s->tid);
	give_back(t, (uint32_t)(s - t->strays));
	t->in_use--;
}
