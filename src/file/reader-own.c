// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of our own event: records that perf has no type for, whole or in chunks. Chunks of one
 * body stand one behind the other. A body of which some are missing is dropped: it counts as one
 * bad record, however many of its chunks are there, and of a snapshot the stream says that it was
 * lost. A body of a fixed struct has exactly its size, so that what is handed out here is never
 * refused further on.
 */
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "reader-int.h"
#include <errno.h>

/* id, ip, pid and tid, time, cpu; then the raw data. */
enum { RAW_AT = sizeof(struct perf_event_header) + 5 * 8, BODY_AT = RAW_AT + 4 };

static bool is_kind(const struct perfdata_own *h)
{
	static const size_t sizes[] = {
		[RECORD_HOST] = sizeof(struct record_host),
		[RECORD_ROUND] = sizeof(uint64_t),
		[RECORD_TICK] = sizeof(uint64_t),
		[RECORD_DROP] = sizeof(struct record_drop),
		[RECORD_FILL] = sizeof(struct record_fill),
		[RECORD_CPU] = sizeof(struct record_cpu),
		[RECORD_START] = sizeof(uint64_t),
		[RECORD_ENDING] = sizeof(uint64_t),
	};

	if (h->kind == RECORD_KALLSYMS || h->kind == RECORD_NOTE)
		return true;
	if (h->kind == RECORD_SNAPSHOT)
		return h->length >= sizeof(struct record_snapshot) &&
		       h->length <= sizeof(struct record_snapshot) + RECORD_SNAPSHOT_MOST;
	return h->kind < sizeof(sizes) / sizeof(*sizes) && sizes[h->kind] &&
	       sizes[h->kind] == h->length;
}

static int bad(struct reader *r)
{
	if (!r->stat.bad_records++)
		r->bad_at = reader_where(r);
	return READER_AGAIN;
}

static int bad_body(struct reader *r, const struct perfdata_own *h)
{
	const struct record_snapshot lost = {.flags = RECORD_SNAPSHOT_LOST};

	bad(r);
	if (h->kind != RECORD_SNAPSHOT)
		return READER_AGAIN;
	return reader_queue_copy(r, RECORD_SNAPSHOT, 0, &lost, sizeof(lost)) ? -ENOMEM
									     : READER_AGAIN;
}

int reader_own_end(struct reader *r)
{
	if (!r->own)
		return READER_AGAIN;
	mem_free(r->own);
	r->own = NULL;
	r->own_head.offset = r->own_have;
	return bad_body(r, &r->own_head);
}

/* What stands at the end is told once, and when that is read first nothing else of it is. */
static bool is_told(const struct reader *r, const struct perfdata_own *h, const void *body)
{
	struct record_snapshot head;
	bool lasting = h->kind == RECORD_SNAPSHOT && snapshot_parse(body, h->length, &head) &&
		       snapshot_is_lasting(head.kind);

	return h->kind == RECORD_ENDING || (r->early ? !lasting : r->had_early && lasting);
}

/* Takes over @b. */
static int hand_out(struct reader *r, const struct perfdata_own *h, const void *body,
		    struct reader_block *b)
{
	uint64_t time = 0;

	if (is_told(r, h, body)) {
		reader_block_put(r, b);
		return READER_AGAIN;
	}
	if (h->kind == RECORD_ROUND || h->kind == RECORD_TICK)
		time = reader_u64(body);
	if (r->asked_tick_ns && time) {
		reader_block_put(r, b);
		if (h->kind == RECORD_ROUND)
			r->round_until = time;
		return READER_AGAIN;
	}
	bool said = h->kind == RECORD_HOST || h->kind == RECORD_KALLSYMS || h->kind == RECORD_NOTE;
	if (said && reader_where(r) <= r->farthest) {
		reader_block_put(r, b);
		return READER_AGAIN;
	}
	/* Of rounds and ticks: both say that everything up to them is there. */
	if (time > r->flow.said_until)
		r->flow.said_until = time;
	if (h->kind == RECORD_KALLSYMS)
		r->symbols_done = true;
	if (h->kind == RECORD_ROUND)
		r->flow.window_bytes = 0;
	return reader_queue(r, h->kind, h->ring, body, h->length, b) ? -ENOMEM : READER_AGAIN;
}

