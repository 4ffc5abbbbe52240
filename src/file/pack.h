/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_PACK_H
#define KONTEND_SRC_FILE_PACK_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libzstd, for one stream in pieces (the context survives between PERF_RECORD_COMPRESSED records)
 * and for whole frames. pack.c is its only user. Output is limited by the caller's buffer; window
 * memory by libzstd's own limit of 128 MiB, of which only used pages become resident.
 */
struct unpack {
	void *stream; /* NULL: no stream has begun */
	const uint8_t *in;
	size_t in_left;
	int is_full;   /* the last call filled the buffer: there may be more */
	int is_within; /* a frame has begun and not ended */
};

void unpack_deinit(struct unpack *u);
/* Does the next piece need this context, or would a new one do? */
int unpack_is_within(const struct unpack *u);
/* The next piece; its bytes must stay valid until unpack_some() has returned 0. */
int unpack_feed(struct unpack *u, const void *data, size_t len, struct error *err);
/* Returns the bytes put into @buf; 0 = the piece is used up; -EBADMSG, -ENOMEM. */
long unpack_some(struct unpack *u, void *buf, size_t len, struct error *err);

/* One whole frame of exactly @len bytes. 0 or -EBADMSG. */
int unpack_frame(const void *data, size_t stored, void *buf, size_t len);

struct pack {
	void *stream;
	int level;
	struct pack_records *records; /* of the current frame; NULL: none yet */
	uint32_t rest;		      /* bytes of the previous frame's last record that follow */
	bool is_within;		      /* the last piece was not the end of a frame */
};
void pack_deinit(struct pack *p);
/*
 * Compresses all of @data, so that it can be unpacked without later pieces; @end: later pieces can
 * be unpacked without it, too. Returns the bytes put into @buf, a multiple of 8; or -ENOMEM,
 * -ENOSPC (see pack_bound()).
 */
long pack_some(struct pack *p, const void *data, size_t len, void *buf, size_t room, int end);
size_t pack_bound(size_t len);
/*
 * The number of a frame's remaining @len bytes that go into the next record: few enough for a
 * 16-bit record size, and such that the last record contains the end of a block. perf takes a
 * record that unpacks to nothing for damage.
 */
enum { PACK_PIECE_MOST = 65520, PACK_PIECE_LAST = 1024 };
size_t pack_piece(size_t len);
/* records-pack.c: a whole frame of records that are nearly equal. Returns the bytes put into @buf;
 * 0: they differ too much. */
long records_pack(struct pack *p, const void *data, size_t len, void *buf, size_t room);
/* One whole frame. Returns the bytes put into @buf, or -ENOMEM. */
long pack_frame(const void *data, size_t len, void *buf, size_t room, int level);

#endif
