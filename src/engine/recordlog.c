// SPDX-License-Identifier: GPL-2.0-only
/*
 * A compressed log of records. A chunk is a buffer of records, each a head and its bytes, 8-byte
 * aligned. When the next record does not fit, the chunk is packed and its buffer serves the next
 * chunk. A chunk is packed as a whole since single records are too small to compress well. Its raw
 * buffer stays while records of it are in use or recordlog_read() is in it, so a record that was
 * handed out never moves.
 */
#include "kontend/recordlog.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

struct head {
	uint32_t kind, ring;
	uint64_t len;
};

static size_t stored_size(size_t len)
{
	return sizeof(struct head) + (len + 7) / 8 * 8;
}

bool recordlog_next(const uint8_t *raw, size_t n, size_t *at, struct record *ret)
{
	struct head h;

	if (n - *at < sizeof(h))
		return false;
	memcpy(&h, raw + *at, sizeof(h));
	*ret = (struct record){.kind = (enum record_kind)h.kind,
			       .ring = h.ring,
			       .data = raw + *at + sizeof(h),
			       .len = h.len};
	*at += stored_size(h.len);
	return true;
}

static void put_record(struct recordlog_chunk *c, const struct record *r)
{
	struct head h = {(uint32_t)r->kind, r->ring, r->len};

	memcpy(c->raw + c->raw_len, &h, sizeof(h));
	if (r->len)
		memcpy(c->raw + c->raw_len + sizeof(h), r->data, r->len);
	c->raw_len += stored_size(r->len);
	c->n++;
}

size_t recordlog_chunk_bytes(const struct recordlog_chunk *c)
{
	return c->packed ? c->packed_len : c->raw_cap;
}

void recordlog_chunk_ref(struct recordlog_chunk *c)
{
	atomic_fetch_add(&c->refs, 1);
}

void recordlog_chunk_unref(struct recordlog_chunk *c)
{
	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	mem_free(c->raw);
	mem_free(c->packed);
	mem_free(c);
}

/* @raw: a buffer of @cap bytes, which the chunk owns if there is memory for the chunk. */
static struct recordlog_chunk *new_chunk(uint8_t *raw, size_t cap)
{
	struct recordlog_chunk *c = raw ? mem_calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	atomic_init(&c->refs, 1);
	c->raw = raw;
	c->raw_cap = cap;
	return c;
}

/* @scratch: room for a packed chunk of the usual size, or NULL. Without memory nothing changes. */
static void pack_chunk(struct recordlog_chunk *c, struct engine_pack *p, uint8_t *scratch)
{
	bool is_own = !scratch || c->raw_len > RECORDLOG_CHUNK;
	size_t room = engine_pack_bound(is_own ? c->raw_len : RECORDLOG_CHUNK);
	uint8_t *buf = is_own ? mem_calloc(room, 1) : scratch;
	size_t n = buf ? engine_pack(p, c->raw, c->raw_len, buf, room) : 0;

	c->packed = n ? mem_dup(buf, n, 1) : NULL;
	c->packed_len = n;
	if (is_own)
		mem_free(buf);
}

struct recordlog_chunk *recordlog_chunk_new(struct engine_pack *p, const struct record *r)
{
	size_t size = stored_size(r->len);
	uint8_t *raw = mem_calloc(size, 1);
	struct recordlog_chunk *c = new_chunk(raw, size);

	if (!c) {
		mem_free(raw);
		return NULL;
	}
	put_record(c, r);
	pack_chunk(c, p, NULL);
	if (c->packed) {
		mem_free(c->raw);
		c->raw = NULL;
	}
	return c;
}

static bool reader_has_room(struct recordlog_reader *r, size_t n)
{
	if (n <= r->cap)
		return true;
	mem_free(r->buf);
	r->buf = mem_calloc(n, 1);
	r->cap = r->buf ? n : 0;
	return r->buf != NULL;
}

const uint8_t *recordlog_reader_load(struct recordlog_reader *r, const struct recordlog_chunk *c)
{
	if (!c->packed)
		return c->raw;
	if (!r->pack.unpack && engine_pack_init(&r->pack))
		return NULL;
	if (!reader_has_room(r, c->raw_len) ||
	    engine_pack_restore(&r->pack, c->packed, c->packed_len, r->buf, c->raw_len))
		return NULL;
	return r->buf;
}

void recordlog_reader_deinit(struct recordlog_reader *r)
{
	mem_free(r->buf);
	engine_pack_deinit(&r->pack);
	*r = (struct recordlog_reader){0};
}

int recordlog_init(struct recordlog *l)
{
	*l = (struct recordlog){0};
	l->scratch = mem_calloc(engine_pack_bound(RECORDLOG_CHUNK), 1);
	if (l->scratch && !engine_pack_init(&l->pack))
		return 0;
	recordlog_deinit(l);
	return -ENOMEM;
}

static uint8_t *raw_buffer(struct recordlog *l, size_t size)
{
	uint8_t *raw = l->spare;

	if (size != RECORDLOG_CHUNK || !raw)
		return mem_calloc(size, 1);
	l->spare = NULL;
	return raw;
}

static void drop_raw(struct recordlog *l, struct recordlog_chunk *c)
{
	if (c->raw && c->raw_cap == RECORDLOG_CHUNK && !l->spare)
		l->spare = c->raw;
	else
		mem_free(c->raw);
	c->raw = NULL;
}

