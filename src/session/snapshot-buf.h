/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_BUF_H
#define KONTEND_SNAPSHOT_BUF_H

#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/sections.h"

#include <stddef.h>

/* The bytes of a source's last snapshot; they grow as needed and are kept for the next. */
struct snapshot_buf {
	char *bytes;
	size_t cap;
};

/* Room for a payload of @len bytes, after its struct record_snapshot; NULL: no memory. */
static inline char *snapshot_buf_payload(struct snapshot_buf *b, size_t len, size_t *ret_len)
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

/* @snap in the form that take() of a source answers: after room for its head. NULL: no memory. */
static inline void *snapshot_buf_encode(struct snapshot_buf *b, const struct sections *k,
					const void *snap, size_t *ret_len)
{
	char *payload = snapshot_buf_payload(b, sections_size(k, snap), ret_len);

	if (payload)
		sections_encode(k, snap, payload);
	return payload ? b->bytes : NULL;
}

#endif
