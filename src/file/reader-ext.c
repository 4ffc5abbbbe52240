// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of kontend's event: records that perf has no type for, whole or in chunks. Chunks of one
 * body follow each other. A body with missing chunks is dropped: it counts as one bad record,
 * however many of its chunks are there, and the stream reports the loss of a snapshot. A body of a
 * fixed struct has exactly its size, so that later stages need not refuse it.
 */
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "reader.h"
#include <errno.h>

/* id, ip, pid and tid, time, cpu; then the raw data. */
enum { RAW_AT = READER_HEADER + 5 * 8, BODY_AT = RAW_AT + 4 };

static bool is_kind(const struct perfdata_ext *h)
{
	static const size_t sizes[] = {
		[RECORD_HOST] = sizeof(struct record_host),
		[RECORD_ROUND] = sizeof(uint64_t),
		[RECORD_TICK] = sizeof(uint64_t),
		[RECORD_DROP] = sizeof(struct record_drop),
		[RECORD_FILL] = sizeof(struct record_fill),
		[RECORD_CPU] = sizeof(struct record_cpu),
		[RECORD_START] = sizeof(uint64_t),
		[RECORD_TRAILER] = sizeof(uint64_t),
	};

	if (h->kind == RECORD_KALLSYMS || h->kind == RECORD_NOTE)
		return true;
	if (h->kind == RECORD_SNAPSHOT)
		return h->length >= sizeof(struct record_snapshot) &&
		       h->length <= sizeof(struct record_snapshot) + RECORD_SNAPSHOT_MOST;
	return h->kind < sizeof(sizes) / sizeof(*sizes) && sizes[h->kind] &&
	       sizes[h->kind] == h->length;
}

static int bad_body(struct reader *r, const struct perfdata_ext *h)
{
	const struct record_snapshot lost = {.flags = RECORD_SNAPSHOT_LOST};

	reader_bad(r);
	if (h->kind != RECORD_SNAPSHOT)
		return READER_AGAIN;
	return reader_queue_copy(r, RECORD_SNAPSHOT, 0, &lost, sizeof(lost)) ? -ENOMEM
									     : READER_AGAIN;
}

int reader_ext_end(struct reader *r)
{
	if (!r->ext)
		return READER_AGAIN;
	mem_free(r->ext);
	r->ext = NULL;
	r->ext_head.offset = r->ext_have;
	return bad_body(r, &r->ext_head);
}

/*
 * The trailer at the end of the file is read first and handed out once; nothing else is handed out
 * during that. Names of PMUs are known before the first event, and come there.
 */
static bool is_passed_over(const struct reader *r, const struct perfdata_ext *h, const void *body)
{
	struct record_snapshot head;
	bool lasting = h->kind == RECORD_SNAPSHOT && snapshot_parse(body, h->length, &head) &&
		       snapshot_is_lasting(head.kind) && head.kind != SNAPSHOT_EVENTS;

	return h->kind == RECORD_TRAILER || (r->early ? !lasting : r->had_early && lasting);
}

/* The time of a round or a tick: everything up to it has been read; 0: it is neither. */
static uint64_t time_of(const struct perfdata_ext *h, const void *body)
{
	return h->kind == RECORD_ROUND || h->kind == RECORD_TICK ? load_u64(body) : 0;
}

static bool is_wanted(struct reader *r, const struct perfdata_ext *h, const void *body)
{
	uint64_t time = time_of(h, body);

	if (is_passed_over(r, h, body))
		return false;
	if (r->asked_tick_ns && time) {
		if (h->kind == RECORD_ROUND)
			r->round_until = time;
		return false;
	}
	bool once = h->kind == RECORD_HOST || h->kind == RECORD_KALLSYMS || h->kind == RECORD_NOTE;
	return !once || reader_where(r) > r->farthest;
}

static void note_machine(struct reader *r, const void *body, size_t len)
{
	struct record_snapshot head;

	r->has_machine |= snapshot_parse(body, len, &head) && head.kind == SNAPSHOT_MACHINE;
}

