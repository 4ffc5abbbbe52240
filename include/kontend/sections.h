/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SECTIONS_H
#define KONTEND_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the payloads of snapshots are written: a magic number, then sections, each with the number
 * and the size of its items in front, 8-byte aligned, in native byte order. A reader takes of each
 * item what it knows: the front of a longer one, zeros behind a shorter one. Unknown sections are
 * passed over. So fields and sections can be added without a new version; a change of meaning
 * needs a new one.
 */
struct section {
	uint32_t number; /* of the section in the bytes; never used for anything else again */
	uint32_t size;	 /* of an item in memory */
	void *items;	 /* where the pointer to the array is; a single item: the item itself */
	size_t *n, *cap; /* of the array; NULL: a single item that must be there */
};

/* A block of texts is a section of items of one byte, with room for as many as there are bytes. */
enum { SECTIONS_ITEMS_MAX = 1 << 17 };

size_t sections_size(const struct section *s, size_t n);
/* Into sections_size() bytes, 8-byte aligned. */
void sections_encode(uint64_t magic, const struct section *s, size_t n, void *ret);
/*
 * Into the arrays, which grow as needed. 0, -ENOMEM, -EPROTO: another magic number, or -EBADMSG:
 * damaged. What the items refer to is the caller's to check.
 */
int sections_decode(uint64_t magic, const struct section *s, size_t n, const void *data,
		    size_t len);

/* One more item behind the @n of *@items. 0 or -ENOMEM. */
int sections_add(void *items, size_t *n, size_t *cap, const void *item, size_t size);
/*
 * Offset of @text in the block *@texts of NUL-terminated texts, the first of them empty; it is
 * stored once if it is the same as one of the last. 0 for "" and when memory is out.
 */
uint32_t sections_add_text(char **texts, size_t *n, size_t *cap, const char *text);
/* Is each of the @n_offsets 0 or inside of the block, which ends with NUL? */
bool sections_texts_fit(const char *texts, size_t n, const uint32_t *offsets, size_t n_offsets);

#endif
