/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAP64_H
#define KONTEND_MAP64_H

#include "kontend/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * u64 -> u32 hash map: open addressing, linear probing, backward-shift deletion, power-of-two
 * size, at most 3/4 full. The key 0 is allowed. `= {0}` is a valid empty map.
 */
struct map64_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

struct map64 {
	struct map64_slot *slots;
	size_t mask; /* slots - 1; slots == NULL: empty */
	size_t count;
};

/* Pointer to the value of @key, NULL if absent; valid until the next put or del. */
static inline uint32_t *map64_get(const struct map64 *m, uint64_t key)
{
	if (!m->slots)
		return NULL;
	for (size_t i = hash_u64(key) & m->mask;; i = (i + 1) & m->mask) {
		struct map64_slot *s = &m->slots[i];
		if (!s->used)
			return NULL;
		if (s->key == key)
			return &s->value;
	}
}

/* Sets @key to @value, adding it if absent. 0 or -ENOMEM. */
int map64_put(struct map64 *m, uint64_t key, uint32_t value);
bool map64_del(struct map64 *m, uint64_t key);		    /* false: not present */
void map64_clear(struct map64 *m);			    /* keeps the memory */
int map64_copy(struct map64 *dst, const struct map64 *src); /* into an empty one; 0 or -ENOMEM */
void map64_deinit(struct map64 *m);

#endif
