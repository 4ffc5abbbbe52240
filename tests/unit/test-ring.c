// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/holdrec.h"
#include "kontend/ring.h"
#include "kontend/waitrec.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A kernel in miniature: it writes records byte by byte, wrapping. */
struct writer {
	uint8_t *base;
	uint64_t size, head, tail;
	uint8_t next; /* bytes of payload count up, so that a misplaced one shows */
};

static struct ring writer_init(struct writer *w, uint64_t size, uint64_t start)
{
	*w = (struct writer){.base = calloc(1, size), .size = size, .head = start, .tail = start};
	assert_non_null(w->base);
	return (struct ring){w->base, size, &w->head, &w->tail};
}

static void put_record(struct writer *w, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		w->base[(w->head + i) & (w->size - 1)] = ((const uint8_t *)data)[i];
	w->head += len;
}

/* A record of @size bytes; false when the ring has no room. */
static bool write_record(struct writer *w, size_t size)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};

	if (w->size - (w->head - w->tail) < size)
		return false;
	put_record(w, &h, sizeof(h));
	for (size_t i = sizeof(h); i < size; i++)
		put_record(w, &w->next, 1), w->next++;
	return true;
}

/* The bytes of @n records of @size each, whose payload goes on from *next. */
static void check_records(const uint8_t *p, size_t n, size_t size, uint8_t *next)
{
	struct perf_event_header h;

	for (; n--; p += size) {
		memcpy(&h, p, sizeof(h));
		assert_int_equal(h.size, size);
		for (size_t i = sizeof(h); i < size; i++) {
			if (p[i] != (*next)++)
				fail_msg("byte %zu of a record of %zu", i, size);
		}
	}
}

static void test_empty(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 0);
	uint8_t buf[64];
	size_t len = 99;

	(void)state;
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), RING_EMPTY);
	assert_int_equal(len, 99);
	assert_int_equal(ring_skip(&r, ring_head(&r)), 0);
	free(w.base);
}

/* A record beginning at every position of the ring, so every wrap there can be. */
static void wrap_everywhere(uint64_t ring_size, size_t record, uint64_t step)
{
	uint8_t *buf = malloc(RING_RECORD_MAX);

	for (uint64_t at = 0; at < ring_size; at += step) {
		struct writer w;
		struct ring r = writer_init(&w, ring_size, (1ull << 40) + at);
		uint8_t next = 0;
		size_t len = 0;
		assert_true(write_record(&w, record));
		assert_int_equal(ring_used(&r, ring_head(&r)), record);
		assert_int_equal(ring_drain(&r, ring_head(&r), buf, RING_RECORD_MAX, &len), 0);
		assert_int_equal(len, record);
		check_records(buf, 1, record, &next);
		assert_int_equal(w.tail, w.head);
		free(w.base);
	}
	free(buf);
}

static void test_wrap(void **state)
{
	(void)state;
	wrap_everywhere(256, 8, 8);
	wrap_everywhere(256, 48, 8);
	wrap_everywhere(256, 256, 8);
	wrap_everywhere(8192, 4168, 8);
	wrap_everywhere(8192, 4176, 8);
	wrap_everywhere(65536, 65528, 1192);
}

static void test_only_whole_records(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 4000);
	uint8_t buf[100], next = 0;
	size_t len = 0, total = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_true(write_record(&w, 48));
	while (ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len) == 0) {
		assert_int_equal(len, 96);
		check_records(buf, 2, 48, &next);
		total += len;
	}
	assert_int_equal(total, 20 * 48);
	free(w.base);
}

/* Records that come after the head was read stay for the next time. */
static void test_head_is_a_limit(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 0);
	uint8_t buf[4096];
	size_t len = 0;

	(void)state;
	assert_true(write_record(&w, 32));
	uint64_t head = ring_head(&r);
	assert_true(write_record(&w, 64));
	assert_int_equal(ring_drain(&r, head, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 32);
	assert_int_equal(ring_drain(&r, head, buf, sizeof(buf), &len), RING_EMPTY);
	assert_int_equal(ring_used(&r, ring_head(&r)), 64);
	free(w.base);
}

static void test_record_too_large_for_buffer(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 0);
	uint8_t buf[64];
	size_t len = 7;

	(void)state;
	assert_true(write_record(&w, 72));
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), -ENOBUFS);
	assert_int_equal(len, 7);
	assert_int_equal(w.tail, 0);
	assert_int_equal(ring_skip(&r, ring_head(&r)), 1);
	assert_int_equal(w.tail, 72);
	free(w.base);
}

