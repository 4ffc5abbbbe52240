// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a ring in plain memory into a file: whatever the place in the ring and however little a
 * write takes, the file has the ring's bytes in their order; what has failed leaves one that can be
 * read, and takes nothing from the ring that is not in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/file/pack.h"
#include "canned.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/record-direct.h"
#include "recording.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RING = 65536, SMALL = 4096, NAMES = 256 << 10 };

/* Behaviour of the test's writev(). */
static struct {
	size_t most;	  /* bytes that one call takes; 0: all */
	bool interrupted; /* every other call answers EINTR */
	bool full;	  /* after `room` bytes: ENOSPC */
	size_t room;
	unsigned calls;
	size_t ends[64]; /* of the file after each of the first calls */
} plan;

ssize_t __wrap_writev(int fd, const struct iovec *v, int n);

ssize_t __wrap_writev(int fd, const struct iovec *v, int n)
{
	size_t most = plan.most ? plan.most : SIZE_MAX, done = 0;

	if (++plan.calls % 2 && plan.interrupted) {
		errno = EINTR;
		return -1;
	}
	if (plan.full && plan.room < most)
		most = plan.room;
	for (int i = 0; i < n && done < most; i++) {
		size_t len = v[i].iov_len < most - done ? v[i].iov_len : most - done;
		assert_int_equal(write(fd, v[i].iov_base, len), len);
		done += len;
	}
	plan.room -= plan.full ? done : 0;
	if (plan.calls <= sizeof(plan.ends) / sizeof(*plan.ends))
		plan.ends[plan.calls - 1] = (size_t)lseek(fd, 0, SEEK_CUR);
	if (done || !plan.full)
		return (ssize_t)done;
	errno = ENOSPC;
	return -1;
}

/* Instead of the one that knows perf events: all ids that records carry become 0. */
void drain_restore_ids(const struct drain_ring *r, void *records, size_t len)
{
	struct perf_event_header h;

	(void)r;
	for (uint8_t *p = records; len; p += h.size, len -= h.size) {
		memcpy(&h, p, sizeof(h));
		memset(p + sizeof(h), 0, 8);
	}
}

/* A ring, and the file that it is written to. */
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

static void stage_init(struct stage *s, uint64_t size, uint64_t start, int level)
{
	*s = (struct stage){.dir = "/tmp/kontend-direct-XXXXXX", .head = start, .tail = start};
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/file", s->dir);
	struct record_file_options o = {.path = s->path, .zstd_level = level};

	s->base = calloc(1, size);
	assert_non_null(s->base);
	s->ring = (struct drain_ring){.ring = {s->base, size, &s->head, &s->tail}, .cpu = 1};
	s->direct.tally = &s->tally;
	s->direct.err = &s->err;
	assert_int_equal(record_file_new(&s->direct.file, &o, &s->err), 0);
	s->sink = record_direct_sink(&s->direct);
	memset(&plan, 0, sizeof(plan));
}

static void stage_deinit(struct stage *s)
{
	record_file_free(s->direct.file);
	unlink(s->path);
	rmdir(s->dir);
	free(s->base);
}

/* As the kernel does it; there must be room. */
static void into_ring(struct stage *s, const void *data, size_t len)
{
	assert_true(s->head - s->tail + len <= s->ring.ring.size);
	for (size_t i = 0; i < len; i++)
		s->base[(s->head + i) & (s->ring.ring.size - 1)] = ((const uint8_t *)data)[i];
	s->head += len;
}

static void drain(struct stage *s)
{
	s->sink.take(&s->direct, &s->ring, s->head);
	s->sink.taken(&s->direct);
}

/* The canned stream, until something fails: its events by the ring. */
static void play(struct stage *s)
{
	struct rig r;

	canned_init(&r);
	for (size_t i = 0; i < synth_count(r.synth) && !s->direct.status; i++) {
		const struct record *rec = synth_at(r.synth, i);
		s->ring.cpu = rec->ring;
		if (rec->kind == RECORD_PERF) {
			into_ring(s, rec->data, rec->len);
			drain(s);
		} else {
			s->sink.put(&s->direct, rec->kind, rec->ring, rec->data, rec->len);
		}
	}
	rig_deinit(&r);
}

static char *canned_dump(void)
{
	struct rig r;

	canned_init(&r);
	rig_play(&r, NULL);
	char *dump = rig_dump(r.engine.model);
	rig_deinit(&r);
	return dump;
}

