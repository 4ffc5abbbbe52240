/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OLDEST_H
#define KONTEND_OLDEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The least value that is not below those of the @want oldest among @n items of @size bytes. @age
 * says the value of one, the older the less; 0: it does not count. UINT64_MAX: so many there are
 * not. For what is done rarely: all are looked at for each byte of it.
 */
uint64_t oldest_until(const void *items, size_t n, size_t size,
		      uint64_t (*age)(const void *ctx, const void *item), const void *ctx,
		      size_t want);

#endif
