/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_PACK_H
#define KONTEND_SRC_FILE_PACK_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libzstd, for one stream in pieces (the context lives on between PERF_RECORD_COMPRESSED records)
 * and for whole frames. pack.c is its only user. Output is bounded by the caller's buffer; window
 * memory by libzstd's own limit of 128 MiB, of which only what is used becomes resident.
 */
struct unpack {
	void *stream; /* NULL: nothing begun */
	const uint8_t *in;
	size_t in_left;
	int is_full;   /* the last call filled all the room it had: more may be inside */
	int is_within; /* a frame has begun and not ended */
};

void unpack_deinit(struct unpack *u);
/* Would a fresh one not do as well for what comes next? */
int unpack_is_within(const struct unpack *u);
/* The next piece; its bytes stay the caller's until unpack_some() has answered 0. */
int unpack_feed(struct unpack *u, const void *data, size_t len, struct error *err);
/* Bytes put into @buf; 0 = all of the piece is used up; -EBADMSG, -ENOMEM. */
long unpack_some(struct unpack *u, void *buf, size_t len, struct error *err);

/* One whole frame of exactly @len bytes. 0 or -EBADMSG. */
int unpack_frame(const void *data, size_t stored, void *buf, size_t len);

struct pack {
	void *stream;
	int level;
	struct pack_records *records; /* of the frame at hand; NULL: none yet */
	uint32_t rest;		      /* bytes that the last record of the frame before still has */
	bool is_within;		      /* the last piece was not the end of a frame */
};
void pack_deinit(struct pack *p);
/*
 * Packs all of @data, so that it can be unpacked without what follows; @end: what follows can be
 * unpacked without this, too. Bytes put into @buf, a multiple
 * of 8; or -ENOMEM, -ENOSPC (see pack_bound()).
 */
long pack_some(struct pack *p, const void *data, size_t len, void *buf, size_t room, int end);
size_t pack_bound(size_t len);
/*
 * How many of the @len bytes of a frame that are left go into the next record: with its header
 * still a 16-bit size, and so many that the last one has the end of a block. perf takes a record
 * that nothing comes out of for damage.
 */
enum { PACK_PIECE_MOST = 65520, PACK_PIECE_LAST = 1024 };
size_t pack_piece(size_t len);
/* records-pack.c: a whole frame of records that differ little. Bytes put into @buf; 0: they do. */
long records_pack(struct pack *p, const void *data, size_t len, void *buf, size_t room);
/* One whole frame. Bytes put into @buf, or -ENOMEM. */
long pack_frame(const void *data, size_t len, void *buf, size_t room, int level);

#endif
