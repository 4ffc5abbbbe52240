/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SORT_H
#define KONTEND_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Stable merge sort of @n elements of @size bytes. @room is as large as @items: unlike qsort(), the
 * caller provides the memory. @before: must a come before b? (Equal elements: no.)
 */
void sort_merge(void *items, void *room, size_t n, size_t size,
		int (*before)(const void *a, const void *b));

struct sort_item {
	uint64_t key;
	uint32_t at; /* index of the sorted element */
};

/*
 * Stable, the smallest key first. @room as above. For many items: makes one pass for each byte in
 * which keys differ.
 */
void sort_radix(struct sort_item *items, struct sort_item *room, size_t n);

#endif
