/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BISECT_H
#define KONTEND_BISECT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Number of the @n items whose key is not above @value: the index of the first one after it. Items
 * of @size bytes are sorted by the 64-bit key at offset @key.
 */
static inline size_t bisect_at(const void *items, size_t n, size_t size, size_t key, uint64_t value)
{
	const char *low = items;

	while (n) {
		size_t half = n / 2;
		const uint64_t *number = (const void *)(low + half * size + key);

		if (*number <= value) {
			low += (half + 1) * size;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return items ? (size_t)(low - (const char *)items) / size : 0;
}

/* The same for an array of structures, by their member @key, which must have 64 bits to compile. */
#define BISECT(items, n, key, value)                                                               \
	bisect_at(items, n, sizeof(*(items)) * sizeof(char[sizeof((items)->key) == 8 ? 1 : -1]),   \
		  offsetof(__typeof__(*(items)), key), value)

/*
 * The same for any order: number of the @n items, each of @size bytes, that do not come after @key.
 * @compare: as in qsort(), the item first.
 */
static inline size_t bisect_by(const void *items, size_t n, size_t size, const void *key,
			       int (*compare)(const void *item, const void *key))
{
	const char *low = items;

	while (n) {
		size_t half = n / 2;

		if (compare(low + half * size, key) <= 0) {
			low += (half + 1) * size;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return items ? (size_t)(low - (const char *)items) / size : 0;
}

#endif
