// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings with wrong content rather than cut ones: attributes of other sizes and without ids,
 * time that goes back, compressed data that lie about their size or hold a thousand times as much,
 * files of 2 TB that are holes, and files that grow or shrink while they are read. Each time an
 * error with a position, or the readable part and a count of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/file/pack.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 4, WAITS = 10, EVENTS = 2 * ROUNDS * WAITS };
#define MS 1000000ull
#define TB (1ull << 40)

static struct recording made_of(int flags, unsigned rounds)
{
	struct recording rec;
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, rounds, WAITS);
	rec = recording_perf(r.synth, flags);
	rig_deinit(&r);
	return rec;
}

static struct recording made(int flags)
{
	return made_of(flags, ROUNDS);
}

static void add_bytes(struct recording *r, const void *data, size_t len)
{
	r->data = realloc(r->data, r->len + len);
	assert_non_null(r->data);
	memcpy(r->data + r->len, data, len);
	r->len += len;
}

static void add_record(struct recording *r, uint32_t type, const void *body, size_t len)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)(sizeof(h) + len)};

	add_bytes(r, &h, sizeof(h));
	add_bytes(r, body, len);
}

static struct perfdata_header head_of(const struct recording *r)
{
	struct perfdata_header h;

	memcpy(&h, r->data, sizeof(h));
	return h;
}

/* --- attributes --------------------------------------------------------------------------------
 */

/* The same recording, whose attributes have @size bytes each. */
static struct recording with_attr_size(const struct recording *from, uint32_t size)
{
	struct perfdata_header h = head_of(from);
	struct recording r = {0};
	uint8_t attr[4096] = {0};

	add_bytes(&r, from->data, from->len);
	for (uint64_t k = 0; k < h.attrs.size / h.attr_size; k++) {
		const uint8_t *entry = from->data + h.attrs.offset + k * h.attr_size;
		memcpy(attr, entry, size < 128 ? size : 128);
		memcpy(attr + 4, &size, sizeof(size));
		add_bytes(&r, attr, size);
		add_bytes(&r, entry + 128, sizeof(struct perfdata_section));
	}
	h.attrs.size = h.attrs.size / h.attr_size * (size + sizeof(struct perfdata_section));
	h.attrs.offset = from->len;
	h.attr_size = size + sizeof(struct perfdata_section);
	memcpy(r.data, &h, sizeof(h));
	return r;
}

static void test_attr_sizes(void **state)
{
	static const uint32_t sizes[] = {64, 72, 96, 128, 136, 144, 1024};
	struct recording rec = made(0);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct recording other = with_attr_size(&rec, sizes[i]);
		struct recording_result res;
		recording_read_bytes(&res, other.data, other.len);
		assert_int_equal(res.answer, 0);
		assert_int_equal(res.events, EVENTS);
		assert_int_equal(res.notes, 0);
		recording_result_free(&res);
		recording_free(&other);
	}
	recording_free(&rec);
}

/* Sizes that no attribute has: the message names the event, and its position. */
static void test_attr_size_lies(void **state)
{
	static const uint32_t sizes[] = {1, 63, 129, 1u << 31, UINT32_MAX};
	struct recording rec = made(0);
	struct perfdata_header h = head_of(&rec);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct recording_result res;
		char where[32];
		memcpy(rec.data + h.attrs.offset + h.attr_size + 4, &sizes[i], 4);
		recording_read_bytes(&res, rec.data, rec.len);
		assert_int_equal(res.answer, -EINVAL);
		snprintf(where, sizeof(where), "byte %llu",
			 (unsigned long long)(h.attrs.offset +
					      h.attr_size * (sizes[i] > 128 ? 1 : 2)));
		if (!strstr(res.err.text, where))
			fail_msg("\"%s\" does not say %s", res.err.text, where);
		recording_result_free(&res);
	}
	recording_free(&rec);
}