static int pin_chunk(struct recordlog *l, struct recordlog_chunk *c)
{
	if (!c->raw) {
		c->raw = raw_buffer(l, c->raw_cap);
		if (!c->raw)
			return -ENOMEM;
		int r = engine_pack_restore(&l->pack, c->packed, c->packed_len, c->raw, c->raw_len);
		if (r) {
			drop_raw(l, c);
			return r;
		}
	}
	c->pins++;
	return 0;
}

/* The raw buffer goes with the last use, if it can be unpacked again. */
static void unpin_chunk(struct recordlog *l, struct recordlog_chunk *c)
{
	if (!--c->pins && c->packed)
		drop_raw(l, c);
}

static void leave_chunk(struct recordlog *l)
{
	if (l->reading)
		unpin_chunk(l, l->reading);
	l->reading = NULL;
}

static void forget_chunk(struct recordlog *l, struct recordlog_chunk *c)
{
	l->raw_bytes -= c->raw_len;
	if (l->reading == c)
		leave_chunk(l);
	if (l->open == c)
		l->open = NULL;
	else
		l->bytes -= recordlog_chunk_bytes(c);
	/* Other threads never use the raw bytes of a chunk that is packed. */
	if (c->packed || atomic_load(&c->refs) == 1)
		drop_raw(l, c);
	recordlog_chunk_unref(c);
}

void recordlog_drop(struct recordlog *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		forget_chunk(l, l->chunks[i]);
	l->n -= n;
	if (n && l->n)
		memmove(l->chunks, l->chunks + n, l->n * sizeof(*l->chunks));
}

void recordlog_deinit(struct recordlog *l)
{
	recordlog_drop(l, l->n);
	mem_free(l->chunks);
	mem_free(l->spare);
	mem_free(l->scratch);
	engine_pack_deinit(&l->pack);
	*l = (struct recordlog){0};
}

void recordlog_close(struct recordlog *l)
{
	struct recordlog_chunk *c = l->open;

	if (!c)
		return;
	l->open = NULL;
	pack_chunk(c, &l->pack, l->scratch);
	l->bytes += recordlog_chunk_bytes(c);
	l->bytes_ever += recordlog_chunk_bytes(c);
	if (c->packed && !c->pins)
		drop_raw(l, c);
}

static int open_chunk(struct recordlog *l, size_t size)
{
	size_t cap = size > RECORDLOG_CHUNK ? size : RECORDLOG_CHUNK;

	if (mem_grow(&l->chunks, &l->cap, l->n, sizeof(*l->chunks)))
		return -ENOMEM;
	uint8_t *raw = raw_buffer(l, cap);
	struct recordlog_chunk *c = new_chunk(raw, cap);
	if (!c) {
		mem_free(raw);
		return -ENOMEM;
	}
	c->first = l->end;
	l->chunks[l->n++] = c;
	l->open = c;
	return 0;
}

int recordlog_append(struct recordlog *l, const struct record *r)
{
	size_t size = stored_size(r->len);

	if (l->open && l->open->raw_cap - l->open->raw_len < size)
		recordlog_close(l);
	if (!l->open && open_chunk(l, size))
		return -ENOMEM;
	put_record(l->open, r);
	l->raw_bytes += size;
	l->end++;
	/* No other record fits into a chunk of a long one. */
	if (size > RECORDLOG_CHUNK)
		recordlog_close(l);
	return 0;
}

void recordlog_skip(struct recordlog *l)
{
	recordlog_close(l);
	l->end++;
}

uint64_t recordlog_first(const struct recordlog *l)
{
	return l->n ? l->chunks[0]->first : l->end;
}

static bool has_record(const struct recordlog_chunk *c, uint64_t number)
{
	return number >= c->first && number < c->first + c->n;
}

void recordlog_cut(struct recordlog *l, uint64_t number)
{
	size_t k = 0;

	while (k < l->n && l->chunks[k]->first + l->chunks[k]->n <= number)
		k++;
	recordlog_drop(l, k);
}

static int by_first(const void *item, const void *number)
{
	const struct recordlog_chunk *c = *(struct recordlog_chunk *const *)item;

	return c->first <= *(const uint64_t *)number ? 0 : 1;
}

/* NULL: none has the record. */
static struct recordlog_chunk *find_chunk(const struct recordlog *l, uint64_t number)
{
	size_t n = bisect_by(l->chunks, l->n, sizeof(*l->chunks), &number, by_first);
	struct recordlog_chunk *c = n ? l->chunks[n - 1] : NULL;

	return c && has_record(c, number) ? c : NULL;
}

/* Brings the reading position to the record and its chunk. */
static int go_to(struct recordlog *l, uint64_t number)
{
	struct record skipped;

	if (l->reading && number == l->read_next && has_record(l->reading, number))
		return 0;
	if (!l->reading || !has_record(l->reading, number)) {
		leave_chunk(l);
		struct recordlog_chunk *c = find_chunk(l, number);
		int r = c ? pin_chunk(l, c) : -ENODATA;
		if (r)
			return r;
		l->reading = c;
	}
	l->read_at = 0;
	for (l->read_next = l->reading->first; l->read_next < number; l->read_next++)
		recordlog_next(l->reading->raw, l->reading->raw_len, &l->read_at, &skipped);
	return 0;
}

int recordlog_read(struct recordlog *l, uint64_t number, struct record *ret,
		   struct recordlog_chunk **ret_chunk)
{
	int r = go_to(l, number);

	if (r)
		return r;
	struct recordlog_chunk *c = l->reading;
	recordlog_next(c->raw, c->raw_len, &l->read_at, ret);
	l->read_next++;
	c->pins++;
	*ret_chunk = c;
	return 0;
}

void recordlog_release(struct recordlog *l, struct recordlog_chunk *c)
{
	unpin_chunk(l, c);
}
