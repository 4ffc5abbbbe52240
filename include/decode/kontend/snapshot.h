/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_H
#define KONTEND_SNAPSHOT_H

#include "kontend/record.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * The body of a RECORD_SNAPSHOT, kept: it never changes, so copies of a model share it. Counted
 * references, of one thread.
 */
struct snapshot {
	uint32_t refs;
	struct record_snapshot head;
	size_t len;	 /* of the payload */
	uint8_t bytes[]; /* 8-byte aligned */
};

struct snapshot_kind {
	const char *name;
	uint16_t version; /* the latest that is understood */
	bool is_lasting;  /* it says something of the whole recording, wherever it is in it */
};

const struct snapshot_kind *snapshot_kind(uint16_t kind); /* NULL: not known */
bool snapshot_is_lasting(uint16_t kind);

/* Is @data one, by its size? Then *ret is its head. */
bool snapshot_parse(const void *data, size_t len, struct record_snapshot *ret);

/* The latest snapshot of each kind, also of kinds that are not known here. */
enum { SNAPSHOT_SET_KINDS = 16, SNAPSHOT_SET_BYTES = 32 << 20 };
struct snapshot_set {
	struct snapshot *last[SNAPSHOT_SET_KINDS];
	size_t n, bytes;
};

/*
 * Takes a copy of the body of a RECORD_SNAPSHOT in place of the one before it of its kind. 0;
 * -ENOMEM; -EINVAL: it is none; -ENOSPC: there is no room for more kinds or bytes. The one before
 * it stays then.
 */
int snapshot_set_put(struct snapshot_set *s, const void *data, size_t len);
const struct snapshot *snapshot_set_get(const struct snapshot_set *s, uint16_t kind); /* or NULL */
/* What @src has of @kind becomes that of @dst; @src has none then. */
void snapshot_set_move(struct snapshot_set *dst, struct snapshot_set *src, uint16_t kind);
/* Into an uninitialized @dst, which shares what @src has. */
void snapshot_set_copy(struct snapshot_set *dst, const struct snapshot_set *src);
void snapshot_set_deinit(struct snapshot_set *s);

#endif
