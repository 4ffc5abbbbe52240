/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOAD_H
#define KONTEND_LOAD_H

#include <stdint.h>
#include <string.h>

/* Loads from unaligned bytes whose end has been checked. */
static inline uint64_t load_u64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