static int unpack_body(struct reader *r, const struct perfdata_own *h)
{
	struct reader_block *b = reader_block_new(r, h->length);

	if (!b)
		return -ENOMEM;
	if (!unpack_frame(r->own, h->stored, b->heap, h->length))
		return hand_out(r, h, b->heap, b);
	reader_block_put(r, b);
	return bad_body(r, h);
}

static int copy_body(struct reader *r, const struct perfdata_own *h)
{
	struct reader_block *b = reader_block_new(r, h->length);

	if (!b)
		return -ENOMEM;
	memcpy(b->heap, r->own, h->length);
	return hand_out(r, h, b->heap, b);
}

static int add_chunk(struct reader *r, const struct perfdata_own *h, const uint8_t *data, size_t n)
{
	const struct perfdata_own *o = &r->own_head;

	if (!h->offset) {
		r->own = mem_resize(NULL, h->stored, 1);
		r->own_head = *h;
		r->own_have = 0;
		if (!r->own)
			return -ENOMEM;
	}
	memcpy(r->own + r->own_have, data, n);
	r->own_have += (uint32_t)n;
	if (r->own_have < o->stored)
		return READER_AGAIN;
	int e = o->flags & PERFDATA_OWN_ZSTD ? unpack_body(r, o) : copy_body(r, o);
	mem_free(r->own);
	r->own = NULL;
	return e;
}

/* Does @h go on with the body that is being collected? */
static bool continues(const struct reader *r, const struct perfdata_own *h)
{
	const struct perfdata_own *o = &r->own_head;

	return r->own && h->offset && o->kind == h->kind && o->ring == h->ring &&
	       o->flags == h->flags && o->stored == h->stored && o->length == h->length &&
	       r->own_have == h->offset;
}

/* A chunk without the one before it. The first of a body is counted; `own_head` is of the last. */
static int take_stray(struct reader *r, const struct perfdata_own *h)
{
	const struct perfdata_own o = r->own_head;
	bool known = o.kind == h->kind && o.stored == h->stored && o.length == h->length &&
		     o.offset && o.offset < h->offset;

	r->own_head = *h;
	return known ? READER_AGAIN : bad_body(r, h);
}

int reader_own(struct reader *r, const uint8_t *p, size_t size, struct reader_block *b)
{
	struct perfdata_own h;

	if (size < BODY_AT + sizeof(h) || reader_u32(p + RAW_AT) > size - BODY_AT ||
	    reader_u32(p + RAW_AT) < sizeof(h))
		return bad(r);
	memcpy(&h, p + BODY_AT, sizeof(h));
	size_t n = reader_u32(p + RAW_AT) - sizeof(h);
	if (h.magic != PERFDATA_OWN_MAGIC || h.version != PERFDATA_OWN_VERSION || !is_kind(&h) ||
	    h.stored > PERFDATA_OWN_MOST || h.length > PERFDATA_OWN_MOST || h.offset > h.stored)
		return bad(r);
	if (h.here > n || h.here > h.stored - h.offset)
		return bad(r);
	n = h.here;
	if (!(h.flags & PERFDATA_OWN_ZSTD) && h.stored != h.length)
		return bad(r);
	int e = continues(r, &h) ? READER_AGAIN : reader_own_end(r);
	if (e != READER_AGAIN)
		return e;
	if (h.offset && !r->own)
		return take_stray(r, &h);
	r->own_head.offset = 0;
	if (h.flags || n < h.stored)
		return n ? add_chunk(r, &h, p + BODY_AT + sizeof(h), n) : bad(r);
	b->refs++;
	return hand_out(r, &h, p + BODY_AT + sizeof(h), b);
}
