// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bottom-up merge sort: runs of 1, 2, 4 ... elements are merged from one array into the other,
 * which swap at each pass. n log n for any order, no recursion and no allocation. Many numbers are
 * sorted faster by radix, the lowest byte first, without mispredicted comparisons.
 */
#include "kontend/sort.h"
#include <string.h>

static void merge(char *to, const char *from, size_t mid, size_t n, size_t size,
		  int (*before)(const void *a, const void *b))
{
	size_t a = 0, b = mid;

	for (size_t i = 0; i < n; i++) {
		const char *x = from + a * size, *y = from + b * size;
		int left = b >= n || (a < mid && !before(y, x));

		memcpy(to + i * size, left ? x : y, size);
		a += left ? 1 : 0;
		b += left ? 0 : 1;
	}
}

void sort_merge(void *items, void *room, size_t n, size_t size,
		int (*before)(const void *a, const void *b))
{
	char *from = items, *to = room;

	for (size_t run = 1; run < n; run *= 2) {
		char *t = from;

		for (size_t at = 0; at < n; at += 2 * run) {
			size_t left = n - at;

			merge(to + at * size, from + at * size, run < left ? run : left,
			      2 * run < left ? 2 * run : left, size, before);
		}
		from = to;
		to = t;
	}
	if (n && from != items)
		memcpy(items, from, n * size);
}

static void sort_byte(struct sort_item *to, const struct sort_item *from, size_t n, int shift)
{
	size_t at[257] = {0};

	for (size_t i = 0; i < n; i++)
		at[(from[i].key >> shift & 0xff) + 1]++;
	for (int b = 0; b < 256; b++)
		at[b + 1] += at[b];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & 0xff]++] = from[i];
}

void sort_radix(struct sort_item *items, struct sort_item *room, size_t n)
{
	struct sort_item *from = items, *to = room;
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= items[i].key ^ items[0].key;
	for (int shift = 0; shift < 64; shift += 8) {
		struct sort_item *t = from;

		if (!(differ >> shift & 0xff))
			continue;
		sort_byte(to, from, n, shift);
		from = to;
		to = t;
	}
	if (n && from != items)
		memcpy(items, from, n * sizeof(*items));
}
