// SPDX-License-Identifier: GPL-2.0-only
/*
 * libzstd: only this file and records-pack.c use it. perf compresses the bytes of a ring as one
 * endless stream that is cut into records, so the context must survive from piece to piece; a piece
 * ends in a flush, but an event may begin in one piece and end in the next.
 */
#include "pack.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>
#include <zstd.h>

enum { FAST_LEVELS = 3 }; /* a user who chooses a higher level has the time for it */

void unpack_deinit(struct unpack *u)
{
	ZSTD_freeDCtx(u->stream);
	*u = (struct unpack){0};
}

int unpack_is_within(const struct unpack *u)
{
	return u->is_within || u->in_left || u->is_full;
}

int unpack_feed(struct unpack *u, const void *data, size_t len, struct error *err)
{
	if (!u->stream)
		u->stream = ZSTD_createDCtx();
	if (!u->stream)
		return error_enomem(err, "unpacking compressed records");
	u->in = data;
	u->in_left = len;
	return 0;
}

long unpack_some(struct unpack *u, void *buf, size_t len, struct error *err)
{
	ZSTD_inBuffer in = {.src = u->in, .size = u->in_left};
	ZSTD_outBuffer out = {.dst = buf, .size = len};

	while (out.pos < out.size && (in.pos < in.size || u->is_full)) {
		size_t before = out.pos + in.pos;
		size_t z = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(z))
			return error_set(err, -EBADMSG, "libzstd says: %s", ZSTD_getErrorName(z));
		u->is_full = out.pos == out.size;
		u->is_within = z != 0;
		if (out.pos + in.pos == before) {
			in.pos = in.size;
			break;
		}
	}
	u->in += in.pos;
	u->in_left -= in.pos;
	return (long)out.pos;
}

int unpack_frame(const void *data, size_t stored, void *buf, size_t len)
{
	size_t z = ZSTD_decompress(buf, len, data, stored);

	return ZSTD_isError(z) || z != len ? -EBADMSG : 0;
}

void pack_deinit(struct pack *p)
{
	ZSTD_freeCCtx(p->stream);
	mem_free(p->records);
	*p = (struct pack){0};
}

size_t pack_piece(size_t len)
{
	if (len <= PACK_PIECE_MOST)
		return len;
	return len - PACK_PIECE_MOST < PACK_PIECE_LAST ? len - PACK_PIECE_LAST : PACK_PIECE_MOST;
}

size_t pack_bound(size_t len)
{
	return ZSTD_compressBound(len) + 64;
}

/*
 * Records have sizes that are multiples of 8. Within a frame, padding after a flush is empty raw
 * blocks of three zeros each; after a frame it is a skippable frame: its magic, size and zeros.
 */
static long pad(uint8_t *buf, size_t len, size_t room, int end)
{
	size_t n = len;

	while (!end && n % 8)
		n += 3;
	if (end && len % 8)
		n += 8 + (8 - len % 8);
	if (n > room)
		return -ENOSPC;
	memset(buf + len, 0, n - len);
	if (n > len && end) {
		uint32_t head[2] = {ZSTD_MAGIC_SKIPPABLE_START, (uint32_t)(n - len - 8)};
		memcpy(buf + len, head, sizeof(head));
	}
	return (long)n;
}

long pack_some(struct pack *p, const void *data, size_t len, void *buf, size_t room, int end)
{
	ZSTD_inBuffer in = {.src = data, .size = len};
	ZSTD_outBuffer out = {.dst = buf, .size = room};

	if (!p->stream) {
		p->stream = ZSTD_createCCtx();
		if (!p->stream)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(p->stream, ZSTD_c_compressionLevel, p->level);
	}
	bool by_records = end && !p->is_within && p->level <= FAST_LEVELS;
	long n = by_records ? records_pack(p, data, len, buf, room) : 0;
	if (n)
		return n < 0 ? n : pad(buf, (size_t)n, room, end);
	p->is_within = !end;
	size_t z = ZSTD_compressStream2(p->stream, &out, &in, end ? ZSTD_e_end : ZSTD_e_flush);
	if (ZSTD_isError(z))
		return -ENOMEM;
	return z || in.pos < in.size ? -ENOSPC : pad(buf, out.pos, room, end);
}

long pack_frame(const void *data, size_t len, void *buf, size_t room, int level)
{
	size_t z = ZSTD_compress(buf, room, data, len, level);

	return ZSTD_isError(z) ? -ENOMEM : (long)z;
}
