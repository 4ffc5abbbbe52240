// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording reproduces its input: the same records, the same model, whichever the
 * layout; every prefix of an unfinished one is readable; a finished one has the form that perf
 * demands. A disk that is full costs the end, not the beginning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/snapshot.h"
#include "kontend/writer.h"
#include "recording.h"
#include "tee.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const int all_forms[] = {0, RECORDING_PIPE, RECORDING_ZSTD, RECORDING_ZSTD | RECORDING_PIPE};
enum { FORMS = sizeof(all_forms) / sizeof(*all_forms) };

static struct recording canned_recording(int flags)
{
	struct rig r;

	canned_init(&r);
	struct recording rec = recording_written(synth_source(r.synth), flags);
	rig_deinit(&r);
	return rec;
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

static int memory_file(const struct recording *rec, char path[64])
{
	int fd = memfd_create("recording", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, rec->data, rec->len), rec->len);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Live tee and replay: the same model, its waits in flight and its damage included. */
static void test_replay_is_live(void **state)
{
	char *direct = canned_dump(), path[64];

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		struct recording rec = canned_recording(all_forms[i]);
		struct recording_result res;
		int fd = memory_file(&rec, path);
		recording_read(&res, path, 0);
		assert_int_equal(res.answer, 0);
		assert_string_equal(res.dump, direct);
		assert_int_equal(res.notes, 0);
		close(fd);
		recording_result_free(&res);
		recording_free(&rec);
	}
	mem_free(direct);
}

/* The header of the file as read back. */
static bool is_machine(const struct record *r)
{
	struct record_snapshot head;

	return r->kind == RECORD_SNAPSHOT && snapshot_parse(r->data, r->len, &head) &&
	       head.kind == SNAPSHOT_MACHINE;
}

/*
 * Everything of @s but attrs, formats and the machine, in order: runs as their bytes, others with
 * their kind.
 */
static struct recording flatten(struct source *s, uint32_t ring)
{
	struct recording out = {0};
	struct record r;

	while (!source_next(s, 0, &r, NULL)) {
		bool run = r.kind == RECORD_PERF;
		bool ours =
			!run && r.kind != RECORD_ATTR && r.kind != RECORD_FORMAT && !is_machine(&r);
		if ((run && r.ring == ring) || ours) {
			out.data = realloc(out.data, out.len + r.len + 8);
			assert_non_null(out.data);
			if (ours) {
				memcpy(out.data + out.len, &r.kind, 4);
				memcpy(out.data + out.len + 4, &r.ring, 4);
				out.len += 8;
			}
			memcpy(out.data + out.len, r.data, r.len);
			out.len += r.len;
		}
		source_release(s, &r);
	}
	source_free(s);
	return out;
}

/* Record by record: every kind with its ring, each between the same events of each ring. */
static void test_records_come_back(void **state)
{
	struct record_drop drop = {3, 333};
	struct record_fill fill = {77, 4096};
	struct record_cpu gone = {1, 0};

	(void)state;
	for (uint32_t ring = 0; ring < 2; ring++) {
		for (size_t i = 0; i < FORMS; i++) {
			struct rig r;
			char path[64];
			canned_init(&r);
			synth_record(r.synth, RECORD_DROP, 0, &drop, sizeof(drop));
			synth_record(r.synth, RECORD_FILL, 5, &fill, sizeof(fill));
			synth_record(r.synth, RECORD_CPU, 0, &gone, sizeof(gone));
			synth_record(r.synth, RECORD_NOTE, 0, "a note", 6);
			struct recording direct = flatten(synth_source(r.synth), ring);
			struct recording rec =
				recording_written(synth_source(r.synth), all_forms[i]);
			struct reader_options o = {.path = path};
			struct source *s;
			int fd = memory_file(&rec, path);
			assert_int_equal(reader_new(&s, &o, NULL), 0);
			struct recording back = flatten(s, ring);
			assert_int_equal(back.len, direct.len);
			assert_memory_equal(back.data, direct.data, direct.len);
			close(fd);
			recording_free(&back);
			recording_free(&rec);
			recording_free(&direct);
			rig_deinit(&r);
		}
	}
}

