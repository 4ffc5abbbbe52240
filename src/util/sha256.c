// SPDX-License-Identifier: GPL-2.0-only
/*
 * SHA-256 as in FIPS 180-4, and HMAC as in RFC 2104: for identifiers that must not be reversible.
 * It hashes a few bytes per session, so it is not optimized. The state takes one block at a time;
 * the rest of the text and its length in bits fill the last one or two.
 */
#include "kontend/sha256.h"

#include <string.h>

enum { ROUNDS = 64, LENGTH_AT = SHA256_BLOCK - 8 };

struct state {
	uint32_t h[8];
	uint8_t block[SHA256_BLOCK];
	uint64_t len; /* bytes hashed so far */
};

/* The first 32 bits of the fractional parts of cube roots of the first primes. */
static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate_right(uint32_t v, unsigned by)
{
	return v >> by | v << (32 - by);
}

static uint32_t load(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void spread(const uint8_t *block, uint32_t w[ROUNDS])
{
	for (int i = 0; i < 16; i++)
		w[i] = load(block + (size_t)i * 4);
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) +
		       (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
	}
}

static void take_block(struct state *s)
{
	uint32_t w[ROUNDS], v[8];

	spread(s->block, w);
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
		uint32_t one =
			v[7] +
			(rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25)) +
			choice + constants[i] + w[i];
		uint32_t two =
			(rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) +
			majority;

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += v[i];
}

static void hash_block(struct state *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		s->block[s->len++ % SHA256_BLOCK] = p[i];
		if (s->len % SHA256_BLOCK == 0)
			take_block(s);
	}
}

static void finish(struct state *s, uint8_t ret[SHA256_BYTES])
{
	static const uint8_t one = 0x80, zero;
	uint64_t bits = s->len * 8;

	hash_block(s, &one, 1);
	while (s->len % SHA256_BLOCK != LENGTH_AT)
		hash_block(s, &zero, 1);
	for (int shift = 56; shift >= 0; shift -= 8) {
		uint8_t byte = (uint8_t)(bits >> shift);
		hash_block(s, &byte, 1);
	}
	for (int i = 0; i < SHA256_BYTES; i++)
		ret[i] = (uint8_t)(s->h[i / 4] >> (24 - i % 4 * 8));
}

void sha256(const void *a, size_t len_a, const void *b, size_t len_b, uint8_t ret[SHA256_BYTES])
{
	struct state s = {.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

	hash_block(&s, a, len_a);
	hash_block(&s, b, len_b);
	finish(&s, ret);
}

void sha256_hmac(const void *key, size_t key_len, const void *text, size_t len,
		 uint8_t ret[SHA256_BYTES])
{
	uint8_t inner[SHA256_BLOCK] = {0}, outer[SHA256_BLOCK], digest[SHA256_BYTES];

	memcpy(inner, key, key_len < SHA256_BLOCK ? key_len : SHA256_BLOCK);
	for (int i = 0; i < SHA256_BLOCK; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	sha256(inner, sizeof(inner), text, len, digest);
	sha256(outer, sizeof(outer), digest, sizeof(digest), ret);
}
