/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOOK_BYTES_H
#define KONTEND_LOOK_BYTES_H

#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/sections.h"

#include <stddef.h>

/* The bytes of a look's last snapshot; they grow as needed and are kept for the next. */
struct look_bytes {
	char *bytes;
	size_t cap;
};

/* Where a payload of @len bytes is to go, behind its struct record_snapshot; NULL: no memory. */
static inline char *look_bytes_payload(struct look_bytes *b, size_t len, size_t *ret_len)
{
	const size_t head = sizeof(struct record_snapshot);

	if (head + len > b->cap) {
		char *bytes = mem_resize(b->bytes, head + len, 1);
		if (!bytes)
			return NULL;
		b->bytes = bytes;
		b->cap = head + len;
	}
	*ret_len = head + len;
	return b->bytes + head;
}

/* @snap as take() of a look answers it: behind room for its head. NULL: no memory. */
static inline void *look_bytes_encode(struct look_bytes *b, const struct sections *k,
				      const void *snap, size_t *ret_len)
{
	char *payload = look_bytes_payload(b, sections_size(k, snap), ret_len);

	if (payload)
		sections_encode(k, snap, payload);
	return payload ? b->bytes : NULL;
}

#endif
