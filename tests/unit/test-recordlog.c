// SPDX-License-Identifier: GPL-2.0-only
/*
 * A compressed log against a plain list of the same random records: by number in any order, with
 * records in use while their chunk is packed; chunks that another thread reads after the log has
 * dropped them; and every allocation that fails.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/recordlog.h"

enum { RECORDS = 600, LONGEST = 3 << 10, IN_USE = 16 };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Record @i, whose bytes follow from its number. Each 97th is longer than a chunk. */
static struct record make_record(uint64_t i, uint8_t *buf)
{
	uint32_t seed = (uint32_t)i + 1;
	size_t len = i % 97 == 13 ? RECORDLOG_CHUNK + i : rnd(&seed) % LONGEST;

	for (size_t k = 0; k < len; k++)
		buf[k] = (uint8_t)(rnd(&seed) % 7);
	return (struct record){.kind = (enum record_kind)(1 + i % 9),
			       .ring = (uint32_t)i % 5,
			       .data = len ? buf : NULL,
			       .len = len};
}

static uint8_t *record_buffer(void)
{
	uint8_t *buf = malloc(2 * RECORDLOG_CHUNK);

	assert_non_null(buf);
	return buf;
}

static void assert_record(const struct record *r, uint64_t i, uint8_t *buf)
{
	struct record want = make_record(i, buf);

	assert_int_equal(r->kind, want.kind);
	assert_int_equal(r->ring, want.ring);
	assert_int_equal(r->len, want.len);
	if (r->len)
		assert_memory_equal(r->data, want.data, r->len);
}

static size_t closed_bytes(const struct recordlog *l)
{
	size_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->chunks[i] != l->open)
			sum += recordlog_chunk_bytes(l->chunks[i]);
	return sum;
}

/* Records that a reader has out, in a ring of a few. */
struct in_use {
	uint64_t number;
	struct record record;
	struct recordlog_chunk *chunk;
};

static void give_back(struct recordlog *l, struct in_use *u, uint8_t *buf)
{
	if (u->chunk) {
		assert_record(&u->record, u->number, buf);
		recordlog_release(l, u->chunk);
	}
	u->chunk = NULL;
}

static void test_as_a_list(void **state)
{
	uint8_t *buf = record_buffer();
	struct in_use out[IN_USE] = {0};
	struct recordlog l;
	uint32_t seed = 7;

	(void)state;
	assert_int_equal(recordlog_init(&l), 0);
	for (uint64_t i = 0; i < RECORDS; i++) {
		struct record r = make_record(i, buf);
		struct in_use *u = &out[i % IN_USE];

		assert_int_equal(recordlog_append(&l, &r), 0);
		assert_int_equal(l.end, i + 1);
		give_back(&l, u, buf);
		u->number = rnd(&seed) % 3 ? rnd(&seed) % l.end : i;
		assert_int_equal(recordlog_read(&l, u->number, &u->record, &u->chunk), 0);
		assert_int_equal(l.bytes, closed_bytes(&l));
	}
	for (size_t i = 0; i < IN_USE; i++)
		give_back(&l, &out[i], buf);
	assert_true(l.n > 3);
	assert_true(l.bytes < l.raw_bytes / 2);
	assert_int_equal(l.bytes_ever, l.bytes);
	recordlog_deinit(&l);
	free(buf);
}

/* Numbers stay when old records go, and a number can be without a record. */
static void test_numbers(void **state)
{
	uint8_t *buf = record_buffer();
	struct recordlog_chunk *chunk;
	struct recordlog l;
	struct record r;

	(void)state;
	assert_int_equal(recordlog_init(&l), 0);
	assert_int_equal(recordlog_read(&l, 0, &r, &chunk), -ENODATA);
	recordlog_skip(&l);
	for (uint64_t i = 1; i < RECORDS; i++) {
		r = make_record(i, buf);
		assert_int_equal(recordlog_append(&l, &r), 0);
	}
	assert_int_equal(recordlog_first(&l), 1);
	assert_int_equal(recordlog_read(&l, 0, &r, &chunk), -ENODATA);
	assert_int_equal(recordlog_read(&l, l.end, &r, &chunk), -ENODATA);
	assert_int_equal(recordlog_read(&l, 1, &r, &chunk), 0);
	recordlog_release(&l, chunk);
	/* The chunk that is being read goes as well. */
	recordlog_cut(&l, 400);
	assert_true(recordlog_first(&l) > 1 && recordlog_first(&l) <= 400);
	for (uint64_t i = recordlog_first(&l); i < RECORDS; i++) {
		assert_int_equal(recordlog_read(&l, i, &r, &chunk), 0);
		assert_record(&r, i, buf);
		recordlog_release(&l, chunk);
	}
	recordlog_skip(&l);
	recordlog_cut(&l, l.end);
	assert_int_equal(l.n, 0);
	assert_int_equal(l.bytes + l.raw_bytes, 0);
	assert_int_equal(recordlog_first(&l), RECORDS + 1);
	recordlog_deinit(&l);
	free(buf);
}