/* @bad_size in the header of the second record. */
static void broken(uint16_t bad_size)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 4080);
	struct perf_event_header bad = {.type = 9, .size = bad_size};
	uint8_t buf[4096], next = 0;
	size_t len = 0;

	assert_true(write_record(&w, 32));
	put_record(&w, &bad, sizeof(bad));
	put_record(&w, "........", 8);
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 32);
	check_records(buf, 1, 32, &next);
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), -EBADMSG);
	assert_int_equal(w.tail, w.head);
	/* It continues with the next good one. */
	assert_true(write_record(&w, 40));
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 40);
	free(w.base);
}

static void test_broken_header(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 0);
	struct perf_event_header bad = {.size = 0};
	uint8_t buf[64];
	size_t len;

	(void)state;
	broken(0);
	broken(7);
	broken(24);
	broken(65535);
	/* Less than a header. */
	put_record(&w, "....", 4);
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), -EBADMSG);
	assert_int_equal(w.tail, w.head);
	/* A head beyond the ring. */
	w.head += w.size + 8;
	assert_int_equal(ring_drain(&r, ring_head(&r), buf, sizeof(buf), &len), -EBADMSG);
	assert_int_equal(w.tail, w.head);
	put_record(&w, &bad, sizeof(bad));
	assert_int_equal(ring_skip(&r, ring_head(&r)), 1);
	assert_int_equal(w.tail, w.head);
	free(w.base);
}

static void test_skip_counts(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 1024, 1000);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_true(write_record(&w, 56));
	assert_int_equal(ring_skip(&r, ring_head(&r)), 10);
	assert_int_equal(w.tail, w.head);
	free(w.base);
}

/* Records of all sizes for a long time: nothing is lost, doubled or changed. */
static void test_long_run(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 16384, 0);
	uint8_t *buf = malloc(RING_RECORD_MAX), next = 0;
	uint64_t seed = 12345, written = 0, seen = 0;
	size_t len;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		written += write_record(&w, 8 + (seed >> 33) % 700 * 8);
		if ((seed >> 60) % 3)
			continue;
		while (ring_drain(&r, ring_head(&r), buf, RING_RECORD_MAX, &len) == 0) {
			struct perf_event_header h;
			for (size_t at = 0; at < len; at += h.size, seen++) {
				memcpy(&h, buf + at, sizeof(h));
				check_records(buf + at, 1, h.size, &next);
			}
		}
	}
	seen += ring_skip(&r, ring_head(&r));
	assert_int_equal(seen, written);
	assert_true(written > 1000);
	free(buf);
	free(w.base);
}

/* The bytes of @s, one piece after the other. */
static size_t span_bytes(const struct ring_span *s, uint8_t *buf)
{
	size_t len = 0;

	assert_in_range(s->pieces, 1, 2);
	for (int i = 0; i < s->pieces; i++) {
		assert_true(s->piece[i].iov_len > 0);
		memcpy(buf + len, s->piece[i].iov_base, s->piece[i].iov_len);
		len += s->piece[i].iov_len;
	}
	return len;
}

/* A run that begins at every position of the ring: where it lies, all of it, in one or two pieces.
 */