static void check_whole(const struct stage *s)
{
	struct recording_result res;
	char *dump = canned_dump();

	recording_read(&res, s->path, 0);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.notes, 0);
	assert_string_equal(res.dump, dump);
	recording_result_free(&res);
	mem_free(dump);
}

/* The same model as without ring and file, packed or not, whatever the writes take. */
static void test_file_is_stream(void **state)
{
	static const size_t most[] = {0, 1, 7, 4096, 0};

	(void)state;
	for (int level = 0; level <= 3; level += 3) {
		for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
			struct stage s;
			stage_init(&s, RING, RING - 8 * (i + 1), level);
			s.direct.counted = i % 2;
			plan.most = most[i];
			plan.interrupted = i > 0;
			play(&s);
			assert_int_equal(s.direct.status, 0);
			assert_int_equal(s.tail, s.head);
			assert_true(s.direct.counted || s.tally.samples > 50);
			assert_int_equal(record_file_finish(s.direct.file, &s.err), 0);
			check_whole(&s);
			stage_deinit(&s);
		}
	}
}

/* Records of all sizes that are in a run of @len bytes; their payload counts up. */
static size_t make_run(uint8_t *buf, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; at < len; i++) {
		struct perf_event_header h = {.type = PERF_RECORD_SAMPLE,
					      .size = (uint16_t)(16 + i % 30 * 8)};
		if (h.size > len - at)
			h.size = (uint16_t)(len - at);
		memcpy(buf + at, &h, sizeof(h));
		for (size_t k = sizeof(h); k < h.size; k++)
			buf[at + k] = (uint8_t)(at + k * 7);
		at += h.size;
	}
	return at;
}

static size_t file_size(const struct stage *s)
{
	struct writer_stat st;

	record_file_stat(s->direct.file, &st);
	return st.bytes;
}

static void check_tail(const struct stage *s, const uint8_t *run, size_t len)
{
	static uint8_t buf[SMALL];
	int fd = open(s->path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), file_size(s));
	lseek(fd, -(off_t)len, SEEK_END);
	assert_int_equal(read(fd, buf, len), len);
	assert_memory_equal(buf, run, len);
	close(fd);
}

/* At every place of the ring; what is written are the ring's own bytes, at once. */
static void test_wraps(void **state)
{
	static uint8_t run[SMALL];
	struct stage s;

	(void)state;
	stage_init(&s, SMALL, 0, 0);
	for (size_t i = 0; i < 1500; i++) {
		size_t len = 8 + i % 500 * 8;
		len = make_run(run, len < 16 ? 16 : len);
		into_ring(&s, run, len);
		plan.most = i % 3 ? 0 : 100;
		drain(&s);
		assert_int_equal(s.direct.status, 0);
		assert_int_equal(s.tail, s.head);
		check_tail(&s, run, len);
	}
	assert_int_equal(s.tally.lost, 0);
	stage_deinit(&s);
}

/* Fills @buf with records of 1 KiB that shrink by about a third, as names and program frames do. */
static void make_names(uint8_t *buf, size_t len)
{
	uint32_t seed = 1;

	for (size_t at = 0; at < len; at++) {
		seed = seed * 1664525 + 1013904223;
		buf[at] = (uint8_t)((seed >> 16) % 40 + 'A');
	}
	for (size_t at = 0; at < len; at += 1024) {
		struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 1024};
		memcpy(buf + at, &h, sizeof(h));
	}
}

/* The compressed records of a finished file: the bytes that each of them unpacks to, in order. */
static size_t unpacked(const struct stage *s, size_t *sizes, size_t most)
{
	static uint8_t file[2 * NAMES], back[2 * NAMES];
	struct unpack u = {0};
	size_t n = 0;
	uint64_t data[2];
	int fd = open(s->path, O_RDONLY);

	assert_true(fd >= 0);
	assert_in_range(read(fd, file, sizeof(file)), 1, sizeof(file) - 1);
	close(fd);
	memcpy(data, file + offsetof(struct perfdata_header, data), sizeof(data));
	for (uint64_t at = data[0]; at < data[0] + data[1];) {
		struct perf_event_header h;
		memcpy(&h, file + at, sizeof(h));
		if (h.type == PERFDATA_TYPE_COMPRESSED) {
			long got = 0;
			assert_int_equal(unpack_feed(&u, file + at + 8, h.size - 8u, NULL), 0);
			for (long more; (more = unpack_some(&u, back, sizeof(back), NULL)) > 0;)
				got += more;
			assert_true(n < most);
			sizes[n++] = (size_t)got;
		}
		at += h.size;
	}
	unpack_deinit(&u);
	return n;
}

