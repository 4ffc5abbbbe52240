/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SORT_H
#define KONTEND_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stable merge sort of @n elements of @size bytes. @room has as much room as @items: the caller
 * says where memory comes from, which qsort() does not. @before: does a stand before b? (Equal
 * elements: no.)
 */
void sort_merge(void *items, void *room, size_t n, size_t size,
		int (*before)(const void *a, const void *b));

struct sort_item {
	uint64_t key;
	uint32_t at; /* of what is sorted */
};

/*
 * Stable, the smallest key first. @room as above. For many items: as many passes over them as there
 * are bytes in which keys differ, whatever is in them.
 */
void sort_radix(struct sort_item *items, struct sort_item *room, size_t n);

#endif