static void section_inside(const struct recording *r, struct perfdata_section s)
{
	assert_true(s.offset <= r->len && s.size <= r->len - s.offset);
	assert_int_equal(s.offset % 8, 0);
}

/* Requirements of perf 6.1 to 7.3 for a file: see the rules in kontend-data(5). */
static void test_file_layout_form(void **state)
{
	struct recording rec = canned_recording(0);
	struct perfdata_header h;
	unsigned n = 0;

	(void)state;
	memcpy(&h, rec.data, sizeof(h));
	assert_int_equal(h.magic, PERFDATA_MAGIC);
	assert_int_equal(h.size, 104);
	assert_int_equal(h.attr_size, 128 + 16);
	section_inside(&rec, h.attrs);
	section_inside(&rec, h.data);
	assert_true(h.attrs.offset >= h.data.offset + h.data.size);
	assert_int_equal(h.attrs.size, 4 * h.attr_size);
	for (uint64_t at = h.data.offset; at < h.data.offset + h.data.size;) {
		struct perf_event_header e;
		memcpy(&e, rec.data + at, sizeof(e));
		assert_true(e.size >= 8 && e.size % 8 == 0);
		assert_true(e.type < 24 || e.type == PERFDATA_TYPE_FINISHED_ROUND);
		at += e.size;
	}
	for (unsigned bit = 0; bit < 256; bit++) {
		struct perfdata_section s;
		if (!(h.features[bit / 64] >> bit % 64 & 1))
			continue;
		assert_true(bit < 32);
		memcpy(&s, rec.data + h.data.offset + h.data.size + n++ * sizeof(s), sizeof(s));
		section_inside(&rec, s);
		assert_true(s.size > 0);
	}
	assert_true(h.features[0] >> PERFDATA_TRACING_DATA & 1);
	assert_true(h.features[0] >> PERFDATA_NRCPUS & 1);
	recording_free(&rec);
}

/* Killed at any byte: what is whole is read, never less than of a shorter file. */
static void check_prefixes(int flags)
{
	struct recording rec = canned_recording(flags);
	uint64_t before = 0;

	for (size_t len = 0; len < rec.len; len += len < 2048 || len > rec.len - 200 ? 1 : 29) {
		struct recording_result res;
		recording_read_bytes(&res, rec.data, len);
		if (res.answer) {
			assert_true(strlen(res.err.text) > 20);
			assert_int_equal(before, 0);
		} else {
			assert_true(res.events >= before);
			before = res.events;
		}
		recording_result_free(&res);
	}
	assert_true(before > 50);
	recording_free(&rec);
}

static void test_prefixes(void **state)
{
	(void)state;
	check_prefixes(RECORDING_PIPE);
	check_prefixes(RECORDING_PIPE | RECORDING_ZSTD);
}

/* Bytes of ours that lie about themselves: counted, or nothing; never more than is there. */
static void test_flipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		struct recording rec = canned_recording(all_forms[i]);
		for (size_t at = 0; at < rec.len; at += at < 1024 ? 3 : 31) {
			struct recording_result res;
			uint8_t old = rec.data[at];
			rec.data[at] = (uint8_t)(at % 2 ? 0xff : old + 1);
			recording_read_bytes(&res, rec.data, rec.len);
			assert_true(res.answer != -ENOMEM);
			rec.data[at] = old;
			recording_result_free(&res);
		}
		recording_free(&rec);
	}
}

/* Puts canned records until one fails; the error, and the file as it is then at @fd. */
static int write_until_full(int fd, struct error *err)
{
	struct writer_options o = {.fd = fd};
	struct writer *w;
	struct rig r;
	int e = 0;

	canned_init(&r);
	assert_int_equal(writer_new(&w, &o, NULL), 0);
	for (size_t k = 0; k < 2000 && !e; k++)
		for (size_t i = 0; i < synth_count(r.synth) && !e; i++)
			if (!k || synth_at(r.synth, i)->kind == RECORD_PERF)
				e = writer_put(w, synth_at(r.synth, i), err);
	if (!e)
		e = writer_finish(w, err);
	writer_free(w);
	rig_deinit(&r);
	return e;
}

