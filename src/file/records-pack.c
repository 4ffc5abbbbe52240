// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of one kind differ in few bytes: the time, and the task that waited. libzstd looks for
 * repetitions by hashes at each byte and does not know where a record begins. Here each record is
 * compared with an earlier one that is probably equal except for its time; equal bytes are a
 * repetition, and libzstd encodes these. This takes less time than its first level and compresses
 * better than its fourth. Any reader of zstd takes the result.
 *
 * The word after header, id, address and task is assumed to be the time. If the time is elsewhere,
 * no record is found that is the same but one of the same kind is, and only the size suffers.
 */
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_compressSequences() */
#include "kontend/mem.h"
#include "pack.h"
#include <errno.h>
#include <string.h>
#include <zstd.h>

enum {
	WORD = 8,
	TASK_AT = 3 * WORD,
	TIME_AT = 4 * WORD,
	TAIL = 5 * WORD, /* where tracepoints have the fields of a single wait */
	LEAST = 6 * WORD,
	SAME_BITS = 13,
	KIND_BITS = 10,
	SHORTEST = 5,		/* shortest repetition that saves more than it costs */
	MOST_SEQS = 16384,	/* in a frame */
	MOST_LITERALS_PART = 16 /* of its bytes; with more, libzstd alone does better */
};

/* The latest record in the frame that is the same, alike or of the same kind; 0: none */
struct pack_records {
	uint32_t same[1 << SAME_BITS], alike[1 << KIND_BITS], kind[1 << KIND_BITS];
	ZSTD_Sequence seqs[MOST_SEQS];
	size_t n;
	size_t pending;	 /* literals since the last repetition */
	size_t literals; /* literals before it */
};

static uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* The number of equal bytes, at most @len. */
static size_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t n = 0;

	for (; n + WORD <= len; n += WORD)
		if (word(a + n) != word(b + n))
			break;
	while (n < len && a[n] == b[n])
		n++;
	return n;
}

static void add_repetition(struct pack_records *r, uint32_t offset, size_t len)
{
	ZSTD_Sequence *last = r->n ? &r->seqs[r->n - 1] : NULL;

	if (!r->pending && last && last->offset == offset) {
		last->matchLength += (uint32_t)len;
	} else if (len < SHORTEST || r->n == MOST_SEQS) {
		r->pending += len;
	} else {
		r->seqs[r->n++] = (ZSTD_Sequence){offset, (uint32_t)r->pending, (uint32_t)len, 0};
		r->literals += r->pending;
		r->pending = 0;
	}
}

/* Adds the record at @p as repetitions of the one @offset bytes before it. */
static void add_record(struct pack_records *r, const uint8_t *p, size_t size, uint32_t offset)
{
	for (size_t i = 0; i < size; i++) {
		size_t n = equal_bytes(p + i, p + i - offset, size - i);

		if (n)
			add_repetition(r, offset, n);
		i += n;
		r->pending += i < size;
	}
}

/* The offset to the record that is probably most similar to the one at @at; 0: none. */
static uint32_t find_like(struct pack_records *r, const uint8_t *data, size_t at, size_t size)
{
	const uint8_t *p = data + at;
	uint64_t kind = mix(word(p), word(p + WORD)), alike = mix(kind, word(p + 2 * WORD));
	size_t i = TIME_AT + WORD;

	for (; i + TAIL < size; i += WORD)
		alike = mix(alike, word(p + i));
	uint64_t same = mix(alike, word(p + TASK_AT));
	for (; i < size; i += WORD)
		same = mix(same, word(p + i));

	uint32_t *places[] = {&r->same[mix(same, 0) >> (64 - SAME_BITS)],
			      &r->alike[mix(alike, 0) >> (64 - KIND_BITS)],
			      &r->kind[mix(kind, 0) >> (64 - KIND_BITS)]};
	uint32_t like = 0;

	for (int k = 0; k < 3; k++) {
		like = like ? like : *places[k];
		*places[k] = (uint32_t)at + 1;
	}
	return like ? (uint32_t)at + 1 - like : 0;
}

/* Finds the repetitions of a frame. @rest: bytes of a record that began in the previous frame. */
static void find_repetitions(struct pack_records *r, const uint8_t *data, size_t len,
			     uint32_t *rest)
{
	size_t at = *rest < len ? *rest : len, size = 0;

	*rest -= (uint32_t)at;
	r->n = r->literals = 0;
	r->pending = at;
	memset(r->same, 0, sizeof(r->same));
	memset(r->alike, 0, sizeof(r->alike));
	memset(r->kind, 0, sizeof(r->kind));
	for (; at + WORD <= len; at += size) {
		size = word(data + at) >> 48;
		if (size < WORD || size % WORD)
			break;
		bool is_whole = size <= len - at;
		uint32_t offset = is_whole && size >= LEAST ? find_like(r, data, at, size) : 0;
		if (offset)
			add_record(r, data + at, size, offset);
		else
			r->pending += is_whole ? size : len - at;
		if (!is_whole)
			*rest = (uint32_t)(size - (len - at));
	}
	/* The rest contains no records. */
	if (at < len)
		r->pending += len - at;
	r->literals += r->pending;
}

long records_pack(struct pack *p, const void *data, size_t len, void *buf, size_t room)
{
	if (!p->records)
		p->records = mem_calloc(1, sizeof(*p->records));
	if (!p->records)
		return -ENOMEM;
	find_repetitions(p->records, data, len, &p->rest);
	if (p->records->literals > len / MOST_LITERALS_PART)
		return 0;
	size_t z = ZSTD_compressSequences(p->stream, buf, room, p->records->seqs, p->records->n,
					  data, len);
	/* It leaves a stream begun. */
	ZSTD_CCtx_reset(p->stream, ZSTD_reset_session_only);
	return ZSTD_isError(z) ? 0 : (long)z;
}