static void test_peek_wraps(void **state)
{
	uint8_t buf[4096];

	(void)state;
	for (uint64_t at = 0; at < 4096; at += 8) {
		struct writer w;
		struct ring r = writer_init(&w, 4096, (1ull << 40) + at);
		struct ring_span s;
		uint8_t next = 0;
		for (int i = 0; i < 15; i++)
			assert_true(write_record(&w, 264));
		assert_int_equal(ring_peek(&r, w.tail, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.pieces, at > 4096 - 15 * 264 ? 2 : 1);
		assert_int_equal(s.samples, 15);
		assert_int_equal(s.end, w.head);
		assert_int_equal(span_bytes(&s, buf), 15 * 264);
		check_records(buf, 15, 264, &next);
		assert_int_equal(w.tail, (1ull << 40) + at);
		assert_int_equal(ring_peek(&r, s.end, ring_head(&r), 4096, &s), RING_EMPTY);
		ring_release(&r, s.end);
		assert_int_equal(w.tail, w.head);
		free(w.base);
	}
}

/* All of it, whatever its content; more than a ring holds is no run. */
static void test_all(void **state)
{
	uint8_t buf[4096];

	(void)state;
	for (uint64_t at = 0; at < 4096; at += 8) {
		struct writer w;
		struct ring r = writer_init(&w, 4096, (1ull << 40) + at);
		struct ring_span s;
		uint8_t next = 0;
		assert_int_equal(ring_all(&r, ring_head(&r), &s), RING_EMPTY);
		for (int i = 0; i < 15; i++)
			assert_true(write_record(&w, 264));
		assert_int_equal(ring_all(&r, ring_head(&r), &s), 0);
		assert_int_equal(s.end, w.head);
		assert_int_equal(s.samples, 0);
		assert_int_equal(span_bytes(&s, buf), 15 * 264);
		check_records(buf, 15, 264, &next);
		assert_int_equal(ring_all(&r, w.tail + 4096, &s), 0);
		assert_int_equal(span_bytes(&s, buf), 4096);
		assert_int_equal(ring_all(&r, w.tail + 4104, &s), -EBADMSG);
		free(w.base);
	}
}

/* Runs of a bounded size, one after the other, before anything is given back. */
static void test_peek_in_parts(void **state)
{
	struct writer w;
	struct ring r = writer_init(&w, 4096, 4000);
	struct ring_span s = {.end = 4000};
	uint8_t buf[4096], next = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_true(write_record(&w, 72));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(ring_peek(&r, s.end, ring_head(&r), 200, &s), 0);
		assert_int_equal(span_bytes(&s, buf), 144);
		check_records(buf, 2, 72, &next);
	}
	assert_int_equal(s.end, w.head);
	/* A single one that is larger than that is a run all the same. */
	assert_true(write_record(&w, 800));
	assert_int_equal(ring_peek(&r, s.end, ring_head(&r), 200, &s), 0);
	assert_int_equal(span_bytes(&s, buf), 800);
	free(w.base);
}

static void put_lost(struct writer *w, uint32_t type, size_t size, size_t at, uint64_t n)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)size};
	uint64_t zero = 0;

	put_record(w, &h, sizeof(h));
	for (size_t i = sizeof(h); i < size; i += sizeof(n))
		put_record(w, i == at ? &n : &zero, sizeof(n));
}

static void put_sample(struct writer *w, uint64_t id, uint32_t magic)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 64};
	uint64_t body[7] = {id, 0, 0, 0, (uint64_t)magic << 32 | 24};

	put_record(w, &h, sizeof(h));
	for (size_t i = 0; i < 7; i++)
		put_record(w, &body[i], sizeof(body[i]));
}