struct shared {
	struct recordlog_chunk **chunks;
	size_t n;
	uint64_t seen;
};

static void *read_all(void *arg)
{
	struct recordlog_reader reader = {0};
	uint8_t *buf = record_buffer();
	struct shared *s = arg;

	for (size_t i = 0; i < s->n; i++) {
		const uint8_t *raw = recordlog_reader_load(&reader, s->chunks[i]);
		struct record r;

		for (size_t at = 0; raw && recordlog_next(raw, s->chunks[i]->raw_len, &at, &r);) {
			struct record want = make_record(s->seen++, buf);

			if (r.kind != want.kind || r.ring != want.ring || r.len != want.len ||
			    (r.len && memcmp(r.data, want.data, r.len) != 0))
				abort();
		}
		recordlog_chunk_unref(s->chunks[i]);
	}
	recordlog_reader_deinit(&reader);
	free(buf);
	return NULL;
}

/* While another thread reads its chunks the log is used further, and drops them. */
static void test_other_thread(void **state)
{
	uint8_t *buf = record_buffer();
	struct recordlog_chunk *chunk;
	struct shared s = {0};
	struct recordlog l;
	pthread_t thread;
	struct record r;

	(void)state;
	assert_int_equal(recordlog_init(&l), 0);
	for (uint64_t i = 0; i < RECORDS; i++) {
		r = make_record(i, buf);
		/* There is no memory to pack the third chunk: readers get its raw bytes. */
		mem_fail_after(l.n == 3 && l.open ? 0 : -1);
		assert_int_equal(recordlog_append(&l, &r), 0);
	}
	mem_fail_after(-1);
	recordlog_close(&l);
	assert_null(l.open);
	assert_null(l.chunks[2]->packed);
	assert_non_null(l.chunks[1]->packed);
	s.n = l.n;
	s.chunks = mem_dup(l.chunks, l.n, sizeof(*l.chunks));
	assert_non_null(s.chunks);
	for (size_t i = 0; i < s.n; i++)
		recordlog_chunk_ref(s.chunks[i]);
	assert_int_equal(pthread_create(&thread, NULL, read_all, &s), 0);
	for (uint64_t i = 0; i < RECORDS; i += 7) {
		assert_int_equal(recordlog_read(&l, i, &r, &chunk), 0);
		recordlog_release(&l, chunk);
		recordlog_cut(&l, i);
	}
	recordlog_deinit(&l);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(s.seen, RECORDS);
	mem_free(s.chunks);
	free(buf);
}

/* One record alone, as the backlog keeps the kernel's symbols. */
static void test_one_record(void **state)
{
	uint8_t *buf = record_buffer();
	struct recordlog_reader reader = {0};
	struct engine_pack pack;
	size_t at = 0;
	struct record r = make_record(13, buf);

	(void)state;
	assert_int_equal(engine_pack_init(&pack), 0);
	struct recordlog_chunk *c = recordlog_chunk_new(&pack, &r);
	assert_non_null(c);
	assert_true(recordlog_chunk_bytes(c) < r.len);
	const uint8_t *raw = recordlog_reader_load(&reader, c);
	assert_non_null(raw);
	assert_true(recordlog_next(raw, c->raw_len, &at, &r));
	assert_record(&r, 13, buf);
	assert_false(recordlog_next(raw, c->raw_len, &at, &r));
	/* Damaged bytes are noticed. */
	c->packed[c->packed_len / 2] ^= 0xff;
	c->packed[0] ^= 0xff;
	assert_null(recordlog_reader_load(&reader, c));
	recordlog_chunk_unref(c);
	recordlog_reader_deinit(&reader);
	engine_pack_deinit(&pack);
	free(buf);
}

/* A record that was refused has no number; all others can be read, and nothing leaks. */
static void test_no_memory(void **state)
{
	uint8_t *buf = record_buffer();
	size_t refused = 0;

	(void)state;
	for (long fail = 0; fail < 60; fail++) {
		uint64_t numbers[RECORDS];
		struct recordlog_chunk *chunk;
		struct recordlog l;
		struct record r;
		long live = mem_live();

		mem_fail_after(fail);
		if (recordlog_init(&l)) {
			mem_fail_after(-1);
			assert_int_equal(mem_live(), live);
			continue;
		}
		for (uint64_t i = 0; i < RECORDS; i++) {
			r = make_record(i, buf);
			if (recordlog_append(&l, &r) == 0)
				numbers[l.end - 1] = i;
			else
				refused++;
			assert_true(l.end == i || l.end == i + 1);
		}
		for (uint64_t i = 0; i < l.end; i += 5) {
			int e = recordlog_read(&l, i, &r, &chunk);
			if (e) {
				assert_int_equal(e, -ENOMEM);
				continue;
			}
			assert_record(&r, numbers[i], buf);
			recordlog_release(&l, chunk);
		}
		mem_fail_after(-1);
		assert_int_equal(l.bytes, closed_bytes(&l));
		recordlog_deinit(&l);
		assert_int_equal(mem_live(), live);
	}
	assert_true(refused > 0);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_list),    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_other_thread), cmocka_unit_test(test_one_record),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
