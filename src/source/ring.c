// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a perf ring. The kernel appends records and moves the head (release). This code copies
 * whole records, or returns their place, and moves the tail (release), so that the kernel
 * overwrites no record before it was read. A record may wrap around the end at any 8-byte position:
 * then the copy is two memcpy, for any size (libperf 6.1 cuts such a record at 4168 bytes).
 *
 * Invariants: the tail is on a record boundary; tail <= head <= tail + size. Headers are in memory
 * that is shared with the kernel, so a size that is too small or reaches beyond the head gives an
 * error code and no crash.
 *
 * Ids in records: when the CPU of an event was offline, the event is opened again and gets a new
 * id. But the stream has announced the old id, which all readers know, also of recordings: so the
 * new id is replaced. A sample has the id of its event right after the header (IDENTIFIER comes
 * first), any other record has it as its last word (and last in the trailer), and a LOST record has
 * one more in its body. No other part of a record matters.
 */
#include "kontend/ring.h"
#include "kontend/waitrec-sample.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { CACHE_LINE = 64, AHEAD = 1536 };

uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
}

uint64_t ring_used(const struct ring *r, uint64_t head)
{
	return head - *r->tail;
}

static void ring_advance(struct ring *r, uint64_t tail)
{
	__atomic_store_n(r->tail, tail, __ATOMIC_RELEASE);
}

static void ring_copy(const struct ring *r, uint64_t from, void *buf, size_t len)
{
	uint64_t at = from & (r->size - 1);
	size_t first = r->size - at < len ? (size_t)(r->size - at) : len;

	memcpy(buf, r->base + at, first);
	memcpy((uint8_t *)buf + first, r->base, len - first);
}

/* The header of the record at @pos, whose size is 0 when there is none before @head. */
static struct perf_event_header ring_header(const struct ring *r, uint64_t pos, uint64_t head)
{
	uint64_t at = pos & (r->size - 1);
	struct perf_event_header h = {0};

	if (head - pos < sizeof(h))
		return h;
	/* Those of the kernel are aligned and never wrap; damaged ones may. */
	if (r->size - at >= sizeof(h))
		memcpy(&h, r->base + at, sizeof(h));
	else
		ring_copy(r, pos, &h, sizeof(h));
	if (h.size < sizeof(h) || h.size > head - pos)
		h.size = 0;
	return h;
}

static size_t ring_record_size(const struct ring *r, uint64_t pos, uint64_t head)
{
	return ring_header(r, pos, head).size;
}

/* A number in the body of a record; 0: the record is too short. */
static uint64_t ring_number(const struct ring *r, uint64_t pos, size_t size, size_t at)
{
	uint64_t n = 0;

	if (size >= at + sizeof(n))
		ring_copy(r, pos + at, &n, sizeof(n));
	return n;
}

static bool sample_counts(const struct ring *r, uint64_t pos, size_t size)
{
	if (r->is_fed)
		return size >= WAITREC_MAGIC_AT + sizeof(uint64_t) &&
		       waitrec_sample_is_wait(
			       (uint32_t)ring_number(r, pos, size, WAITREC_MAGIC_AT));
	if (!r->counted[0])
		return true;
	uint64_t id = ring_number(r, pos, size, sizeof(struct perf_event_header));
	return id == r->counted[0] || id == r->counted[1];
}

static void ring_count(const struct ring *r, uint64_t pos, const struct perf_event_header *h,
		       struct ring_span *s)
{
	if (h->type == PERF_RECORD_SAMPLE)
		s->samples += sample_counts(r, pos, h->size);
	else if (h->type == PERF_RECORD_LOST) /* the id of the event, then the number */
		s->lost += ring_number(r, pos, h->size, 16);
	else if (h->type == PERF_RECORD_LOST_SAMPLES)
		s->lost += ring_number(r, pos, h->size, 8);
}

/*
 * The address of the next header is known only after this one has arrived from another CPU's cache:
 * so the next AHEAD bytes are prefetched.
 */
static void ring_prefetch(const struct ring *r, uint64_t pos, size_t size)
{
	for (size_t i = 0; i < size; i += CACHE_LINE)
		__builtin_prefetch(r->base + ((pos + i + AHEAD) & (r->size - 1)));
}

static void ring_pieces(const struct ring *r, uint64_t from, struct ring_span *s)
{
	uint64_t at = from & (r->size - 1);
	size_t len = (size_t)(s->end - from);
	size_t first = r->size - at < len ? (size_t)(r->size - at) : len;

	s->piece[0] = (struct iovec){(void *)(uintptr_t)(r->base + at), first};
	s->piece[1] = (struct iovec){(void *)(uintptr_t)r->base, len - first};
	s->pieces = first < len ? 2 : 1;
}

