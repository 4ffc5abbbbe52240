// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/stringtable.h"
#include "kontend/mem.h"

uint32_t stringtable_get(struct stringtable *t, const char *text)
{
	const char *kept = strpool_intern(&t->pool, text);
	const uint32_t *known = kept ? map64_get(&t->indices, (uintptr_t)kept) : NULL;

	if (known)
		return *known;
	if (!kept || mem_grow(&t->list, &t->cap, t->n, sizeof(*t->list)) < 0 ||
	    map64_put(&t->indices, (uintptr_t)kept, (uint32_t)t->n) < 0)
		return UINT32_MAX;
	t->list[t->n] = kept;
	return (uint32_t)t->n++;
}

void stringtable_deinit(struct stringtable *t)
{
	map64_deinit(&t->indices);
	strpool_deinit(&t->pool);
	mem_free(t->list);
	*t = (struct stringtable){0};
}