/* Missing ids: events whose samples cannot be distinguished are counted, not guessed at. */
static void test_ids_missing(void **state)
{
	struct recording rec = made(0);
	struct perfdata_header h = head_of(&rec);
	struct recording_result res;

	(void)state;
	for (uint64_t k = 0; k < h.attrs.size / h.attr_size; k++)
		memset(rec.data + h.attrs.offset + k * h.attr_size + 128 + 8, 0, 8);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, 0);
	assert_int_equal(res.bad, EVENTS);
	recording_result_free(&res);
	/* Of the second event alone: the first one's are read. */
	recording_free(&rec);
	rec = made(0);
	memset(rec.data + h.attrs.offset + h.attr_size + 128 + 8, 0, 8);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, EVENTS / 2);
	assert_int_equal(res.bad, EVENTS / 2);
	recording_result_free(&res);
	recording_free(&rec);
}

/* Ids beyond the file by their header, or more of them than a file may have. */
static void test_ids_beyond(void **state)
{
	static const struct {
		uint64_t offset, size;
		const char *says;
	} lies[] = {
		{1ull << 50, 8, "event ids should have 8 bytes at byte 1125899906842624"},
		{UINT64_MAX - 3, 8, "event ids"},
		{104, 1ull << 40, "1099511627776 bytes of ids"},
		{104, 12, "12 bytes of ids"},
	};
	struct recording rec = made(0);
	struct perfdata_header h = head_of(&rec);

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct recording_result res;
		memcpy(rec.data + h.attrs.offset + 128, &lies[i], 16);
		recording_read_bytes(&res, rec.data, rec.len);
		assert_int_equal(res.answer, -EINVAL);
		if (!strstr(res.err.text, lies[i].says))
			fail_msg("\"%s\" does not say \"%s\"", res.err.text, lies[i].says);
		recording_result_free(&res);
	}
	recording_free(&rec);
}

/* --- time --------------------------------------------------------------------------------------
 */

/* Rounds that promise what they do not keep: what comes too late is counted and paired no more. */
static void test_time_goes_back(void **state)
{
	struct recording_result res;
	struct rig r;
	uint64_t t = 5000 * MS;

	(void)state;
	rig_init(&r, 2);
	for (unsigned i = 0; i < 50; i++, t -= 20 * MS) {
		synth_begin(r.synth, i % 2, t, 100, 100, 0xffff888000001000, LCB_F_WRITE, NULL, 0);
		synth_end(r.synth, i % 2, t + MS, 100, 100, 0xffff888000001000, 0);
		synth_round(r.synth, t + MS);
	}
	struct recording rec = recording_perf(r.synth, RECORDING_PIPE);
	rig_deinit(&r);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, 100);
	assert_true(res.late > 40);
	recording_result_free(&res);
	recording_free(&rec);
}

/* A word of another kind where a time should be: no clock comes that far. */
static void test_time_of_no_clock(void **state)
{
	struct recording_result res;
	struct rig r;

	(void)state;
	rig_init(&r, 2);
	recording_waits(r.synth, ROUNDS, WAITS);
	synth_begin(r.synth, 1, (uint64_t)PERF_CONTEXT_KERNEL, 100, 100, 4096, 0, NULL, 0);
	synth_end(r.synth, 1, 1ull << 63, 100, 100, 4096, 0);
	struct recording rec = recording_perf(r.synth, 0);
	rig_deinit(&r);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.events, EVENTS);
	assert_int_equal(res.bad, 2);
	assert_true(res.ticks < 10);
	recording_result_free(&res);
	recording_free(&rec);
}

/* --- compressed data ---------------------------------------------------------------------------
 */

/* Data before a bad piece is read; the rest of the zstd stream cannot be. */
static void check_piece(uint32_t type, const void *body, size_t len, const char *says)
{
	struct recording rec = made(RECORDING_PIPE);
	struct recording_result res;
	char where[32];

	snprintf(where, sizeof(where), "byte %zu", rec.len + 8 + len);
	add_record(&rec, type, body, len);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, EVENTS);
	assert_int_equal(res.notes, 1);
	if (!strstr(res.note, says) || !strstr(res.note, where))
		fail_msg("\"%s\" does not say \"%s\" at %s", res.note, says, where);
	recording_result_free(&res);
	recording_free(&rec);
}