/* perf takes a record that unpacks to nothing for damage, also if data shrink little. */
static void test_each_packed_record_unpacks(void **state)
{
	static uint8_t names[NAMES];
	size_t sizes[64], n, sum = 0;
	struct stage s;

	(void)state;
	stage_init(&s, NAMES, 0, 1);
	make_names(names, sizeof(names));
	into_ring(&s, names, sizeof(names));
	drain(&s);
	assert_int_equal(record_file_finish(s.direct.file, &s.err), 0);
	n = unpacked(&s, sizes, 64);
	for (size_t i = 0; i < n; i++) {
		assert_int_not_equal(sizes[i], 0);
		sum += sizes[i];
	}
	assert_true(sum >= sizeof(names));
	stage_deinit(&s);
}

/* Several rings are one write; none of them is released before it. */
static void test_one_write(void **state)
{
	uint8_t run[1024], other_base[SMALL];
	uint64_t other_head = 0, other_tail = 0;
	struct drain_ring other = {.ring = {other_base, SMALL, &other_head, &other_tail}};
	struct stage s;

	(void)state;
	stage_init(&s, SMALL, SMALL - 512, 0);
	into_ring(&s, run, make_run(run, 16));
	drain(&s);
	into_ring(&s, run, make_run(run, 1024));
	memcpy(other_base, run, 1024);
	other_head = 1024;
	plan.calls = 0;
	s.sink.take(&s.direct, &s.ring, s.head);
	s.sink.take(&s.direct, &other, other_head);
	assert_int_equal(plan.calls, 0);
	assert_int_equal(s.head - s.tail, 1024);
	assert_int_equal(other_tail, 0);
	s.sink.taken(&s.direct);
	assert_int_equal(plan.calls, 1);
	assert_int_equal(s.tail, s.head);
	assert_int_equal(other_tail, 1024);
	check_tail(&s, run, 1024);
	stage_deinit(&s);
}

/* The whole file. */
static uint8_t *slurp(const struct stage *s, size_t *ret_len)
{
	int fd = open(s->path, O_RDONLY);

	assert_true(fd >= 0);
	*ret_len = (size_t)lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc(*ret_len);
	assert_int_equal(pread(fd, bytes, *ret_len, 0), *ret_len);
	close(fd);
	return bytes;
}

/* Unpacks the records from @from on into @raw; every write of theirs ended at the end of a record.
 */
static size_t unpack_all(const uint8_t *file, size_t from, size_t len, uint8_t *raw, size_t room)
{
	struct unpack u = {0};
	struct perf_event_header h;
	size_t n = 0;
	unsigned end = 0;

	for (size_t at = from; at < len; at += h.size) {
		memcpy(&h, file + at, sizeof(h));
		assert_int_equal(h.type, PERFDATA_TYPE_COMPRESSED);
		assert_int_equal(h.size % 8, 0);
		assert_true(h.size > sizeof(h) && h.size <= len - at);
		while (end < plan.calls && plan.ends[end] < at + h.size)
			assert_int_equal(plan.ends[end++], at);
		unpack_feed(&u, file + at + sizeof(h), h.size - sizeof(h), NULL);
		for (long k; (k = unpack_some(&u, raw + n, room - n, NULL)) != 0; n += (size_t)k)
			assert_true(k > 0);
	}
	unpack_deinit(&u);
	return n;
}

/* Packed, from around the end of a ring: also what cannot be made smaller, and fills many records.
 */
static void test_packed(void **state)
{
	enum { BIG = 1 << 20, RUN = 700000 / 8 * 8 };
	uint8_t *run = malloc(RUN), *raw = malloc(RUN + SMALL);
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 1000};
	uint64_t seed = 1;
	size_t len;

	(void)state;
	for (int random = 0; random < 2; random++) {
		struct stage s;
		for (size_t i = 0; i < RUN; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			run[i] = random ? (uint8_t)(seed >> 56) : (uint8_t)(i % 1000 / 100);
		}
		for (size_t at = 0; at < RUN; at += 1000)
			memcpy(run + at, &h, sizeof(h));
		stage_init(&s, BIG, BIG - 500200, 1);
		into_ring(&s, raw, make_run(raw, 16));
		drain(&s);
		assert_int_equal(record_file_flush(s.direct.file, &s.err), 0);
		size_t from = file_size(&s);
		plan.calls = 0;
		into_ring(&s, run, RUN);
		drain(&s);
		assert_int_equal(s.direct.status, 0);
		assert_int_equal(s.tail, s.head);
		assert_int_equal(s.tally.samples, 1 + RUN / 1000);
		assert_int_equal(record_file_flush(s.direct.file, &s.err), 0);
		uint8_t *file = slurp(&s, &len);
		assert_true(random ? len > RUN && plan.calls > 2 : len < RUN / 4);
		assert_int_equal(unpack_all(file, from, len, raw, RUN + SMALL), RUN);
		assert_memory_equal(raw, run, RUN);
		free(file);
		stage_deinit(&s);
	}
	free(run);
	free(raw);
}

