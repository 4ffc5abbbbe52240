// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovering: the rest of a recording of any length becomes a complete file with the content that
 * the reader found in the damaged one; damage that leaves nothing is an error; wrong bytes do no
 * other harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/recover.h"
#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 4, WAITS = 8 };

static struct recording made(int flags)
{
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, ROUNDS, WAITS);
	struct recording rec = recording_written(synth_source(r.synth), flags);
	rig_deinit(&r);
	return rec;
}

static struct recording made_by_perf(int flags)
{
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, ROUNDS, WAITS);
	struct recording rec = recording_perf(r.synth, flags);
	rig_deinit(&r);
	return rec;
}

/* Recovers @len bytes at @data; the new file's bytes in *ret. */
static int recover(const void *data, size_t len, struct recording *ret, struct recover_stat *st,
		   struct error *err)
{
	int in = memfd_create("damaged", MFD_CLOEXEC), out = memfd_create("new", MFD_CLOEXEC);
	char path[64];
	struct recover_options o = {.path = path, .fd = out, .name = "new"};

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(write(in, data, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	int e = recover_file(&o, st, err);
	*ret = (struct recording){0};
	off_t size = lseek(out, 0, SEEK_END);
	if (!e) {
		ret->len = (size_t)size;
		ret->data = malloc(ret->len + 1);
		assert_non_null(ret->data);
		assert_int_equal(pread(out, ret->data, ret->len, 0), ret->len);
	}
	close(in);
	close(out);
	return e;
}

static void free_new(struct recording *r)
{
	free(r->data);
	*r = (struct recording){0};
}

/* The new file is whole, and both say the same. */
static void check_new(const struct recording *new, const void *data, size_t len)
{
	struct recording_result before, after;
	struct recording again;
	struct recover_stat st;
	struct error err = {0};

	assert_int_equal(recover(new->data, new->len, &again, &st, &err), RECOVER_WHOLE);
	recording_read_bytes(&before, data, len);
	recording_read_bytes(&after, new->data, new->len);
	assert_int_equal(before.answer, 0);
	assert_int_equal(after.answer, 0);
	assert_int_equal(after.notes, 0);
	assert_int_equal(after.events, before.events);
	assert_string_equal(after.dump, before.dump);
	recording_result_free(&before);
	recording_result_free(&after);
}

/* Cut at any length: an error, or a new file; it keeps the more the longer it was. */
static void check_cut(struct recording rec)
{
	uint64_t before = 0;
	size_t n = 0;

	for (size_t len = 0; len <= rec.len; len += len < 1000 || len > rec.len - 300 ? 1 : 13) {
		struct recover_stat st;
		struct error err = {0};
		struct recording new;
		int e = recover(rec.data, len, &new, &st, &err);
		if (e) {
			assert_int_equal(e, -ENODATA);
			assert_int_equal(n, 0);
			assert_true(strlen(err.text) > 30);
			continue;
		}
		n++;
		assert_true(st.kept <= len && st.size == len);
		assert_true(st.records >= before);
		before = st.records;
		if (n % 16 == 0 || len == rec.len)
			check_new(&new, rec.data, len);
		free_new(&new);
	}
	assert_true(n > 100);
	recording_free(&rec);
}

static void test_cut_stream(void **state)
{
	(void)state;
	check_cut(made(RECORDING_PIPE));
}

static void test_cut_compressed(void **state)
{
	(void)state;
	check_cut(made(RECORDING_PIPE | RECORDING_ZSTD));
}

static void test_cut_stream_of_perf(void **state)
{
	(void)state;
	check_cut(made_by_perf(RECORDING_PIPE));
}

/* Of a finished file of ours everything in front of the cut is kept, though its events are lost. */
static void test_torn_file(void **state)
{
	struct recording rec = made(0), new;
	struct recover_stat st, last = {0};
	struct error err = {0};
	struct perfdata_header h;

	(void)state;
	memcpy(&h, rec.data, sizeof(h));
	assert_int_equal(recover(rec.data, rec.len, &new, &st, &err), RECOVER_WHOLE);
	for (size_t len = rec.len - 1; len > h.data.offset + h.data.size / 2; len -= 9) {
		err = (struct error){0};
		assert_int_equal(recover(rec.data, len, &new, &st, &err), 0);
		struct recording_result res;
		recording_read_bytes(&res, new.data, new.len);
		assert_int_equal(res.answer, 0);
		assert_int_equal(res.notes, 0);
		if (len >= h.data.offset + h.data.size)
			assert_int_equal(res.events, 2 * ROUNDS * WAITS);
		assert_true(!last.size || st.records <= last.records);
		last = st;
		recording_result_free(&res);
		free_new(&new);
	}
	recording_free(&rec);
}

/* As perf leaves a file when it is killed: a header without size and features. */
static void test_unfinished_file_of_perf(void **state)
{
	struct recording rec = made_by_perf(0), new;
	struct recover_stat st;
	struct error err = {0};
	struct perfdata_header h;

	(void)state;
	memcpy(&h, rec.data, sizeof(h));
	/* In our own form of it the events come after the data, where they are lost. */
	bool in_front = h.attrs.offset < h.data.offset;
	size_t len = h.data.offset + h.data.size;
	h.data.size = 0;
	memset(h.features, 0, sizeof(h.features));
	memcpy(rec.data, &h, sizeof(h));
	int e = recover(rec.data, len, &new, &st, &err);
	assert_int_equal(e, in_front ? 0 : -ENODATA);
	if (!e)
		assert_int_equal(st.kept, len);
	free_new(&new);
	recording_free(&rec);
}

static void test_no_recording(void **state)
{
	static const char *const texts[] = {"", "x", "PERFILE2",
					    "a text that is longer than a header",
					    "2ELIFREP................"};
	struct recording new;
	struct recover_stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct error err = {0};
		int e = recover(texts[i], strlen(texts[i]), &new, &st, &err);
		assert_true(e == -ENODATA || e == -ENOTSUP);
		assert_true(strlen(err.text) > 30);
	}
}

/* Any byte may be wrong. */
static void check_flipped(struct recording rec)
{
	for (size_t at = 0; at < rec.len; at += at < 4096 ? 1 : 5) {
		struct recording new;
		struct recover_stat st;
		struct error err = {0};
		uint8_t was = rec.data[at];
		rec.data[at] = (uint8_t)(at % 3 ? ~was : 0x80 ^ was);
		int e = recover(rec.data, rec.len, &new, &st, &err);
		assert_true(e == 0 || e == RECOVER_WHOLE || e == -ENODATA || e == -ENOTSUP ||
			    e == -EBADMSG);
		assert_true(st.kept <= rec.len);
		free_new(&new);
		rec.data[at] = was;
	}
	recording_free(&rec);
}

static void test_flipped(void **state)
{
	(void)state;
	check_flipped(made(RECORDING_PIPE));
	check_flipped(made(0));
	check_flipped(made_by_perf(0));
}

static void test_no_memory(void **state)
{
	struct recording rec = made(RECORDING_PIPE), new;
	struct recover_stat st;
	int e = -ENOMEM;

	(void)state;
	for (long n = 0; e == -ENOMEM; n++) {
		struct error err = {0};
		long live = mem_live();
		mem_fail_after(n);
		e = recover(rec.data, rec.len - 3, &new, &st, &err);
		mem_fail_after(-1);
		assert_int_equal(mem_live(), live);
		if (e)
			assert_true(err.code && strlen(err.text) > 20);
		/* Memory that is short while reading looks like the end of the file. */
		if (e == -ENODATA)
			e = -ENOMEM;
		free_new(&new);
		assert_true(n < 1000);
	}
	recording_free(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_stream),
		cmocka_unit_test(test_cut_compressed),
		cmocka_unit_test(test_cut_stream_of_perf),
		cmocka_unit_test(test_torn_file),
		cmocka_unit_test(test_unfinished_file_of_perf),
		cmocka_unit_test(test_no_recording),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
