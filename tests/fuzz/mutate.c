// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording is taken apart into its header, the part before the data, the records of the data and
 * the part after them, a few of these are damaged, and it is put together again: the header gets
 * the new positions of sections that have moved, unless the header was damaged there.
 */
#include "mutate.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 25, TIMES = 6, FEATURE_ENTRY = 16 };

struct parts {
	const uint8_t *p;
	size_t n;
	bool is_pipe;
	struct perfdata_header head;
	size_t data, data_end;
};

uint64_t mutate_draw(struct mutate_random *r, uint64_t n)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state % n;
}

uint64_t mutate_number(struct mutate_random *r)
{
	switch (mutate_draw(r, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - mutate_draw(r, 4);
	case 2:
		return (1ull << mutate_draw(r, 64)) - mutate_draw(r, 3) + 1;
	case 3:
		return mutate_draw(r, 300);
	default:
		return mutate_draw(r, UINT64_MAX);
	}
}

void mutate_numbers(struct mutate_random *r, uint8_t *p, size_t n)
{
	for (uint64_t k = mutate_draw(r, 3) + 1; k && n; k--) {
		size_t size = 1u << mutate_draw(r, 4);
		uint64_t v = mutate_number(r);
		size_t at = mutate_draw(r, n);

		at = mutate_draw(r, 8) ? at / size * size : at;
		if (at + size > n)
			continue;
		if (mutate_draw(r, 4) == 0) {
			uint64_t old = 0;
			memcpy(&old, p + at, size);
			v = old + mutate_draw(r, 17) - 8;
		}
		memcpy(p + at, &v, size);
	}
}

void mutate_put(struct mutate_bytes *b, const void *p, size_t n)
{
	if (b->n + n > MOST)
		return;
	if (b->n + n > b->cap) {
		b->cap = 2 * (b->n + n) + 64;
		uint8_t *grown = mem_resize(b->p, b->cap, 1);
		if (!grown)
			abort();
		b->p = grown;
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static uint16_t record_size(const uint8_t *p)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	return h.size;
}

static uint32_t record_type(const uint8_t *p)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	return h.type;
}

/* Bytes of the record at @p with what follows it; 0: none that is whole. */
static size_t whole_record(const uint8_t *p, size_t n)
{
	size_t size = n < sizeof(struct perf_event_header) ? 0 : record_size(p);
	uint32_t more = 0;

	if (size < sizeof(struct perf_event_header) || size > n)
		return 0;
	if (record_type(p) == PERFDATA_TYPE_TRACING_DATA && size >= 12)
		memcpy(&more, p + 8, sizeof(more));
	return more <= n - size ? size + more : 0;
}

static bool take_apart(const uint8_t *p, size_t n, struct parts *ret)
{
	*ret = (struct parts){.p = p, .n = n};
	if (n < PERFDATA_PIPE_HEADER)
		return false;
	memcpy(&ret->head, p, n < sizeof(ret->head) ? n : sizeof(ret->head));
	if (ret->head.magic != PERFDATA_MAGIC)
		return false;
	ret->is_pipe = ret->head.size == PERFDATA_PIPE_HEADER;
	ret->data = ret->is_pipe ? PERFDATA_PIPE_HEADER : ret->head.data.offset;
	ret->data_end = ret->is_pipe ? n : ret->data + ret->head.data.size;
	return ret->data <= ret->data_end && ret->data_end <= n &&
	       (ret->is_pipe || ret->data >= sizeof(ret->head));
}

/* The payload of ours in a sample: where its magic is; 0: it is another record. */
static size_t find_own(const uint8_t *p, size_t n)
{
	const uint64_t magic = PERFDATA_EXT_MAGIC;

	for (size_t at = 8; at + sizeof(struct perfdata_ext) <= n && at < 128; at += 4)
		if (!memcmp(p + at, &magic, sizeof(magic)))
			return at;
	return 0;
}

static void put_sized(struct mutate_bytes *out, const uint8_t *p, size_t n, size_t size)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	h.size = (uint16_t)size;
	mutate_put(out, &h, sizeof(h));
	mutate_put(out, p + sizeof(h), n - sizeof(h));
}

/* Another kind of the same bytes, another length, or other numbers. */
static void damage_record(struct mutate_random *r, const uint8_t *p, size_t n,
			  struct mutate_bytes *out)
{
	static const uint32_t kinds[] = {1,  2,	 3,  4,	 5,  7,	 9,  10, 14, 16, 17, 18, 19,
					 64, 65, 66, 67, 68, 71, 78, 79, 80, 81, 82, 83};
	size_t from = out->n, own = find_own(p, n), head = sizeof(struct perf_event_header);
	uint32_t kind = kinds[mutate_draw(r, sizeof(kinds) / sizeof(*kinds))];

	if (own && mutate_draw(r, 4)) {
		mutate_ext(r, p, n, own, out);
		return;
	}
	switch (mutate_draw(r, 8)) {
	case 0:
		mutate_put(out, p, n);
		memcpy(out->p + from, &kind, sizeof(kind));
		break;
	case 1:
		put_sized(out, p, n, mutate_number(r));
		break;
	case 2: /* shorter, with a size that matches */
		n = head + mutate_draw(r, n - head + 1) / 8 * 8;
		put_sized(out, p, n, n);
		break;
	default:
		mutate_put(out, p, n);
		if (out->n == from + n)
			mutate_numbers(r, out->p + from + head, n - head);
	}
}

