// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records come back as they were, whatever they are: alike, cut anywhere between two frames,
 * none at all. A frame in between that is packed in another way disturbs nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/file/pack.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 512 << 10, FRAME = 64 << 10 };

static uint64_t seed;

static uint64_t next(void)
{
	seed += 0x9e3779b97f4a7c15u;
	uint64_t z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
	return z ^ z >> 27;
}

/* Waits of a few tasks and two kinds. */
static size_t make_waits(uint8_t *p)
{
	uint64_t time = 40192932707900, words[19] = {0};
	size_t len = 0;

	for (;;) {
		uint64_t task = next() % 7, kind = next() % 2;
		uint16_t size = kind ? sizeof(words) : sizeof(words) - 8;

		if (len + size > BYTES)
			return len;
		words[0] = PERF_RECORD_SAMPLE | (uint64_t)size << 48;
		words[1] = 100 + kind;
		words[2] = 0xffffffff81000000 + kind;
		words[3] = task << 32 | task;
		words[4] = time += 1000 + next() % 3000;
		for (size_t i = 5; i < 15; i++)
			words[i] = 0xffffffff81000000 + (kind + 1) * i * 16;
		words[16] = task;
		memcpy(p + len, words, size);
		len += size;
	}
}

/* Answers the bytes that they take packed. */
static size_t check(const uint8_t *data, size_t len, size_t frame, bool mixed)
{
	static uint8_t packed[BYTES], back[BYTES];
	struct pack p = {.level = 1};
	struct unpack u = {0};
	size_t sum = 0, n_back = 0;

	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < frame ? len - at : frame;
		bool end = !mixed || at + n == len || next() % 2;
		long z = pack_some(&p, data + at, n, packed, sizeof(packed), end);

		assert_true(z > 0);
		assert_int_equal(z % 8, 0);
		sum += (size_t)z;
		assert_int_equal(unpack_feed(&u, packed, (size_t)z, NULL), 0);
		for (long more; (more = unpack_some(&u, back + n_back, len - n_back, NULL)) > 0;)
			n_back += (size_t)more;
	}
	assert_int_equal(n_back, len);
	assert_memory_equal(back, data, len);
	pack_deinit(&p);
	unpack_deinit(&u);
	return sum;
}

static uint8_t data[BYTES];

static void waits_become_small(void **state)
{
	size_t len = make_waits(data), n = len / sizeof(uint64_t) / 18;

	(void)state;
	assert_in_range(check(data, len, FRAME, false) / n, 1, 8);
}

static void frames_may_cut_records(void **state)
{
	size_t len = make_waits(data);

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		size_t frame = 8 * (1 + next() % (FRAME / 8));

		check(data, len < 8 * frame ? len : 8 * frame, frame, i % 2);
	}
	check(data, 4096, 8, false);
}

/* A frame that is a little longer than a record leaves no end that nothing comes out of. */
static void pieces_of_a_frame_have_an_end_of_their_own(void **state)
{
	(void)state;
	for (size_t len = 8; len < 5 * (size_t)PACK_PIECE_MOST; len += 8) {
		size_t left = len, n = 0;
		for (; left; left -= n) {
			n = pack_piece(left);
			assert_true(n && n <= PACK_PIECE_MOST && n % 8 == 0 && n <= left);
		}
		assert_true(n == len || n >= PACK_PIECE_LAST);
	}
}

static void what_is_no_record_is_packed_too(void **state)
{
	static const uint16_t sizes[] = {0, 4, 8, 12, 16, 152, 0xfff8};

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		size_t len = make_waits(data) / 8;
		size_t n_bad = next() % 8;

		for (size_t k = 0; k < n_bad; k++) {
			size_t at = next() % (len - 8);
			memcpy(data + at, &sizes[next() % 7], 2);
		}
		for (size_t k = i % 3 ? len : 0; k < len; k++)
			data[k] = (uint8_t)next();
		check(data, len, 8 + 8 * (next() % 8000), i % 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_become_small),
		cmocka_unit_test(frames_may_cut_records),
		cmocka_unit_test(pieces_of_a_frame_have_an_end_of_their_own),
		cmocka_unit_test(what_is_no_record_is_packed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
