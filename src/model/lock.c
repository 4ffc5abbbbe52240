// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks by (address, type and mode). Entries 0..LOCK_TYPES-1 stand for all locks of a type that are
 * not kept one by one. Entries that nothing refers to any more go to a free list; indices of others
 * do not change. The kernel may free a lock and use its memory for another one of the same type:
 * the two are one row here unless an event reports when that was, as the end of a process does for
 * its mmap_lock. An id stays with its entry for good, so the first lock at an address has the key.
 */
#include "kontend/lock.h"
#include "kontend/hash.h"
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
		t->locks[i] = (struct lock){.type = (uint8_t)i, .id = lock_key(0, i)};
	return 0;
}

void lock_table_deinit(struct lock_table *t)
{
	for (size_t i = 0; t->locks && i < t->n; i++)
		series_deinit(&t->locks[i].wait_series);
	mem_free(t->locks);
	map64_deinit(&t->index);
	map64_deinit(&t->others);
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

/* The key, or if an earlier lock has that as its id, one that says the type and no address. */
static uint64_t make_id(struct lock_table *t, uint64_t key, enum lock_type type)
{
	uint64_t id = key;

	while (map64_get(&t->others, id))
		id = (8ull << 60 | (uint64_t)type << 56) |
		     (hash_u64(key + ++t->n_ids) & ((1ull << 56) - 1));
	return id;
}

/* With its other mode, if that was waited for. */
static void pair_modes(struct lock_table *t, uint32_t index)
{
	struct lock *l = &t->locks[index];
	enum lock_type type = (enum lock_type)l->type, other = locktype_twin(type);
	const uint32_t *at = other == type ? NULL : map64_get(&t->index, lock_key(l->addr, other));

	if (!at)
		return;
	l->twin = *at;
	l->charged_ns = t->locks[*at].charged_ns;
	l->queue = t->locks[*at].queue;
	t->locks[*at].twin = index;
}

/* Some locks begin with another one: semaphores with a spinlock. */
static void note_many(struct lock_table *t, uint32_t index)
{
	struct lock *l = &t->locks[index];

	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&t->index, lock_key(l->addr, type));
		if (at && *at != index && *at != l->twin)
			t->locks[*at].many = l->many = true;
	}
}

uint32_t lock_add(struct lock_table *t, uint64_t addr, enum lock_type type)
{
	uint64_t key = lock_key(addr, type);
	uint32_t index = free_index(t);

	if (!index)
		return (uint32_t)type;
	t->locks[index] =
		(struct lock){.addr = addr, .type = (uint8_t)type, .id = make_id(t, key, type)};
	pair_modes(t, index);
	/* Without memory for the latter its page is not found, and nothing else. */
	if (t->locks[index].id != key)
		(void)map64_put(&t->others, t->locks[index].id, index);
	if (map64_put(&t->index, key, index)) {
		map64_del(&t->others, t->locks[index].id);
		t->locks[t->locks[index].twin].twin = 0;
		t->locks[index].next_free = t->free;
		t->free = index;
		return (uint32_t)type;
	}
	_Static_assert(LOCK_TYPES <= 32, "struct lock_table.types has a bit for each");
	t->types |= 1u << type;
	note_many(t, index);
	return index;
}

uint32_t lock_waited_at(const struct lock_table *t, uint64_t addr)
{
	uint32_t found = 0;

	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		if (!lock_has_type(t, type))
			continue;
		const uint32_t *at = map64_get(&t->index, lock_key(addr, type));
		if (!at || !lock_is_waited_for(t, *at) || (found && t->locks[*at].twin == found))
			continue;
		if (found)
			return 0;
		found = *at;
	}
	return found;
}

uint64_t lock_last_got_ns(const struct lock_table *t, uint64_t addr)
{
	uint64_t last = 0;

	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&t->index, lock_key(addr, type));
		if (at && t->locks[*at].last_got_ns > last)
			last = t->locks[*at].last_got_ns;
	}
	return last;
}

void lock_end(struct lock_table *t, uint64_t addr, const struct lock_end *end)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&t->index, lock_key(addr, type));
		struct lock *l = at ? &t->locks[*at] : NULL;
		/* Without memory the two go on as one. */
		if (!l || map64_put(&t->others, l->id, *at))
			continue;
		l->over = true;
		l->end = *end;
		map64_del(&t->index, lock_key(addr, type));
	}
}

uint32_t lock_by_id(const struct lock_table *t, uint64_t id)
{
	const uint32_t *at = map64_get(&t->others, id);

	at = at ? at : map64_get(&t->index, id);
	return at && *at < t->n && t->locks[*at].id == id ? *at : UINT32_MAX;
}

/* Takes it out of the maps; false: it is in none, as it is free. */
static bool forget(struct lock_table *t, const struct lock *l)
{
	bool other = map64_del(&t->others, l->id);

	return l->over ? other : map64_del(&t->index, lock_key(l->addr, l->type));
}

void lock_sweep(struct lock_table *t)
{
	for (uint32_t i = LOCK_TYPES; i < t->n; i++) {
		struct lock *l = &t->locks[i];
		if (!l->marked && forget(t, l)) {
			series_deinit(&l->wait_series);
			t->locks[l->twin].twin = 0;
			*l = (struct lock){.next_free = t->free};
			t->free = i;
		}
		l->marked = 0;
	}
}
