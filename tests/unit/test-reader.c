// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data as a source: a file has the same content as the same stream directly, whichever the
 * layout; damage gives an error or the readable part, and always an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MS = 1000000, ROUNDS = 5, WAITS = 12 };

static struct recording made(int flags, char **ret_dump)
{
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, ROUNDS, WAITS);
	struct recording rec = recording_perf(r.synth, flags);
	rig_play(&r, NULL);
	if (ret_dump)
		*ret_dump = rig_dump(r.engine.model);
	rig_deinit(&r);
	return rec;
}

static void check_layout(int flags)
{
	char *direct;
	struct recording rec = made(flags, &direct);
	struct recording_result res;

	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_string_equal(res.dump, direct);
	assert_int_equal(res.events, 2 * ROUNDS * WAITS);
	assert_int_equal(res.notes, 0);
	recording_result_free(&res);
	recording_free(&rec);
	mem_free(direct);
}

static void test_file_layout(void **state)
{
	(void)state;
	check_layout(0);
}

static void test_pipe_layout(void **state)
{
	(void)state;
	check_layout(RECORDING_PIPE);
}

/* A pipe that comes in two parts: between them nothing, without waiting; no part is lost. */
static void test_stalling_pipe(void **state)
{
	struct recording rec = made(RECORDING_PIPE, NULL);
	struct reader_options o = {.no_symbols = true};
	struct source *s;
	struct engine e;
	char path[64];
	int fds[2], r;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) >= (int)rec.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	o.path = path;
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	close(fds[0]);
	assert_int_equal(engine_init(&e, s, NULL, NULL), 0);
	assert_true(source_fd(s) >= 0);
	assert_int_equal(engine_pump(&e, 0, NULL), ENGINE_IDLE);
	for (size_t at = 0, n; at < rec.len; at += n) {
		n = rec.len - at < 777 ? rec.len - at : 777;
		assert_int_equal(write(fds[1], rec.data + at, n), n);
		do
			r = engine_pump(&e, 0, NULL);
		while (r == 0 || r == ENGINE_TICK);
		assert_int_equal(r, ENGINE_IDLE);
	}
	close(fds[1]);
	do
		r = engine_pump(&e, 0, NULL);
	while (r == 0 || r == ENGINE_TICK);
	assert_int_equal(r, ENGINE_END);
	assert_int_equal(e.model->n_events, 2 * ROUNDS * WAITS);
	assert_int_equal(e.notes.n, 0);
	engine_deinit(&e);
	recording_free(&rec);
}

/* Cut (test-truncate.c has every byte): an error or a part with a note; of a pipe, never less
 * than of a shorter one. */
static void check_cut(int flags)
{
	struct recording rec = made(flags, NULL);
	uint64_t before = 0;

	for (size_t len = 0; len<rec.len; len += len> rec.len - 300 ? 1 : 31) {
		struct recording_result res;
		recording_read_bytes(&res, rec.data, len);
		if (res.answer) {
			assert_true(res.answer != -ENOMEM);
			assert_true(strlen(res.err.text) > 20);
		} else if (!(flags & RECORDING_PIPE)) {
			assert_true(res.notes > 0);
		} else {
			assert_true(res.events >= before);
			before = res.events;
		}
		recording_result_free(&res);
	}
	if (flags & RECORDING_PIPE)
		assert_int_equal(before, 2 * ROUNDS * WAITS);
	recording_free(&rec);
}

static void test_cut(void **state)
{
	(void)state;
	check_cut(0);
	check_cut(RECORDING_PIPE);
}

struct damage {
	size_t at;
	uint64_t value;
	unsigned size;
	const char *says; /* of the error; NULL: a note or a result without it */
};

/* Wrong numbers in the header: each has its own sentence, or the data are read without it. */
static void test_header_damage(void **state)
{
	static const struct damage damages[] = {
		{0, 0x1122334455667788, 8, "first bytes are not"},
		{0, PERFDATA_MAGIC_SWAPPED, 8, "other byte order"},
		{8, 103, 8, "header says it has 103 bytes"},
		{8, 17, 8, "header says it has 17 bytes"},
		{8, UINT64_MAX, 8, "header says"},
		{16, 0, 8, "attributes of 0 bytes each"},
		{16, 17, 8, "attributes of 17 bytes each"},
		{16, 1 << 20, 8, "bytes each"},
		{24, 0, 8, "the event attributes at 0"},
		{24, 1ull << 60, 8, "event attributes at"},
		{24, UINT64_MAX, 8, "event attributes at"},
		{32, 0, 8, "0 bytes of event attributes"},
		{32, UINT64_MAX - 15, 8, "event attributes"},
		{40, 8, 8, "data begin at byte 8"},
		{40, 1ull << 62, 8, "data begin at byte"},
		{40, 104, 8, "overlap"},
		{48, 0, 8, NULL},
		{48, UINT64_MAX, 8, NULL},
		{48, 64, 8, "feature"},
	};
	struct recording rec = made(0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		const struct damage *d = &damages[i];
		struct recording_result res;
		uint8_t old[8];
		memcpy(old, rec.data + d->at, 8);
		memcpy(rec.data + d->at, &d->value, d->size);
		recording_read_bytes(&res, rec.data, rec.len);
		/* The data may end early and take the features with them: then there are no
		 * formats. */
		if (!res.answer)
			assert_true(res.notes > 0);
		else if (d->says && !strstr(res.err.text, d->says))
			fail_msg("%zu: \"%s\" does not say \"%s\"", i, res.err.text, d->says);
		else
			assert_true(strlen(res.err.text) > 20);
		assert_true(!d->says || res.answer < 0);
		memcpy(rec.data + d->at, old, 8);
		recording_result_free(&res);
	}
	recording_free(&rec);
}

