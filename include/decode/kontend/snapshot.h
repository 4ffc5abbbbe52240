/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_H
#define KONTEND_SNAPSHOT_H

#include "kontend/record.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * A kept RECORD_SNAPSHOT body: it never changes, so copies of a model share it. Reference counted,
 * for one thread.
 */
struct snapshot {
	uint32_t refs;
	struct record_snapshot head;
	size_t len;	 /* of the payload */
	uint8_t bytes[]; /* 8-byte aligned */
};

struct snapshot_kind {
	const char *name;
	uint16_t version; /* latest known version */
	bool is_lasting;  /* describes the whole recording, wherever it is in it */
};

const struct snapshot_kind *snapshot_kind(uint16_t kind); /* NULL: not known */
bool snapshot_is_lasting(uint16_t kind);

/* True if @data is large enough for a snapshot; sets *ret to its head. */
bool snapshot_parse(const void *data, size_t len, struct record_snapshot *ret);

/* The latest snapshot of each kind, unknown kinds included. */
enum { SNAPSHOT_SET_KINDS = 20, SNAPSHOT_SET_BYTES = 32 << 20 };
struct snapshot_set {
	struct snapshot *last[SNAPSHOT_SET_KINDS];
	size_t n, bytes;
};

/*
 * Copies the body of a RECORD_SNAPSHOT in place of the previous one of its kind. 0; -ENOMEM;
 * -EINVAL: not a snapshot; -ENOSPC: too many kinds or bytes. On failure the previous one stays.
 */
int snapshot_set_put(struct snapshot_set *s, const void *data, size_t len);
const struct snapshot *snapshot_set_get(const struct snapshot_set *s, uint16_t kind); /* or NULL */
/* Moves the snapshot of @kind from @src to @dst, also if there is none. */
void snapshot_set_move(struct snapshot_set *dst, struct snapshot_set *src, uint16_t kind);
/* Initializes @dst, which shares the snapshots of @src. */
void snapshot_set_copy(struct snapshot_set *dst, const struct snapshot_set *src);
void snapshot_set_deinit(struct snapshot_set *s);

/* Is @r a snapshot of sums of short waits, with a payload? *ret_ns: its time. */
bool snapshot_is_shorts(const struct record *r, uint64_t *ret_ns);
/*
 * @payload of @before_ns and @now are two such snapshots. If @at_ns lies between their times, *ret
 * is one of @at_ns, with estimated sums, and the caller frees its body with mem_free(): 1; else 0,
 * or -ENOMEM.
 */
int snapshot_shorts_between(const void *payload, size_t len, uint64_t before_ns,
			    const struct record *now, uint64_t at_ns, struct record *ret);

#endif