/* Takes ownership of @b. */
static int hand_out(struct reader *r, const struct perfdata_ext *h, const void *body,
		    struct reader_block *b)
{
	if (!is_wanted(r, h, body)) {
		reader_block_put(r, b);
		return READER_AGAIN;
	}
	uint64_t time = time_of(h, body);
	if (time > r->flow.said_until)
		r->flow.said_until = time;
	if (h->kind == RECORD_KALLSYMS)
		r->symbols_done = true;
	if (h->kind == RECORD_SNAPSHOT)
		note_machine(r, body, h->length);
	if (h->kind == RECORD_ROUND)
		r->flow.window_bytes = 0;
	return reader_queue(r, h->kind, h->ring, body, h->length, b) ? -ENOMEM : READER_AGAIN;
}

/* All chunks are there. */
static int take_body(struct reader *r, const struct perfdata_ext *h)
{
	struct reader_block *b = reader_block_new(r, h->length);

	if (!b)
		return -ENOMEM;
	if (!(h->flags & PERFDATA_EXT_ZSTD)) {
		memcpy(b->heap, r->ext, h->length);
	} else if (unpack_frame(r->ext, h->stored, b->heap, h->length)) {
		reader_block_put(r, b);
		return bad_body(r, h);
	}
	return hand_out(r, h, b->heap, b);
}

static int add_chunk(struct reader *r, const struct perfdata_ext *h, const uint8_t *data, size_t n)
{
	const struct perfdata_ext *o = &r->ext_head;

	if (!h->offset) {
		r->ext = mem_resize(NULL, h->stored, 1);
		r->ext_head = *h;
		r->ext_have = 0;
		if (!r->ext)
			return -ENOMEM;
	}
	memcpy(r->ext + r->ext_have, data, n);
	r->ext_have += (uint32_t)n;
	if (r->ext_have < o->stored)
		return READER_AGAIN;
	int e = take_body(r, o);
	mem_free(r->ext);
	r->ext = NULL;
	return e;
}

/* Is @h the next chunk of the body that is being collected? */
static bool continues(const struct reader *r, const struct perfdata_ext *h)
{
	const struct perfdata_ext *o = &r->ext_head;

	return r->ext && h->offset && o->kind == h->kind && o->ring == h->ring &&
	       o->flags == h->flags && o->stored == h->stored && o->length == h->length &&
	       r->ext_have == h->offset;
}

/* A chunk without its predecessor. Only the first one of a body is counted; `ext_head` is the
 * last. */
static int take_untracked(struct reader *r, const struct perfdata_ext *h)
{
	const struct perfdata_ext o = r->ext_head;
	bool known = o.kind == h->kind && o.stored == h->stored && o.length == h->length &&
		     o.offset && o.offset < h->offset;

	r->ext_head = *h;
	return known ? READER_AGAIN : bad_body(r, h);
}

int reader_ext(struct reader *r, const uint8_t *p, size_t size, struct reader_block *b)
{
	struct perfdata_ext h;

	if (size < BODY_AT + sizeof(h) || load_u32(p + RAW_AT) > size - BODY_AT ||
	    load_u32(p + RAW_AT) < sizeof(h))
		return reader_bad(r);
	memcpy(&h, p + BODY_AT, sizeof(h));
	size_t n = load_u32(p + RAW_AT) - sizeof(h);
	if (h.magic != PERFDATA_EXT_MAGIC || h.version != PERFDATA_EXT_VERSION || !is_kind(&h) ||
	    h.stored > PERFDATA_EXT_MOST || h.length > PERFDATA_EXT_MOST || h.offset > h.stored)
		return reader_bad(r);
	if (h.here > n || h.here > h.stored - h.offset)
		return reader_bad(r);
	n = h.here;
	if (!(h.flags & PERFDATA_EXT_ZSTD) && h.stored != h.length)
		return reader_bad(r);
	int e = continues(r, &h) ? READER_AGAIN : reader_ext_end(r);
	if (e != READER_AGAIN)
		return e;
	if (h.offset && !r->ext)
		return take_untracked(r, &h);
	r->ext_head.offset = 0;
	if (h.flags || n < h.stored)
		return n ? add_chunk(r, &h, p + BODY_AT + sizeof(h), n) : reader_bad(r);
	b->refs++;
	return hand_out(r, &h, p + BODY_AT + sizeof(h), b);
}