/* No room in the middle of a record, at any byte of a batch. */
static void test_full(void **state)
{
	(void)state;
	for (size_t room = 20000; room < 20400; room += 3) {
		struct recording_result res;
		struct stage s;
		stage_init(&s, RING, RING - 80, 0);
		plan.full = true;
		plan.room = room;
		for (int i = 0; i < 50 && !s.direct.status; i++)
			play(&s);
		assert_int_equal(s.direct.status, -ENOSPC);
		assert_non_null(strstr(s.err.text, "readable"));
		uint64_t tail = s.tail;
		assert_true(tail < s.head); /* what failed is still in the ring */
		drain(&s);
		assert_int_equal(s.tail, tail);
		assert_int_equal(record_file_finish(s.direct.file, &s.err), 0);
		recording_read(&res, s.path, 0);
		assert_int_equal(res.answer, 0);
		assert_true(res.events > 20);
		assert_int_equal(res.notes, 0); /* no record is cut */
		recording_result_free(&res);
		stage_deinit(&s);
	}
}

/* Killed at any byte of a write: what is whole is read, never less than before that write. */
static void test_killed(void **state)
{
	uint64_t before = 0;
	struct stage s;

	(void)state;
	stage_init(&s, RING, RING - 80, 0);
	play(&s);
	size_t end = file_size(&s);
	uint8_t *bytes = malloc(end);
	int fd = open(s.path, O_RDONLY);
	assert_int_equal(record_file_flush(s.direct.file, &s.err), 0);
	assert_int_equal(read(fd, bytes, end), end);
	close(fd);
	for (size_t len = end - 3000; len <= end; len++) {
		struct recording_result res;
		recording_read_bytes(&res, bytes, len);
		assert_int_equal(res.answer, 0);
		assert_true(res.events >= before);
		before = res.events;
		recording_result_free(&res);
	}
	assert_true(before > 50);
	free(bytes);
	stage_deinit(&s);
}

/* Where the next record cannot be found, everything is given up and counted, once. */
static void test_damaged(void **state)
{
	struct perf_event_header bad = {.size = 4};
	uint8_t run[256];
	struct stage s;

	(void)state;
	stage_init(&s, SMALL, SMALL - 64, 0);
	into_ring(&s, run, make_run(run, sizeof(run)));
	into_ring(&s, &bad, sizeof(bad));
	into_ring(&s, run, sizeof(run));
	drain(&s);
	assert_int_equal(s.direct.status, 0);
	assert_int_equal(s.tail, s.head);
	assert_int_equal(s.ring.drop.records, 1);
	assert_int_equal(s.ring.drop.bytes, sizeof(bad) + sizeof(run));
	check_tail(&s, run, sizeof(run));
	s.sink.put(&s.direct, RECORD_DROP, 1, &s.ring.drop, sizeof(s.ring.drop));
	assert_int_equal(s.tally.dropped, 1);
	stage_deinit(&s);
}

/* Events that were opened again: copied, with the ids that the stream has announced. */
static void test_renewed(void **state)
{
	static uint8_t run[2048];
	struct stage s;

	(void)state;
	for (uint64_t at = 0; at < 2048; at += 136) {
		stage_init(&s, SMALL, SMALL - at, 0);
		s.ring.renewed = true;
		into_ring(&s, run, make_run(run, sizeof(run)));
		drain(&s);
		assert_int_equal(s.direct.status, 0);
		assert_int_equal(s.tail, s.head);
		drain_restore_ids(NULL, run, sizeof(run));
		assert_int_equal(record_file_flush(s.direct.file, &s.err), 0);
		check_tail(&s, run, sizeof(run));
		assert_true(s.tally.samples > 10);
		stage_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_is_stream),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_one_write),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_renewed),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_each_packed_record_unpacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
