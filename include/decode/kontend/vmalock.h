/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VMALOCK_H
#define KONTEND_VMALOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Locks of mappings (VMAs). The kernel soon reuses the memory of a mapping for another one, so the
 * address of such a lock is made of the address space and the begin of the mapping. No kernel has
 * an object there: see filelock.h.
 */
static inline uint64_t vmalock_addr(uint64_t mm, uint64_t start)
{
	uint64_t x = mm * 0x9e3779b97f4a7c15ull;

	x ^= x >> 32;
	x = (x ^ start) * 0xc2b2ae3d27d4eb4full;
	x ^= x >> 29;
	return x >> 8 | 0xc1ull << 56;
}

static inline bool vmalock_is(uint64_t addr)
{
	return addr >> 56 == 0xc1;
}

#endif