static void test_compressed_lies(void **state)
{
	/* A frame whose head asks for a window of 2 GiB, or that gives 1 TB as its size. */
	static const uint8_t window[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0, 0, 0, 0};
	static const uint8_t content[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
					  0,	0,    1,    0,	  0,	1, 0, 0};
	uint64_t more[2] = {1000, 0};

	(void)state;
	check_piece(PERFDATA_TYPE_COMPRESSED, window, sizeof(window), "libzstd");
	check_piece(PERFDATA_TYPE_COMPRESSED, content, sizeof(content), "libzstd");
	check_piece(PERFDATA_TYPE_COMPRESSED2, more, sizeof(more), "24 bytes, but says more");
}

/* The last sample of a stream; *ret_size is its size. */
static const uint8_t *last_sample(const struct recording *rec, size_t *ret_size)
{
	const uint8_t *last = NULL;
	struct perf_event_header h;

	for (size_t at = PERFDATA_PIPE_HEADER; at < rec->len; at += h.size) {
		uint32_t behind = 0;
		memcpy(&h, rec->data + at, sizeof(h));
		if (h.type == PERFDATA_TYPE_TRACING_DATA)
			memcpy(&behind, rec->data + at + sizeof(h), sizeof(behind));
		if (h.type == PERF_RECORD_SAMPLE) {
			last = rec->data + at;
			*ret_size = h.size;
		}
		at += behind;
	}
	assert_non_null(last);
	return last;
}

/* 60 KiB, of which come 120 MiB of samples at one time: what is held stays within its bound. */
static void test_bomb(void **state)
{
	enum { PIECE = 1 << 20, PIECES = 120, MOST_HELD = 80 << 20 };
	struct recording rec = made(RECORDING_PIPE), bomb = {0};
	uint8_t *plain = mem_calloc(1, PIECE), *packed = mem_calloc(1, PIECE);
	struct pack pack = {.level = 1};
	struct recording_result res;
	size_t size = 0, n = 0;

	(void)state;
	assert_true(plain && packed);
	for (const uint8_t *p = last_sample(&rec, &size); (n + 1) * size <= PIECE; n++)
		memcpy(plain + n * size, p, size);
	for (unsigned i = 0; i < PIECES; i++) {
		long len = pack_some(&pack, plain, n * size, packed, PIECE, 0);
		assert_true(len > 0 && len < 1000);
		add_record(&bomb, PERFDATA_TYPE_COMPRESSED, packed, (size_t)len);
	}
	add_bytes(&rec, bomb.data, bomb.len);
	assert_true(bomb.len < 65536);
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, EVENTS + PIECES * n);
	assert_in_range(res.most_held, 1, MOST_HELD);
	recording_result_free(&res);
	pack_deinit(&pack);
	mem_free(plain);
	mem_free(packed);
	recording_free(&bomb);
	recording_free(&rec);
}

/* --- holes -------------------------------------------------------------------------------------
 */

static int sparse_file(char *path, const struct recording *rec, uint64_t size)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	if (ftruncate(fd, (off_t)size)) {
		unlink(path);
		print_message("no file of 2 TB here\n");
		skip();
	}
	if (rec)
		assert_int_equal(pwrite(fd, rec->data, rec->len, 0), rec->len);
	return fd;
}

static void check_sparse(int fd, const char *path, struct recording_result *ret)
{
	recording_read(ret, path, UINT64_MAX / 4);
	unlink(path);
	close(fd);
	recording_result_free(ret);
}

static void test_zeros(void **state)
{
	char path[] = "/tmp/kontend-zeros-XXXXXX";
	struct recording_result res;

	(void)state;
	check_sparse(sparse_file(path, NULL, 2 * TB), path, &res);
	assert_int_equal(res.answer, -EINVAL);
	assert_non_null(strstr(res.err.text, "first bytes are not"));
}

static void test_stream_and_a_hole(void **state)
{
	char path[] = "/tmp/kontend-hole-XXXXXX", where[64];
	struct recording rec = made(RECORDING_PIPE);
	struct recording_result res;

	(void)state;
	check_sparse(sparse_file(path, &rec, 2 * TB), path, &res);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, EVENTS);
	assert_int_equal(res.notes, 1);
	snprintf(where, sizeof(where), "readable up to byte %zu: there is no record", rec.len);
	assert_non_null(strstr(res.note, where));
	recording_free(&rec);
}

