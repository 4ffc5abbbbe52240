/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHA256_H
#define KONTEND_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

/* SHA-256 (FIPS 180-4) of two concatenated pieces. */
void sha256(const void *a, size_t len_a, const void *b, size_t len_b, uint8_t ret[SHA256_BYTES]);
/* HMAC-SHA-256 (RFC 2104) with a key of at most SHA256_BLOCK bytes. */
void sha256_hmac(const void *key, size_t key_len, const void *text, size_t len,
		 uint8_t ret[SHA256_BYTES]);

#endif