/* Begins and ends alone: by the ids of their events, or, in a feed's ring, by what they say. */
static void test_peek_counts_waits(void **state)
{
	(void)state;
	for (uint64_t at = 4000; at <= 4096; at += 8) {
		struct writer w;
		struct ring r = writer_init(&w, 4096, at);
		struct ring_span s;
		put_sample(&w, 5, WAITREC_BEGIN_MAGIC);
		put_sample(&w, 6, HOLDREC_MAGIC);
		put_sample(&w, 7, WAITREC_END_MAGIC);
		put_sample(&w, 6, WAITREC_LATE_MAGIC);
		put_sample(&w, 6, WAITREC_WAKE_MAGIC);
		put_sample(&w, 6, WAITREC_RELEASE_MAGIC);
		assert_int_equal(ring_peek(&r, at, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.samples, 6);
		r.counted[0] = 7;
		r.counted[1] = 5;
		assert_int_equal(ring_peek(&r, at, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.samples, 2);
		r.is_fed = true;
		assert_int_equal(ring_peek(&r, at, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.samples, 3);
		assert_int_equal(s.end, w.head);
		free(w.base);
	}
}

/* Counted by headers, also where the number of lost events is around the end. */
static void test_peek_counts(void **state)
{
	(void)state;
	for (uint64_t at = 4000; at <= 4096; at += 8) {
		struct writer w;
		struct ring r = writer_init(&w, 4096, at);
		struct ring_span s;
		put_lost(&w, PERF_RECORD_LOST, 48, 16, 7);
		assert_true(write_record(&w, 48));
		put_lost(&w, PERF_RECORD_LOST_SAMPLES, 40, 8, 500);
		put_lost(&w, PERF_RECORD_LOST, 16, 16, 0); /* too short to say */
		put_lost(&w, PERF_RECORD_COMM, 40, 16, 99);
		assert_int_equal(ring_peek(&r, at, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.samples, 1);
		assert_int_equal(s.lost, 507);
		assert_int_equal(s.end, w.head);
		free(w.base);
	}
}

/* A run ends before what cannot be a record; there is none from there on. */
static void test_peek_broken(void **state)
{
	static const uint16_t sizes[] = {0, 7, 24, 65535};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct writer w;
		struct ring r = writer_init(&w, 4096, 4080);
		struct perf_event_header bad = {.type = 9, .size = sizes[i]};
		struct ring_span s;
		assert_true(write_record(&w, 32));
		put_record(&w, &bad, sizeof(bad));
		put_record(&w, "........", 8);
		assert_int_equal(ring_peek(&r, 4080, ring_head(&r), 4096, &s), 0);
		assert_int_equal(s.end, 4112);
		assert_int_equal(ring_peek(&r, s.end, ring_head(&r), 4096, &s), -EBADMSG);
		/* A head beyond the ring. */
		w.head += w.size;
		assert_int_equal(ring_peek(&r, 4080, ring_head(&r), 4096, &s), -EBADMSG);
		assert_int_equal(w.tail, 4080);
		free(w.base);
	}
}

static void own_rings_fit_into_their_memory(void **state)
{
	const size_t beside = 80 << 10;

	(void)state;
	assert_int_equal(ring_own_bytes(0, beside, 2), 1 << 23);
	assert_int_equal(ring_own_bytes(0, beside, 16), 1 << 21);
	assert_int_equal(ring_own_bytes(0, beside, 32), 1 << 20);
	assert_int_equal(ring_own_bytes(0, beside, 64), 1 << 19);
	assert_int_equal(ring_own_bytes(0, beside, 1024), 1 << 16);
	for (size_t n = 1; n < 340; n++) {
		size_t own = ring_own_bytes(0, beside, n) + beside;
		assert_true(own * n <= 48 << 20);
		assert_true((own + ring_perf_kib(n, true, 0) * 1024) * n <= 64 << 20);
	}
	assert_int_equal(ring_own_bytes(4096, beside, 2), 1 << 16);
	assert_int_equal(ring_own_bytes(1 << 18, beside, 1024), 1 << 18);
	assert_int_equal(ring_own_bytes(1 << 24, beside, 2), 1 << 24);
	assert_int_equal(ring_own_bytes(1ull << 33, beside, 2), 1 << 26);
}

static void rings_of_perf_fit_into_their_memory(void **state)
{
	(void)state;
	assert_int_equal(ring_perf_kib(2, false, 0), 2048);
	assert_int_equal(ring_perf_kib(2, true, 0), 2048);
	assert_int_equal(ring_perf_kib(16, true, 0), 512);
	assert_int_equal(ring_perf_kib(128, false, 0), 512);
	assert_int_equal(ring_perf_kib(64, true, 0), 256);
	assert_int_equal(ring_perf_kib(1024, false, 0), 64);
	assert_int_equal(ring_perf_kib(1024, true, 0), 32);
	assert_int_equal(ring_perf_kib(2, true, 8 << 20), 8192);
	assert_int_equal(ring_perf_kib(64, true, 8 << 20), 1024);
	for (size_t n = 1; n <= 1024; n++) {
		assert_true(ring_perf_kib(n, false, 0) * n <= 64 << 10);
		assert_true(ring_perf_kib(n, false, 1 << 30) * n <= 64 << 10);
	}
	for (size_t n = 1; n <= 512; n++)
		assert_true(ring_perf_kib(n, true, 0) * n <= 16 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_only_whole_records),
		cmocka_unit_test(test_head_is_a_limit),
		cmocka_unit_test(test_record_too_large_for_buffer),
		cmocka_unit_test(test_broken_header),
		cmocka_unit_test(test_skip_counts),
		cmocka_unit_test(test_long_run),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_peek_wraps),
		cmocka_unit_test(test_peek_in_parts),
		cmocka_unit_test(test_peek_counts_waits),
		cmocka_unit_test(test_peek_counts),
		cmocka_unit_test(test_peek_broken),
		cmocka_unit_test(own_rings_fit_into_their_memory),
		cmocka_unit_test(rings_of_perf_fit_into_their_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