/* Damages the record at @p, or not; false: the rest is left out. */
static bool put_record(struct mutate_random *r, const uint8_t *p, size_t n, uint64_t one_in,
		       struct mutate_bytes *late, struct mutate_bytes *out)
{
	if (mutate_draw(r, one_in)) {
		mutate_put(out, p, n);
		return true;
	}
	switch (mutate_draw(r, 10)) {
	case 0:
		return true;
	case 1:
		mutate_put(out, p, n);
		mutate_put(out, p, n);
		return true;
	case 2: /* at another place */
		mutate_put(out, late->p, late->n);
		late->n = 0;
		mutate_put(late, p, n);
		return true;
	case 3:
		return mutate_draw(r, 8) != 0;
	default:
		damage_record(r, p, n, out);
		return true;
	}
}

static void put_records(struct mutate_random *r, const uint8_t *p, size_t n,
			struct mutate_bytes *out)
{
	struct mutate_bytes late = {0};
	uint64_t one_in = 1ull << (2 + mutate_draw(r, 10));
	size_t at = 0, size;

	while ((size = whole_record(p + at, n - at))) {
		if (!put_record(r, p + at, size, one_in, &late, out))
			break;
		at += size;
	}
	mutate_put(out, late.p, late.n);
	if (!size)
		mutate_put(out, p + at, n - at);
	mem_free(late.p);
}

static bool has_packed(const uint8_t *p, size_t n)
{
	size_t size;

	for (size_t at = 0; (size = whole_record(p + at, n - at)); at += size)
		if (record_type(p + at) == PERFDATA_TYPE_COMPRESSED)
			return true;
	return false;
}

/* Writes records as they are, or their unpacked content; packed again or not. */
static void put_data(struct mutate_random *r, const uint8_t *p, size_t n, struct mutate_bytes *out)
{
	struct mutate_bytes plain = {0}, damaged = {0};
	bool is_packed = has_packed(p, n);

	if (!is_packed || mutate_draw(r, 3) == 0) {
		put_records(r, p, n, out);
		return;
	}
	mutate_unpack(p, n, &plain);
	put_records(r, plain.p, plain.n, &damaged);
	if (mutate_draw(r, 3))
		mutate_pack(damaged.p, damaged.n, out);
	else
		mutate_put(out, damaged.p, damaged.n);
	mem_free(plain.p);
	mem_free(damaged.p);
}

/* Sections after the data have moved by @by bytes. */
static void move_sections(const struct parts *f, uint8_t *p, size_t n, int64_t by, size_t data_len)
{
	struct perfdata_header h = f->head;
	unsigned features = 0;

	h.data.size = data_len;
	h.attrs.offset += h.attrs.offset >= f->data_end ? (uint64_t)by : 0;
	memcpy(p, &h, sizeof(h));
	for (int i = 0; i < 4; i++)
		features += (unsigned)__builtin_popcountll(h.features[i]);
	for (unsigned i = 0; i < features; i++) {
		struct perfdata_section s;
		size_t at = f->data + data_len + i * FEATURE_ENTRY;
		if (at + sizeof(s) > n)
			return;
		memcpy(&s, p + at, sizeof(s));
		s.offset += (uint64_t)by;
		memcpy(p + at, &s, sizeof(s));
	}
}

static void damage_some(struct mutate_random *r, uint8_t *p, size_t n)
{
	if (n)
		for (uint64_t k = mutate_draw(r, TIMES) + 1; k; k--)
			mutate_numbers(r, p, n);
}

void mutate_recording(struct mutate_random *r, const uint8_t *p, size_t n, struct mutate_bytes *ret)
{
	struct parts f;
	uint64_t what = mutate_draw(r, 10);

	*ret = (struct mutate_bytes){0};
	if (!take_apart(p, n, &f)) {
		mutate_put(ret, p, n);
		damage_some(r, ret->p, ret->n);
		return;
	}
	mutate_put(ret, p, f.data);
	if (what < 7)
		put_data(r, p + f.data, f.data_end - f.data, ret);
	else
		mutate_put(ret, p + f.data, f.data_end - f.data);
	size_t len = ret->n - f.data, tail = ret->n;
	mutate_put(ret, p + f.data_end, n - f.data_end);
	if (!f.is_pipe)
		move_sections(&f, ret->p, ret->n, (int64_t)len - (int64_t)(f.data_end - f.data),
			      len);
	/* The header; the table of features, their bodies and the attributes. */
	if (what == 7)
		mutate_numbers(r, ret->p, f.is_pipe ? PERFDATA_PIPE_HEADER : sizeof(f.head));
	if (what >= 8 && ret->n > tail)
		damage_some(r, ret->p + tail, ret->n - tail);
	if (mutate_draw(r, 10) == 0)
		ret->n = mutate_draw(r, ret->n + 1);
}