int ring_peek(const struct ring *r, uint64_t from, uint64_t head, size_t most,
	      struct ring_span *ret)
{
	struct perf_event_header h;

	if (head == from)
		return RING_EMPTY;
	*ret = (struct ring_span){.end = from};
	if (head - *r->tail > r->size)
		return -EBADMSG;
	while ((h = ring_header(r, ret->end, head)).size != 0) {
		ring_prefetch(r, ret->end, h.size);
		if (ret->end != from && ret->end - from + h.size > most)
			break;
		ring_count(r, ret->end, &h, ret);
		ret->end += h.size;
	}
	if (ret->end == from)
		return -EBADMSG;
	ring_pieces(r, from, ret);
	return 0;
}

int ring_all(const struct ring *r, uint64_t head, struct ring_span *ret)
{
	uint64_t tail = *r->tail;

	if (head == tail)
		return RING_EMPTY;
	if (head - tail > r->size)
		return -EBADMSG;
	*ret = (struct ring_span){.end = head};
	ring_pieces(r, tail, ret);
	return 0;
}

void ring_release(struct ring *r, uint64_t end)
{
	ring_advance(r, end);
}

int ring_drain(struct ring *r, uint64_t head, void *buf, size_t size, size_t *ret_len)
{
	uint64_t tail = *r->tail, end = tail;
	size_t n = 0;

	if (head == tail)
		return RING_EMPTY;
	if (head - tail <= r->size) {
		while ((n = ring_record_size(r, end, head)) != 0 && n <= size - (end - tail))
			end += n;
	}
	if (end == tail && n > size)
		return -ENOBUFS;
	if (end == tail) {
		ring_advance(r, head);
		return -EBADMSG;
	}
	ring_copy(r, tail, buf, (size_t)(end - tail));
	ring_advance(r, end);
	*ret_len = (size_t)(end - tail);
	return 0;
}

uint64_t ring_skip(struct ring *r, uint64_t head)
{
	uint64_t records = 0, pos = *r->tail;
	size_t n;

	while (head - pos <= r->size && (n = ring_record_size(r, pos, head)) != 0) {
		pos += n;
		records++;
	}
	/* Records that cannot be separated count as one. */
	records += pos != head;
	ring_advance(r, head);
	return records;
}

uint32_t ring_own_bytes(uint64_t asked, size_t beside, size_t n)
{
	enum { LEAST = 1 << 16, MOST = 1 << 23, TOGETHER = 48 << 20, ASKED_MOST = 1 << 26 };
	uint32_t bytes = MOST;

	if (asked)
		return asked < LEAST ? LEAST : asked > ASKED_MOST ? ASKED_MOST : (uint32_t)asked;
	while (bytes > LEAST && (bytes + beside) * n > TOGETHER)
		bytes /= 2;
	return bytes;
}

uint32_t ring_perf_kib(size_t n, bool fed, uint64_t dumps)
{
	enum { MOST = 2048, DUMPS_MOST = 16384, USUAL = 512, ALL = 8 << 10, DUMPS_ALL = 64 << 10 };
	enum { LEAST = 64, TOGETHER = 64 << 10, FED_LEAST = 32, FED_TOGETHER = 16 << 10 };
	size_t kib = MOST, all = dumps ? DUMPS_ALL : ALL;
	bool few = fed && !dumps;

	while (kib * 1024 < dumps && kib < DUMPS_MOST)
		kib *= 2;
	while (kib > USUAL && kib * n > all)
		kib /= 2;
	while (kib > (few ? FED_LEAST : LEAST) && kib * n > (few ? FED_TOGETHER : TOGETHER))
		kib /= 2;
	return (uint32_t)kib;
}

static void replace_id(uint8_t *at, const uint64_t *from, const uint64_t *to, size_t n)
{
	uint64_t id;

	memcpy(&id, at, sizeof(id));
	for (size_t k = 0; k < n; k++) {
		if (id == from[k]) {
			memcpy(at, &to[k], sizeof(id));
			return;
		}
	}
}

void ring_replace_ids(void *records, size_t len, const uint64_t *from, const uint64_t *to, size_t n)
{
	uint8_t *p = records, *end = p + len;
	struct perf_event_header h;

	for (; (size_t)(end - p) >= sizeof(h) + sizeof(uint64_t); p += h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > (size_t)(end - p))
			return;
		if (h.type == PERF_RECORD_SAMPLE || h.type == PERF_RECORD_LOST)
			replace_id(p + sizeof(h), from, to, n);
		if (h.type != PERF_RECORD_SAMPLE)
			replace_id(p + h.size - sizeof(uint64_t), from, to, n);
	}
}
