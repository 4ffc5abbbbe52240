// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of a backlog. Records are put one after the other into a buffer of one size, which is
 * packed as a whole when the next one does not fit, or a second of the stream is in it: single
 * records are too small to compress well, and a chunk goes as a whole. A packed one is never
 * changed, so threads that write it into a file need no lock, only a reference.
 *
 * The time of the latest event of a chunk is known some rounds after it was closed: a round has the
 * time when the drain before it began, and events that a drain finds beyond that are not later than
 * the begin of the next one.
 */
#include "backlog-int.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { OPEN_BYTES = 256 << 10, ROUNDS = 3 };

static const uint64_t MOST_NS = 1000000000;

void backlog_chunk_unref(struct backlog_chunk *c)
{
	if (c && atomic_fetch_sub(&c->refs, 1) == 1)
		mem_free(c);
}

bool backlog_step(const uint8_t *raw, size_t n, size_t *at, struct record *ret)
{
	struct backlog_head h;

	if (!raw || n - *at < sizeof(h))
		return false;
	memcpy(&h, raw + *at, sizeof(h));
	*ret = (struct record){.kind = (enum record_kind)h.kind,
			       .ring = h.ring,
			       .data = raw + *at + sizeof(h),
			       .len = h.len};
	*at += backlog_stored(h.len);
	return true;
}

static bool has_room(struct backlog_raw *r, size_t n)
{
	if (n <= r->cap)
		return true;
	mem_free(r->buf);
	r->buf = mem_calloc(n, 1);
	r->cap = r->buf ? n : 0;
	return r->buf != NULL;
}

const uint8_t *backlog_raw(struct backlog_raw *r, const struct backlog_chunk *c)
{
	if (!c->is_packed)
		return c->bytes;
	if (!r->pack.unpack && engine_pack_init(&r->pack))
		return NULL;
	if (!has_room(r, c->raw_len) ||
	    engine_unpack(&r->pack, c->bytes, c->len, r->buf, c->raw_len))
		return NULL;
	return r->buf;
}

void backlog_raw_deinit(struct backlog_raw *r)
{
	mem_free(r->buf);
	engine_pack_deinit(&r->pack);
	*r = (struct backlog_raw){0};
}

int backlog_log_init(struct backlog_log *l)
{
	*l = (struct backlog_log){.open_cap = OPEN_BYTES};
	l->open = mem_calloc(OPEN_BYTES, 1);
	l->scratch = mem_calloc(engine_pack_bound(OPEN_BYTES), 1);
	if (l->open && l->scratch && !engine_pack_init(&l->pack))
		return 0;
	backlog_log_deinit(l);
	return -ENOMEM;
}

void backlog_log_deinit(struct backlog_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		backlog_chunk_unref(l->chunks[i]);
	mem_free(l->chunks);
	mem_free(l->open);
	mem_free(l->scratch);
	engine_pack_deinit(&l->pack);
	*l = (struct backlog_log){0};
}

static struct backlog_chunk *make_chunk(const void *bytes, size_t len, size_t raw_len,
					bool is_packed)
{
	struct backlog_chunk *c = mem_calloc(1, sizeof(*c) + len);

	if (!c)
		return NULL;
	atomic_init(&c->refs, 1);
	c->is_packed = is_packed;
	c->len = len;
	c->raw_len = raw_len;
	memcpy(c->bytes, bytes, len);
	return c;
}

struct backlog_chunk *backlog_chunk_new(struct engine_pack *p, const uint8_t *raw, size_t n,
					uint8_t *scratch, size_t room)
{
	size_t packed = scratch ? engine_pack(p, raw, n, scratch, room) : 0;

	return packed ? make_chunk(scratch, packed, n, true) : make_chunk(raw, n, n, false);
}

/* Into the list, closed. */
static int add_bytes(struct backlog_log *l, const uint8_t *raw, size_t n)
{
	size_t room = engine_pack_bound(n);
	bool is_big = n > OPEN_BYTES;
	uint8_t *scratch = is_big ? mem_calloc(room, 1) : l->scratch;

	if (mem_grow(&l->chunks, &l->cap, l->n, sizeof(*l->chunks))) {
		if (is_big)
			mem_free(scratch);
		return -ENOMEM;
	}
	struct backlog_chunk *c = backlog_chunk_new(&l->pack, raw, n, scratch, room);
	if (is_big)
		mem_free(scratch);
	if (!c)
		return -ENOMEM;
	l->chunks[l->n++] = c;
	l->bytes += c->len;
	l->raw_bytes += c->raw_len;
	return 0;
}

int backlog_log_close(struct backlog_log *l, uint64_t said_ns)
{
	int r = l->open_len ? add_bytes(l, l->open, l->open_len) : 0;

	/* Without memory they are lost, as is the content of the buffer: it is used again. */
	l->open_len = 0;
	l->opened_ns = said_ns;
	return r;
}

static void store(uint8_t *at, const struct record *r)
{
	struct backlog_head h = {(uint32_t)r->kind, r->ring, r->len};

	memcpy(at, &h, sizeof(h));
	if (r->len)
		memcpy(at + sizeof(h), r->data, r->len);
}

/* One that is longer than the buffer, which is empty. */
static int add_big(struct backlog_log *l, const struct record *r, size_t size)
{
	uint8_t *raw = mem_calloc(size, 1);

	if (!raw)
		return -ENOMEM;
	store(raw, r);
	int e = add_bytes(l, raw, size);
	mem_free(raw);
	return e;
}

int backlog_log_append(struct backlog_log *l, const struct record *r, uint64_t said_ns)
{
	size_t size = backlog_stored(r->len);
	int e = 0;

	if (l->open_cap - l->open_len < size || said_ns - l->opened_ns >= MOST_NS)
		e = backlog_log_close(l, said_ns);
	if (e)
		return e;
	if (size > l->open_cap)
		return add_big(l, r, size);
	store(l->open + l->open_len, r);
	l->open_len += size;
	return 0;
}

void backlog_log_round(struct backlog_log *l, uint64_t time_ns)
{
	/* One that says no more than the one before is of no drain. */
	if (time_ns <= l->round_ns)
		return;
	l->round_ns = time_ns;
	for (size_t i = l->n; i > 0 && !l->chunks[i - 1]->until_ns; i--)
		if (++l->chunks[i - 1]->rounds == ROUNDS)
			l->chunks[i - 1]->until_ns = time_ns;
}

void backlog_log_drop(struct backlog_log *l)
{
	struct backlog_chunk *c = l->chunks[0];

	l->bytes -= c->len;
	l->raw_bytes -= c->raw_len;
	memmove(l->chunks, l->chunks + 1, --l->n * sizeof(*l->chunks));
	l->fed -= l->fed > 0;
	backlog_chunk_unref(c);
}
