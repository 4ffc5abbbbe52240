// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks by (address, type and mode). Entries 0..LOCK_TYPES-1 stand for all locks of a type that are
 * not kept one by one. Entries that nothing refers to any more go to a free list; indices of others
 * do not change. The kernel may free a lock and use its memory for another one of the same type:
 * the two are one row here, as nothing in the stream tells them apart.
 */
#include "kontend/lock.h"
#include "kontend/mem.h"
#include <errno.h>

int lock_table_init(struct lock_table *t, uint32_t max)
{
	*t = (struct lock_table){.max = max < 2 * LOCK_TYPES ? 2 * LOCK_TYPES : max,
				 .n = LOCK_TYPES,
				 .cap = 4 * LOCK_TYPES};
	t->locks = mem_calloc(t->cap, sizeof(*t->locks));
	if (!t->locks)
		return -ENOMEM;
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		t->locks[i].type = (uint8_t)i;
	return 0;
}

void lock_table_deinit(struct lock_table *t)
{
	for (size_t i = 0; t->locks && i < t->n; i++)
		series_deinit(&t->locks[i].wait_series);
	mem_free(t->locks);
	map64_deinit(&t->index);
	*t = (struct lock_table){0};
}

static uint32_t free_index(struct lock_table *t)
{
	if (t->free) {
		uint32_t index = t->free;
		t->free = t->locks[index].next_free;
		return index;
	}
	if (t->n >= t->max || mem_grow(&t->locks, &t->cap, t->n, sizeof(*t->locks)))
		return 0;
	return (uint32_t)t->n++;
}

uint32_t lock_add(struct lock_table *t, uint64_t addr, enum lock_type type)
{
	uint32_t index = free_index(t);

	if (!index)
		return (uint32_t)type;
	t->locks[index] = (struct lock){.addr = addr, .type = (uint8_t)type};
	if (map64_put(&t->index, lock_key(addr, type), index)) {
		t->locks[index].next_free = t->free;
		t->free = index;
		return (uint32_t)type;
	}
	return index;
}

void lock_sweep(struct lock_table *t)
{
	for (uint32_t i = LOCK_TYPES; i < t->n; i++) {
		struct lock *l = &t->locks[i];
		if (!l->marked && map64_del(&t->index, lock_key(l->addr, l->type))) {
			series_deinit(&l->wait_series);
			*l = (struct lock){.next_free = t->free};
			t->free = i;
		}
		l->marked = 0;
	}
}