/* Every byte of the fixed parts set to other values: no crash, no hang, no loss of memory. */
static void test_flipped(void **state)
{
	static const int layouts[] = {0, RECORDING_PIPE};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct recording rec = made(layouts[k], NULL);
		for (size_t at = 0; at < rec.len; at += at < 1024 ? 1 : 13) {
			struct recording_result res;
			uint8_t old = rec.data[at];
			rec.data[at] = (uint8_t)(old ^ (1u << at % 8 | 0x80));
			recording_read_bytes(&res, rec.data, rec.len);
			assert_true(res.answer != -ENOMEM);
			rec.data[at] = old;
			recording_result_free(&res);
		}
		recording_free(&rec);
	}
}

static void insert(struct recording *r, size_t at, const void *data, size_t len)
{
	r->data = realloc(r->data, r->len + len);
	assert_non_null(r->data);
	memmove(r->data + at + len, r->data + at, r->len - at);
	memcpy(r->data + at, data, len);
	r->len += len;
}

/* A record of an unknown type, of a size that leaves all records after it unaligned. */
static void test_unknown_record(void **state)
{
	struct perf_event_header h = {.type = 123456, .size = 11};
	uint8_t odd[11] = {0};
	char *direct;
	struct recording rec = made(RECORDING_PIPE, &direct);
	struct recording_result res;

	(void)state;
	memcpy(odd, &h, sizeof(h));
	insert(&rec, PERFDATA_PIPE_HEADER, odd, sizeof(odd));
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_string_equal(res.dump, direct);
	assert_int_equal(res.notes, 1);
	assert_non_null(strstr(res.note, "types not known"));
	recording_result_free(&res);
	recording_free(&rec);
	mem_free(direct);
}

/* Bytes that follow AUXTRACE records are no records. */
static void test_auxtrace_is_skipped(void **state)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_AUXTRACE, .size = 48};
	uint8_t aux[48 + 40];
	uint64_t size = 40;
	char *direct;
	struct recording rec = made(RECORDING_PIPE, &direct);
	struct recording_result res;

	(void)state;
	memset(aux, 0xff, sizeof(aux));
	memcpy(aux, &h, sizeof(h));
	memcpy(aux + 8, &size, sizeof(size));
	insert(&rec, PERFDATA_PIPE_HEADER, aux, sizeof(aux));
	recording_read_bytes(&res, rec.data, rec.len);
	assert_string_equal(res.dump, direct);
	assert_int_equal(res.notes, 0);
	recording_result_free(&res);
	recording_free(&rec);
	mem_free(direct);
}

/* Compressed data that are none, in the middle. */
static void test_bad_compression(void **state)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_COMPRESSED, .size = 64};
	uint8_t bad[64];
	struct recording rec = made(RECORDING_PIPE, NULL);
	struct recording_result res;

	(void)state;
	memset(bad, 0x5a, sizeof(bad));
	memcpy(bad, &h, sizeof(h));
	insert(&rec, rec.len, bad, sizeof(bad));
	recording_read_bytes(&res, rec.data, rec.len);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, 2 * ROUNDS * WAITS);
	assert_int_equal(res.notes, 1);
	assert_non_null(strstr(res.note, "libzstd"));
	recording_result_free(&res);
	recording_free(&rec);
}

/* Data of 2 TB, of which the last 2 TB are a hole: an end, at once, and what came before. */
static void test_sparse_file(void **state)
{
	struct recording rec = made(0, NULL);
	char path[] = "/tmp/kontend-sparse-XXXXXX";
	uint64_t size = 2ull << 40;
	struct recording_result res;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	size_t data = 0;
	memcpy(&data, rec.data + 40, 8);
	size -= data;
	memcpy(rec.data + 48, &size, 8);
	assert_int_equal(write(fd, rec.data, rec.len), rec.len);
	if (ftruncate(fd, (off_t)(2ull << 40))) {
		unlink(path);
		close(fd);
		print_message("no file of 2 TB here\n");
		recording_free(&rec);
		skip();
	}
	recording_read(&res, path, UINT64_MAX / 4);
	unlink(path);
	close(fd);
	/* The formats stood where the features are looked for no more. */
	assert_int_equal(res.answer, -EINVAL);
	recording_result_free(&res);
	recording_free(&rec);
}