/* Data of 2 TB, nearly all a hole, and all sections at their places after them. */
static void test_data_and_a_hole(void **state)
{
	char path[] = "/tmp/kontend-hole-XXXXXX";
	struct recording rec = made(0);
	struct perfdata_header h = head_of(&rec);
	struct perfdata_section s[3];
	size_t end = h.data.offset + h.data.size;
	struct recording_result res;

	(void)state;
	uint64_t by = 2 * TB - rec.len;
	memcpy(s, rec.data + end, sizeof(s));
	for (size_t i = 0; i < 3; i++)
		s[i].offset += i < 2 ? by : 0;
	memcpy(rec.data + end, s, sizeof(s));
	h.data.size += by;
	memcpy(rec.data, &h, sizeof(h));
	int fd = sparse_file(path, NULL, 2 * TB);
	assert_int_equal(pwrite(fd, rec.data, end, 0), end);
	assert_int_equal(pwrite(fd, rec.data + end, rec.len - end, (off_t)(end + by)),
			 rec.len - end);
	check_sparse(fd, path, &res);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, EVENTS);
	assert_int_equal(res.notes, 1);
	assert_non_null(strstr(res.note, "there is no record"));
	recording_free(&rec);
}

/* --- files that change -------------------------------------------------------------------------
 */

/* Records up to the first tick, or all; how many samples there were. */
static unsigned drain(struct source *s, bool first_only, char *ret_note, size_t room)
{
	struct error err = {0};
	struct record rec;
	unsigned n = 0;
	int r = 0;

	for (bool go = true; go && (r = source_next(s, 0, &rec, &err)) == 0;) {
		go = !first_only || rec.kind != RECORD_PERF;
		n += rec.kind == RECORD_PERF;
		if (rec.kind == RECORD_NOTE)
			snprintf(ret_note, room, "%.*s", (int)rec.len, (const char *)rec.data);
		source_release(s, &rec);
	}
	assert_int_equal(r, first_only ? 0 : SOURCE_END);
	return n;
}

/* While it is recorded: what was there at first, and nothing wrong with it; later, all. */
static void test_growing(void **state)
{
	struct recording rec = made(RECORDING_PIPE);
	char path[64], note[600] = "";
	struct reader_options o = {.path = path, .no_symbols = true};
	int fd = memfd_create("grows", MFD_CLOEXEC);
	struct recording_result res;
	struct source *s;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(write(fd, rec.data, rec.len / 2), rec.len / 2);
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	assert_int_equal(drain(s, true, note, sizeof(note)), 1);
	assert_int_equal(write(fd, rec.data + rec.len / 2, rec.len - rec.len / 2),
			 rec.len - rec.len / 2);
	assert_true(drain(s, false, note, sizeof(note)) > 0);
	assert_true(!note[0] || strstr(note, "it ends within a record"));
	source_free(s);
	recording_read(&res, path, UINT64_MAX / 4);
	assert_int_equal(res.events, EVENTS);
	recording_result_free(&res);
	close(fd);
	recording_free(&rec);
}

static void test_shrinking(void **state)
{
	struct recording rec = made_of(RECORDING_PIPE, 10 * ROUNDS);
	char path[64], note[600] = "";
	struct reader_options o = {.path = path, .no_symbols = true, .window_bytes = 4096};
	int fd = memfd_create("shrinks", MFD_CLOEXEC);
	struct source *s;

	(void)state;
	assert_true(rec.len > 12288);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(write(fd, rec.data, rec.len), rec.len);
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	assert_int_equal(drain(s, true, note, sizeof(note)), 1);
	assert_int_equal(ftruncate(fd, 8192), 0);
	drain(s, false, note, sizeof(note));
	assert_non_null(strstr(note, "was truncated while it was read"));
	source_free(s);
	close(fd);
	recording_free(&rec);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr_sizes),	cmocka_unit_test(test_attr_size_lies),
		cmocka_unit_test(test_ids_missing),	cmocka_unit_test(test_ids_beyond),
		cmocka_unit_test(test_time_goes_back),	cmocka_unit_test(test_time_of_no_clock),
		cmocka_unit_test(test_compressed_lies), cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_zeros),		cmocka_unit_test(test_stream_and_a_hole),
		cmocka_unit_test(test_data_and_a_hole), cmocka_unit_test(test_growing),
		cmocka_unit_test(test_shrinking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
