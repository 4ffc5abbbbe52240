/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OLDEST_H
#define KONTEND_OLDEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The least value that is not below those of the @want oldest of @n items of @size bytes. @age
 * returns the value of an item, less is older; 0: it does not count. UINT64_MAX: there are fewer.
 * For rare use: it visits all items once for each byte of the value.
 */
uint64_t oldest_until(const void *items, size_t n, size_t size,
		      uint64_t (*age)(const void *ctx, const void *item), const void *ctx,
		      size_t want);

#endif
