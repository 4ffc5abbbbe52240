// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file with a limit of bytes: whatever number that is, the file is no longer, packed or not, and
 * has every event that was taken from the ring; where records are written unpacked,
 * the next record would not have found room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/mem.h"
#include "kontend/record-direct.h"
#include "recording.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RING = 65536, LONGEST = 600 };

void drain_restore_ids(const struct drain_ring *r, void *records, size_t len)
{
	(void)r, (void)records, (void)len;
}

struct stage {
	uint8_t *base;
	uint64_t head, tail;
	char dir[32], path[64];
	struct drain_ring ring;
	struct record_tally tally;
	struct record_direct direct;
	struct drain_sink sink;
	struct error err;
};

static void stage_init(struct stage *s, int level, uint64_t max_bytes)
{
	*s = (struct stage){
		.dir = "/tmp/kontend-limit-XXXXXX", .head = RING - 72, .tail = RING - 72};
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/file", s->dir);
	struct record_file_options o = {
		.path = s->path, .zstd_level = level, .max_bytes = max_bytes};
	s->base = calloc(1, RING);
	assert_non_null(s->base);
	s->ring = (struct drain_ring){.ring = {s->base, RING, &s->head, &s->tail}, .cpu = 1};
	s->direct.tally = &s->tally;
	s->direct.err = &s->err;
	assert_int_equal(record_file_new(&s->direct.file, &o, &s->err), 0);
	s->sink = record_direct_sink(&s->direct);
}

static void stage_deinit(struct stage *s)
{
	record_file_free(s->direct.file);
	assert_true(unlink(s->path) == 0 || errno == ENOENT);
	assert_int_equal(rmdir(s->dir), 0); /* no other file was left */
	free(s->base);
}

static uint64_t samples_in(const uint8_t *p, size_t len)
{
	struct perf_event_header h;
	uint64_t n = 0;

	for (; len; p += h.size, len -= h.size) {
		memcpy(&h, p, sizeof(h));
		n += h.type == PERF_RECORD_SAMPLE;
	}
	return n;
}

/* The part before the events, by way of the file as a queue hands it out. */
static int put_head(struct stage *s, struct synth *y)
{
	for (size_t i = 0; i < synth_count(y); i++) {
		const struct record *rec = synth_at(y, i);
		if (rec->kind == RECORD_PERF || rec->kind == RECORD_ROUND ||
		    rec->kind == RECORD_TICK)
			break;
		assert_int_equal(record_file_put(s->direct.file, rec, &s->err), 0);
	}
	return record_file_begin(s->direct.file, 0, &s->err);
}

static void put_run(struct stage *s, const struct record *rec)
{
	assert_true(s->head - s->tail + rec->len <= RING);
	for (size_t i = 0; i < rec->len; i++)
		s->base[(s->head + i) % RING] = ((const uint8_t *)rec->data)[i];
	s->head += rec->len;
}

/* The events of the canned stream again and again, each time with what follows a drain. */
static void fill(struct stage *s, struct synth *y)
{
	uint64_t time = 1000000;

	for (int n = 0; n < 2000 && !s->direct.full; n++) {
		for (size_t i = 0; i < synth_count(y); i++)
			if (synth_at(y, i)->kind == RECORD_PERF && s->head - s->tail < RING / 2)
				put_run(s, synth_at(y, i));
		s->sink.take(&s->direct, &s->ring, s->head);
		s->sink.taken(&s->direct);
		s->sink.put(&s->direct, RECORD_ROUND, 0, &time, sizeof(time));
	}
	assert_int_equal(s->direct.status, 0);
	assert_true(s->direct.full);
}

static uint64_t samples_left(const struct stage *s)
{
	uint8_t *rest = malloc(RING);
	size_t n = s->head - s->tail;

	for (size_t i = 0; i < n; i++)
		rest[i] = s->base[(s->tail + i) % RING];
	uint64_t samples = samples_in(rest, n);
	free(rest);
	return samples;
}

/* The number of the kernel's samples follows from its settings. */
static void check(int level, bool counted, uint64_t max)
{
	struct recording_result res;
	struct stage s;
	struct stat st;
	struct rig r;

	canned_init(&r);
	stage_init(&s, level, max);
	s.direct.counted = counted;
	assert_int_equal(put_head(&s, r.synth), 0);
	fill(&s, r.synth);
	uint64_t tail = s.tail;
	s.sink.take(&s.direct, &s.ring, s.head);
	assert_int_equal(s.tail, tail); /* no more, once it is full */
	assert_int_equal(record_file_finish(s.direct.file, &s.err), 0);
	assert_int_equal(stat(s.path, &st), 0);
	assert_true((uint64_t)st.st_size <= max);
	if (!level)
		assert_true((uint64_t)st.st_size + LONGEST > max);
	recording_read(&res, s.path, 0);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.notes, 0);
	assert_true(res.events > 100);
	if (!counted)
		assert_true(res.events + res.bad >= s.tally.samples);
	assert_true(samples_left(&s) > 0);
	recording_result_free(&res);
	stage_deinit(&s);
	rig_deinit(&r);
}

static void test_no_longer(void **state)
{
	(void)state;
	for (uint64_t max = 60000; max < 60400; max += 23)
		check(0, max % 2, max);
	for (uint64_t max = 200000; max < 1000000; max = max * 5 / 3)
		check(0, true, max);
}

static void test_no_longer_packed(void **state)
{
	(void)state;
	for (uint64_t max = 30000; max < 31000; max += 197)
		check(3, max % 2, max);
}

/* Too few bytes for the part before the events: no file is left. */
static void test_no_room_for_head(void **state)
{
	(void)state;
	for (uint64_t max = 1; max < 4000; max += 333) {
		struct stage s;
		struct rig r;
		canned_init(&r);
		stage_init(&s, 0, max);
		assert_int_equal(put_head(&s, r.synth), -EFBIG);
		assert_non_null(strstr(s.err.text, "symbols and headers need"));
		stage_deinit(&s);
		rig_deinit(&r);
	}
}

/* Room that is kept free: what is no event still fits when events do not. */
static void test_reserve(void **state)
{
	struct record_drop drop = {3, 333};
	struct stage s;
	struct rig r;

	(void)state;
	canned_init(&r);
	stage_init(&s, 0, 100000);
	s.direct.reserve = 20000;
	assert_int_equal(put_head(&s, r.synth), 0);
	fill(&s, r.synth);
	assert_true(record_file_room(s.direct.file) >= 20000);
	struct record rec = {.kind = RECORD_DROP, .data = &drop, .len = sizeof(drop)};
	for (int i = 0; i < 50; i++)
		assert_int_equal(record_file_put(s.direct.file, &rec, &s.err), 0);
	stage_deinit(&s);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_longer),
		cmocka_unit_test(test_no_longer_packed),
		cmocka_unit_test(test_no_room_for_head),
		cmocka_unit_test(test_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
