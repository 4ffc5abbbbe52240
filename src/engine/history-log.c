// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of a history: an array of chunks in order, of which the last one is open. A chunk is a
 * buffer of records, each a head and its bytes, 8-byte aligned; when the next one does not fit the
 * chunk is packed and its buffer serves the next chunk. A chunk is packed as a whole since single
 * records are too small to compress well. A raw buffer stays while records of it are in use or the
 * reader is in it, so a record that was handed out never moves.
 */
#include "history-int.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

enum { CHUNK_BYTES = 256 << 10 };

struct head {
	uint32_t kind, ring;
	uint64_t len;
};

static size_t stored_size(size_t len)
{
	return sizeof(struct head) + (len + 7) / 8 * 8;
}

int history_log_init(struct history_log *l)
{
	*l = (struct history_log){0};
	l->scratch = mem_calloc(engine_pack_bound(CHUNK_BYTES), 1);
	if (l->scratch && !engine_pack_init(&l->pack))
		return 0;
	history_log_deinit(l);
	return -ENOMEM;
}

/* Size of a closed chunk: its packed form, or the raw one where there is no other. */
static size_t held(const struct history_chunk *c)
{
	return c->packed ? c->packed_len : c->raw_cap;
}

static void drop_raw(struct history_log *l, struct history_chunk *c)
{
	if (c->raw && c->raw_cap == CHUNK_BYTES && !l->spare)
		l->spare = c->raw;
	else
		mem_free(c->raw);
	c->raw = NULL;
}

static void free_chunk(struct history_log *l, struct history_chunk *c)
{
	l->raw_bytes -= c->raw_len;
	if (l->open == c)
		l->open = NULL;
	else
		l->bytes -= held(c);
	if (l->reading == c)
		l->reading = NULL;
	drop_raw(l, c);
	mem_free(c->packed);
	mem_free(c);
}

void history_log_deinit(struct history_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		free_chunk(l, l->chunks[i]);
	mem_free(l->chunks);
	mem_free(l->spare);
	mem_free(l->scratch);
	engine_pack_deinit(&l->pack);
	*l = (struct history_log){0};
}

static uint8_t *raw_buffer(struct history_log *l, size_t size)
{
	uint8_t *raw = l->spare;

	if (size != CHUNK_BYTES || !raw)
		return mem_calloc(size, 1);
	l->spare = NULL;
	return raw;
}

/* Drops the raw buffer if it is not being read and can be unpacked again. */
static void settle(struct history_log *l, struct history_chunk *c)
{
	if (c->packed && !c->refs && l->reading != c)
		drop_raw(l, c);
}

/* Without memory the chunk stays as it is. */
static void close_chunk(struct history_log *l)
{
	struct history_chunk *c = l->open;
	size_t room = engine_pack_bound(c->raw_len);
	bool is_big = room > engine_pack_bound(CHUNK_BYTES);
	uint8_t *buf = is_big ? mem_calloc(room, 1) : l->scratch;
	size_t n = buf ? engine_pack(&l->pack, c->raw, c->raw_len, buf, room) : 0;
	uint8_t *packed = n ? mem_dup(buf, n, 1) : NULL;

	l->open = NULL;
	if (is_big)
		mem_free(buf);
	c->packed = packed;
	c->packed_len = n;
	l->bytes += held(c);
	l->bytes_ever += held(c);
	settle(l, c);
}

static int open_chunk(struct history_log *l, size_t size)
{
	struct history_chunk *c = mem_calloc(1, sizeof(*c));

	if (!c || mem_grow(&l->chunks, &l->cap, l->n, sizeof(*l->chunks))) {
		mem_free(c);
		return -ENOMEM;
	}
	c->raw_cap = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	c->raw = raw_buffer(l, c->raw_cap);
	if (!c->raw) {
		mem_free(c);
		return -ENOMEM;
	}
	c->first = l->end;
	l->chunks[l->n++] = c;
	l->open = c;
	return 0;
}

int history_log_append(struct history_log *l, const struct record *r)
{
	struct head h = {(uint32_t)r->kind, r->ring, r->len};
	size_t size = stored_size(r->len);

	if (l->open && l->open->raw_cap - l->open->raw_len < size)
		close_chunk(l);
	if (!l->open && open_chunk(l, size))
		return -ENOMEM;
	struct history_chunk *c = l->open;
	memcpy(c->raw + c->raw_len, &h, sizeof(h));
	if (r->len)
		memcpy(c->raw + c->raw_len + sizeof(h), r->data, r->len);
	c->raw_len += size;
	l->raw_bytes += size;
	c->n++;
	l->end++;
	return 0;
}

void history_log_skip(struct history_log *l)
{
	if (l->open)
		close_chunk(l);
	l->end++;
}

uint64_t history_log_first(const struct history_log *l)
{
	return l->n ? l->chunks[0]->first : l->end;
}

void history_log_cut(struct history_log *l, uint64_t number)
{
	size_t k = 0;

	while (k < l->n && l->chunks[k]->first + l->chunks[k]->n <= number)
		free_chunk(l, l->chunks[k++]);
	l->n -= k;
	memmove(l->chunks, l->chunks + k, l->n * sizeof(*l->chunks));
}

static int by_first(const void *item, const void *number)
{
	return (*(struct history_chunk *const *)item)->first <= *(const uint64_t *)number ? 0 : 1;
}

static struct history_chunk *find_chunk(const struct history_log *l, uint64_t number)
{
	size_t n = bisect_by(l->chunks, l->n, sizeof(*l->chunks), &number, by_first);

	return l->chunks[n ? n - 1 : 0];
}

static void leave(struct history_log *l)
{
	struct history_chunk *c = l->reading;

	l->reading = NULL;
	if (c)
		settle(l, c);
}

static int load(struct history_log *l, struct history_chunk *c)
{
	if (c->raw)
		return 0;
	c->raw = raw_buffer(l, c->raw_cap);
	if (!c->raw)
		return -ENOMEM;
	int r = engine_unpack(&l->pack, c->packed, c->packed_len, c->raw, c->raw_len);
	if (r)
		drop_raw(l, c);
	return r;
}

/* Brings the reader to the record and its chunk. */
static int go_to(struct history_log *l, uint64_t number)
{
	struct history_chunk *c = l->reading;
	struct head h;

	if (c && number == l->read_next && number < c->first + c->n)
		return 0;
	if (!c || number < c->first || number >= c->first + c->n) {
		leave(l);
		c = l->n ? find_chunk(l, number) : NULL;
		if (!c || number < c->first || number >= c->first + c->n)
			return -ENODATA;
		int r = load(l, c);
		if (r)
			return r;
		l->reading = c;
	}
	l->read_at = 0;
	for (l->read_next = c->first; l->read_next < number; l->read_next++) {
		memcpy(&h, c->raw + l->read_at, sizeof(h));
		l->read_at += stored_size(h.len);
	}
	return 0;
}

int history_log_read(struct history_log *l, uint64_t number, struct record *ret,
		     struct history_chunk **ret_chunk)
{
	int r = go_to(l, number);
	struct head h;

	if (r)
		return r;
	struct history_chunk *c = l->reading;
	memcpy(&h, c->raw + l->read_at, sizeof(h));
	*ret = (struct record){.kind = (enum record_kind)h.kind,
			       .ring = h.ring,
			       .data = c->raw + l->read_at + sizeof(h),
			       .len = h.len};
	l->read_at += stored_size(h.len);
	l->read_next++;
	c->refs++;
	*ret_chunk = c;
	return 0;
}

void history_log_release(struct history_log *l, struct history_chunk *c)
{
	c->refs--;
	settle(l, c);
}
