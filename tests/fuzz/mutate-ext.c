// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed parts of a recording: bodies of ours inside samples, and zstd streams. A valid body is
 * unpacked, damaged in its numbers, its length or its kind, and packed again, so that the reader of
 * the body meets the damage and not the unpacker.
 */
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/record.h"
#include "mutate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BODY_MOST = 1 << 22, FRAME = 32 << 10, RECORD_MOST = 65528, LEVEL = 1 };

static uint8_t *room(size_t n)
{
	uint8_t *p = mem_calloc(n ? n : 1, 1);

	if (!p)
		abort();
	return p;
}

/* A body alone in its chunk. False: it has others, or cannot be unpacked. */
static bool unpack_body(const struct perfdata_ext *o, const uint8_t *p, struct mutate_bytes *ret)
{
	if (o->offset || o->here != o->stored || o->length > BODY_MOST)
		return false;
	if (!(o->flags & PERFDATA_EXT_ZSTD)) {
		mutate_put(ret, p, o->here);
		return true;
	}
	uint8_t *plain = room(o->length);
	size_t n = ZSTD_decompress(plain, o->length, p, o->here);
	if (!ZSTD_isError(n))
		mutate_put(ret, plain, n);
	mem_free(plain);
	return !ZSTD_isError(n);
}

static void damage_body(struct mutate_random *r, struct perfdata_ext *o, struct mutate_bytes *b)
{
	struct record_snapshot s;

	switch (mutate_draw(r, 8)) {
	case 0:
		b->n = mutate_draw(r, b->n + 1);
		break;
	case 1:
		o->kind = (uint16_t)mutate_draw(r, RECORD_SNAPSHOT + 2);
		break;
	case 2:
		if (o->kind != RECORD_SNAPSHOT || b->n < sizeof(s))
			break;
		memcpy(&s, b->p, sizeof(s));
		if (mutate_draw(r, 2))
			s.kind = (uint16_t)mutate_draw(r, SNAPSHOT_KINDS + 1);
		else
			s.flags = (uint32_t)mutate_draw(r, 4);
		memcpy(b->p, &s, sizeof(s));
		break;
	default:
		/* The first bytes are counts and sizes, as a rule. */
		mutate_numbers(r, b->p, mutate_draw(r, 2) && b->n > 256 ? 256 : b->n);
	}
}

/* The record again around another body: the fields before the raw data's length stay. */
static void put_own(const uint8_t *record, size_t magic_at, const struct perfdata_ext *o,
		    const uint8_t *body, struct mutate_bytes *ret)
{
	struct perf_event_header h;
	size_t raw = sizeof(*o) + o->here, padded = (magic_at + raw + 7) / 8 * 8;
	uint32_t len = (uint32_t)(padded - magic_at);
	const uint8_t zeros[8] = {0};

	if (padded > RECORD_MOST || magic_at < sizeof(h) + sizeof(len))
		return;
	memcpy(&h, record, sizeof(h));
	h.size = (uint16_t)padded;
	mutate_put(ret, &h, sizeof(h));
	mutate_put(ret, record + sizeof(h), magic_at - sizeof(len) - sizeof(h));
	mutate_put(ret, &len, sizeof(len));
	mutate_put(ret, o, sizeof(*o));
	mutate_put(ret, body, o->here);
	mutate_put(ret, zeros, len - raw);
}

void mutate_ext(struct mutate_random *r, const uint8_t *record, size_t n, size_t magic_at,
		struct mutate_bytes *ret)
{
	struct mutate_bytes body = {0};
	struct perfdata_ext o;
	size_t from = ret->n;

	memcpy(&o, record + magic_at, sizeof(o));
	bool is_whole = o.here <= n - magic_at - sizeof(o) &&
			unpack_body(&o, record + magic_at + sizeof(o), &body);
	if (!is_whole || mutate_draw(r, 4) == 0) {
		mutate_put(ret, record, n);
		if (ret->n == from + n)
			mutate_numbers(r, ret->p + from + magic_at, sizeof(o));
		mem_free(body.p);
		return;
	}
	damage_body(r, &o, &body);
	size_t most = ZSTD_compressBound(body.n);
	uint8_t *packed = room(most);
	size_t len = ZSTD_compress(packed, most, body.p, body.n, LEVEL);
	if (!ZSTD_isError(len) && len <= PERFDATA_EXT_CHUNK) {
		o.flags |= PERFDATA_EXT_ZSTD;
		o.here = (uint16_t)len;
		o.stored = (uint32_t)len;
		o.length = (uint32_t)body.n;
		put_own(record, magic_at, &o, packed, ret);
	}
	mem_free(packed);
	mem_free(body.p);
}

static void unpack_some(ZSTD_DStream *z, const uint8_t *p, size_t n, struct mutate_bytes *ret)
{
	uint8_t *plain = room(FRAME);
	ZSTD_inBuffer in = {p, n, 0};
	size_t code = 0;

	do {
		ZSTD_outBuffer out = {plain, FRAME, 0};
		code = ZSTD_decompressStream(z, &out, &in);
		mutate_put(ret, plain, out.pos);
		if (ZSTD_isError(code) || (in.pos == n && out.pos < FRAME))
			break;
	} while (ret->n < BODY_MOST);
	mem_free(plain);
}

void mutate_unpack(const uint8_t *p, size_t n, struct mutate_bytes *ret)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	struct perf_event_header h;

	if (!z)
		abort();
	for (size_t at = 0; n - at >= sizeof(h); at += h.size) {
		memcpy(&h, p + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > n - at)
			break;
		if (h.type == PERFDATA_TYPE_COMPRESSED)
			unpack_some(z, p + at + sizeof(h), h.size - sizeof(h), ret);
		else if (h.type < PERFDATA_TYPE_USER)
			mutate_put(ret, p + at, h.size);
	}
	ZSTD_freeDStream(z);
}

void mutate_pack(const uint8_t *p, size_t n, struct mutate_bytes *ret)
{
	uint8_t *packed = room(ZSTD_compressBound(FRAME));

	for (size_t at = 0; at < n; at += FRAME) {
		size_t here = n - at < FRAME ? n - at : FRAME;
		size_t len = ZSTD_compress(packed, ZSTD_compressBound(FRAME), p + at, here, LEVEL);
		const struct perf_event_header h = {.type = PERFDATA_TYPE_COMPRESSED,
						    .size = (uint16_t)(sizeof(h) + len)};
		if (ZSTD_isError(len) || len > RECORD_MOST - sizeof(h))
			continue;
		mutate_put(ret, &h, sizeof(h));
		mutate_put(ret, packed, len);
	}
	mem_free(packed);
}
