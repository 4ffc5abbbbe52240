/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_MUTATE_H
#define KONTEND_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Damages recordings as one who knows the format: header, attributes, table and bodies of features,
 * records by their kind, our own bodies and the snapshots in them unpacked and packed again, zstd
 * streams, the order of records, and where it all ends. Of either layout. The same seed makes the
 * same damage.
 */
struct mutate_bytes {
	uint8_t *p; /* mem_free() */
	size_t n, cap;
};

struct mutate_random {
	uint64_t state; /* not 0 */
};

/* Below @n, which is not 0. */
uint64_t mutate_draw(struct mutate_random *r, uint64_t n);
/* 0, -1, sizes around powers of two, and anything. */
uint64_t mutate_number(struct mutate_random *r);
/* Numbers of 1 to 8 bytes somewhere in it, once or several times. */
void mutate_numbers(struct mutate_random *r, uint8_t *p, size_t n);

/* Failures for lack of memory end the program. */
void mutate_put(struct mutate_bytes *b, const void *p, size_t n);

/* @ret: a damaged copy of the recording @p; what is none is damaged as bytes. */
void mutate_recording(struct mutate_random *r, const uint8_t *p, size_t n,
		      struct mutate_bytes *ret);

/* mutate-ext.c: a record of ours (its raw data begins with PERFDATA_EXT_MAGIC), damaged inside. */
void mutate_ext(struct mutate_random *r, const uint8_t *record, size_t n, size_t magic_at,
		struct mutate_bytes *ret);
/* The whole content of the zstd stream in COMPRESSED records; and such records with content @p. */
void mutate_unpack(const uint8_t *p, size_t n, struct mutate_bytes *ret);
void mutate_pack(const uint8_t *p, size_t n, struct mutate_bytes *ret);

#endif