/* Read with ticks of @tick_ns. */
static struct recording_result read_ticks(const struct recording *rec, uint64_t tick_ns)
{
	struct recording_result res;
	char path[64];
	int fd = memfd_create("ticks", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(write(fd, rec->data, rec->len), rec->len);
	recording_read(&res, path, tick_ns);
	close(fd);
	return res;
}

/* A clock that jumps by 500 years: some ticks, not one for each second. */
static void test_gap(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 2);
	synth_end(r.synth, 0, 1000 * MS, 1, 1, 1, 0);
	synth_round(r.synth, 1000 * MS);
	synth_end(r.synth, 0, UINT64_MAX / 2, 1, 1, 1, 0);
	synth_round(r.synth, UINT64_MAX / 2);
	synth_end(r.synth, 0, 2000 * MS, 1, 1, 1, 0);
	/* perf's mark of a round hands out the records up to the mark before. */
	synth_round(r.synth, UINT64_MAX / 2);
	struct recording rec = recording_perf(r.synth, RECORDING_PIPE);
	struct recording_result res = read_ticks(&rec, 0);
	assert_int_equal(res.answer, 0);
	assert_int_equal(res.events, 3);
	assert_in_range(res.ticks, 1, 10000);
	recording_result_free(&res);
	recording_free(&rec);
	rig_deinit(&r);
}

/* Records that the kernel makes too long: their end has random bytes, here a possible time. */
static void test_stale_ends(void **state)
{
	static const uint32_t types[] = {PERF_RECORD_KSYMBOL, PERF_RECORD_BPF_EVENT,
					 PERF_RECORD_TEXT_POKE};
	struct rig r;

	(void)state;
	rig_init(&r, 2);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint64_t stale[16];
		struct perf_event_header h = {.type = types[i], .size = sizeof(stale)};
		for (size_t k = 0; k < 16; k++)
			stale[k] = 0x00007ffc12345678;
		memcpy(stale, &h, sizeof(h));
		synth_raw(r.synth, (uint32_t)i % 2, stale, sizeof(stale));
	}
	recording_waits(r.synth, ROUNDS, WAITS);
	struct recording rec = recording_perf(r.synth, 0);
	rig_play(&r, NULL);
	char *direct = rig_dump(r.engine.model);
	struct recording_result res = read_ticks(&rec, UINT64_MAX / 4);
	assert_string_equal(res.dump, direct);
	recording_result_free(&res);
	res = read_ticks(&rec, 10 * MS);
	assert_in_range(res.ticks, 5, 7);
	recording_result_free(&res);
	mem_free(direct);
	recording_free(&rec);
	rig_deinit(&r);
}

/* Ticks come from the stream's time: 60 waits, 1 ms apart, a tick every 10 ms. */
static void test_ticks(void **state)
{
	struct recording rec = made(0, NULL);
	struct recording_result res = read_ticks(&rec, 10 * MS);

	(void)state;
	assert_in_range(res.ticks, 5, 7);
	recording_result_free(&res);
	recording_free(&rec);
}

static void test_not_a_recording(void **state)
{
	static const char text[] = "this is not a recording, but long enough to be one of those";
	struct recording_result res;

	(void)state;
	recording_read_bytes(&res, text, sizeof(text));
	assert_int_equal(res.answer, -EINVAL);
	recording_read_bytes(&res, text, 0);
	assert_int_equal(res.answer, -EINVAL);
	assert_non_null(strstr(res.err.text, "empty"));
	recording_read(&res, "/nonexistent/perf.data", 0);
	assert_int_equal(res.answer, -ENOENT);
	recording_read(&res, "/tmp", 0);
	assert_int_equal(res.answer, -EISDIR);
}

/* Whichever allocation fails: -ENOMEM, and every block comes back. */
static void test_no_memory(void **state)
{
	static const int layouts[] = {0, RECORDING_PIPE};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct recording rec = made(layouts[k], NULL);
		long live = mem_live();
		int answer = -ENOMEM;
		for (long n = 0; answer; n++) {
			struct recording_result res;
			mem_fail_after(n);
			recording_read_bytes(&res, rec.data, rec.len);
			mem_fail_after(-1);
			answer = res.answer == -ENOMEM || res.events < 2 * ROUNDS * WAITS ? -ENOMEM
											  : 0;
			recording_result_free(&res);
			assert_int_equal(mem_live(), live);
			assert_true(n < 10000);
		}
		recording_free(&rec);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_layout),
		cmocka_unit_test(test_pipe_layout),
		cmocka_unit_test(test_stalling_pipe),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_header_damage),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_unknown_record),
		cmocka_unit_test(test_auxtrace_is_skipped),
		cmocka_unit_test(test_bad_compression),
		cmocka_unit_test(test_sparse_file),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_stale_ends),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