static void test_full_disk(void **state)
{
	struct rlimit old, limit = {.rlim_cur = 300000};
	char path[] = "/tmp/kontend-full-XXXXXX";
	struct recording_result res;
	struct error err = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	int e = write_until_full(fd, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(e, -EFBIG);
	assert_non_null(strstr(err.text, "readable"));
	recording_read(&res, path, 0);
	assert_int_equal(res.answer, 0);
	assert_true(res.events > 0);
	assert_int_equal(res.notes, 0); /* no record is cut */
	recording_result_free(&res);
	close(fd);
	unlink(path);
}

static void test_device_full(void **state)
{
	struct error err = {0};
	int fd = open("/dev/full", O_RDWR);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write_until_full(fd, &err), -ENOSPC);
	close(fd);
}

static void test_nothing_recorded(void **state)
{
	struct synth *s = synth_new(1);
	struct recording_result res;

	(void)state;
	synth_prologue(s, NULL);
	for (int flags = 0; flags < 2; flags++) {
		struct recording rec = recording_written(synth_source(s), 0);
		recording_read_bytes(&res, rec.data, rec.len);
		assert_int_equal(res.answer, 0);
		assert_int_equal(res.events, 0);
		recording_result_free(&res);
		recording_free(&rec);
	}
	synth_free(s);
}

/* The tee hands everything through and writes it. */
static void test_tee(void **state)
{
	char *direct = canned_dump(), path[64];
	int fd = memfd_create("tee", 0);
	struct writer_options o = {.fd = fd};
	struct recording_result res;
	struct source *s;
	struct writer *w;
	struct engine e;
	struct rig r;

	(void)state;
	canned_init(&r);
	assert_int_equal(writer_new(&w, &o, NULL), 0);
	assert_int_equal(tee_new(&s, synth_source(r.synth), w, NULL), 0);
	assert_int_equal(engine_init(&e, s, NULL, NULL), 0);
	while (engine_pump(&e, 0, NULL) != ENGINE_END)
		;
	char *teed = rig_dump(e.model);
	assert_string_equal(teed, direct);
	engine_deinit(&e);
	assert_int_equal(writer_finish(w, NULL), 0);
	writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording_read(&res, path, 0);
	assert_string_equal(res.dump, direct);
	recording_result_free(&res);
	close(fd);
	mem_free(teed);
	mem_free(direct);
	rig_deinit(&r);
}

static int write_canned(struct synth *synth)
{
	int fd = memfd_create("memory", 0), e;
	struct writer_options o = {.fd = fd};
	struct writer *w = NULL;

	e = writer_new(&w, &o, NULL);
	for (size_t i = 0; !e && i < synth_count(synth); i++)
		e = writer_put(w, synth_at(synth, i), NULL);
	if (!e)
		e = writer_finish(w, NULL);
	writer_free(w);
	close(fd);
	return e;
}

static void test_no_memory(void **state)
{
	struct rig r;
	int e = -ENOMEM;

	(void)state;
	canned_init(&r);
	source_free(synth_source(r.synth));
	long live = mem_live();
	for (long n = 0; e; n++) {
		mem_fail_after(n);
		e = write_canned(r.synth);
		mem_fail_after(-1);
		assert_true(!e || e == -ENOMEM);
		assert_int_equal(mem_live(), live);
		assert_true(n < 10000);
	}
	rig_deinit(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_is_live),
		cmocka_unit_test(test_records_come_back),
		cmocka_unit_test(test_file_layout_form),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_device_full),
		cmocka_unit_test(test_nothing_recorded),
		cmocka_unit_test(test_tee),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
