/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HASH_H
#define KONTEND_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Hashes of 64 bits, for tables in memory and for ids of rows and files, which are the same in each
 * run. None of them resists an attacker who chooses the input; sha256.h does. Two tables have
 * hashes of their own, because each event passes through them: src/model/cell.c and stack.c.
 */
#define HASH_START 0xcbf29ce484222325ull /* for hash_bytes() and hash_text() */

/* FNV-1a: @h is HASH_START, or the hash of what is before these bytes. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

/* The same for the bytes of a text, without its NUL. */
static inline uint64_t hash_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

/* Mixes the bits of a number: different numbers have different hashes. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

/* The hash of one more number after those of which @h is the hash. */
static inline uint64_t hash_add(uint64_t h, uint64_t v)
{
	return hash_u64(h ^ v);
}

/* A slot of a table of 1 << @bits slots (1 to 32), by one multiplication: for small caches. */
static inline uint32_t hash_slot(uint64_t x, unsigned bits)
{
	return (uint32_t)(x * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

#endif
