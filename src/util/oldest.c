// SPDX-License-Identifier: GPL-2.0-only
/* By bisection of the values: it takes no memory, and the order of the items stays. */
#include "kontend/oldest.h"

uint64_t oldest_until(const void *items, size_t n, size_t size,
		      uint64_t (*age)(const void *ctx, const void *item), const void *ctx,
		      size_t want)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		size_t older = 0;

		for (size_t i = 0; i < n; i++) {
			uint64_t v = age(ctx, (const char *)items + i * size);
			older += v && v <= mid;
		}
		if (older >= want)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}
