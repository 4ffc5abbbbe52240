// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording that ends anywhere: at every byte of its first 64 KiB, and at places beyond, in each
 * layout, ours and perf's. Each time: an error with the file's name and an offset, or the part that
 * is there, and a note unless the cut cannot be seen; never more events than of a longer part,
 * never memory that is not given back, always an end. The recording is read from memory, where it
 * gets shorter from cut to cut, and no byte after the cut can be read; at
 * some of them it is a file, and the whole engine reads it.
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
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sanitizers make a case several times as slow, but see each read after the cut. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
enum { STEP = 7 };
#define FORBID(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define PERMIT(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
enum { STEP = 1 };
#define FORBID(p, n) memset(p, 0xff, n)
#define PERMIT(p, n) ((void)(p), (void)(n))
#endif

enum {
	HEAD = 65536,
	PLACES = 200,
	TAIL = 300,
	ENGINE_STEP = 211,
	ROUNDS = 8,
	WAITS = 16,
	FRAMES = 120,
	MOST_HELD = 4 << 20,
	MOST_RECORDS = 20000,
};

enum { MS = 1000000 };
static const char cut_name[] = "cut.data";

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Chains of random numbers: nothing that could be packed, so packed cases are not dearer. */
static void state_waits(struct synth *s)
{
	uint64_t frames[FRAMES], t = 1000 * MS, seed = 5;

	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < WAITS; i++, t += MS) {
			uint64_t lock = 0xffff888000001000 + i % 5 * 64;
			int tid = 100 + (int)(i % 4);
			for (unsigned f = 0; f < FRAMES; f++)
				frames[f] = random_next(&seed) >> 1;
			synth_begin(s, i % 2, t, 100, tid, lock, LCB_F_WRITE, frames, FRAMES);
			synth_end(s, (i + 1) % 2, t + 100 + i, 100, tid, lock, 0);
		}
		if (r + 1 < ROUNDS)
			synth_round(s, t - MS);
	}
	synth_tick(s, t);
}

static struct recording made(bool by_perf, int flags)
{
	struct recording rec;
	struct rig r;

	rig_init(&r, 2);
	state_waits(r.synth);
	rec = by_perf ? recording_perf(r.synth, flags)
		      : recording_written(synth_source(r.synth), flags);
	rig_deinit(&r);
	return rec;
}

/* A file that gets shorter, and what was found in it when it was longer. */
struct cuts {
	struct recording rec;
	bool is_stream;
	int fd;
	char path[64]; /* of the file */
	size_t len;
	uint64_t samples, events;
	size_t errors, parts, read; /* cases */
	uint8_t *ends;		    /* of a stream: does a record end at this offset? */
};

static void mark_ends(struct cuts *c)
{
	size_t at = PERFDATA_PIPE_HEADER;

	c->ends = mem_calloc(1, c->rec.len + 1);
	assert_non_null(c->ends);
	while (c->is_stream && at <= c->rec.len) {
		struct perf_event_header h;
		uint32_t behind = 0;
		c->ends[at] = 1;
		if (c->rec.len - at < sizeof(h))
			break;
		memcpy(&h, c->rec.data + at, sizeof(h));
		if (h.type == PERFDATA_TYPE_TRACING_DATA)
			memcpy(&behind, c->rec.data + at + sizeof(h), sizeof(behind));
		at += h.size + behind;
	}
}

static uint64_t count_samples(const struct record *rec)
{
	const uint8_t *p = rec->data, *end = p + rec->len;
	struct perf_event_header h;
	uint64_t n = 0;

	for (; rec->kind == RECORD_PERF && p < end; p += h.size) {
		memcpy(&h, p, sizeof(h));
		assert_true(h.size >= sizeof(h) && h.size <= end - p);
		n += h.type == PERF_RECORD_SAMPLE;
	}
	return n;
}

struct seen {
	int answer;
	uint64_t samples, notes;
};

static struct seen drain(struct source *s, struct error *err)
{
	struct seen seen = {0};
	struct reader_stat st;
	struct record rec;
	unsigned n = 0;

	while ((seen.answer = source_next(s, 0, &rec, err)) == 0) {
		seen.samples += count_samples(&rec);
		seen.notes += rec.kind == RECORD_NOTE;
		source_release(s, &rec);
		assert_true(n++ < MOST_RECORDS);
	}
	reader_stat(s, &st);
	assert_true(st.held_bytes < MOST_HELD);
	return seen;
}

static void check_error(const struct cuts *c, const char *path, const struct error *err)
{
	const char *file = strstr(err->text, path);

	if (c->len && (!file || !strpbrk(file + strlen(path), "0123456789")))
		fail_msg("cut at %zu: \"%s\" does not say where", c->len, err->text);
}

static void check_reader(struct cuts *c)
{
	struct reader_options o = {
		.path = cut_name, .bytes = c->rec.data, .n_bytes = c->len, .no_symbols = true};
	struct seen seen = {0};
	struct error err = {0};
	struct source *s;
	long live = mem_live();

	seen.answer = reader_new(&s, &o, &err);
	if (!seen.answer) {
		seen = drain(s, &err);
		source_free(s);
	}
	assert_int_equal(mem_live(), live);
	/* Records before an error are not shown to the user. */
	if (seen.answer < 0)
		seen.samples = 0;
	assert_true(seen.samples <= c->samples);
	c->samples = seen.samples;
	c->errors += seen.answer < 0;
	c->parts += seen.answer >= 0;
	if (seen.answer < 0)
		check_error(c, cut_name, &err);
	else if (!seen.notes && !c->ends[c->len])
		fail_msg("cut at %zu: there is no note", c->len);
}

static void check_engine(struct cuts *c)
{
	struct recording_result res;

	assert_int_equal(ftruncate(c->fd, (off_t)c->len), 0);
	recording_read(&res, c->path, UINT64_MAX / 4);
	if (res.events > c->events)
		fail_msg("cut at %zu: %d events more", c->len, (int)(res.events - c->events));
	c->events = res.events;
	c->read++;
	if (res.answer)
		check_error(c, c->path, &res.err);
	recording_result_free(&res);
}

static void cut(struct cuts *c, size_t len)
{
	FORBID(c->rec.data + len, c->len - len);
	c->len = len;
	check_reader(c);
	if (len % ENGINE_STEP == 0)
		check_engine(c);
}

static void begin(struct cuts *c, bool by_perf, int flags)
{
	*c = (struct cuts){.is_stream = flags & RECORDING_PIPE, .samples = UINT64_MAX};
	c->rec = made(by_perf, flags);
	c->len = c->rec.len;
	c->events = (uint64_t)2 * ROUNDS * WAITS;
	assert_true(c->rec.len > HEAD + 4096);
	mark_ends(c);
	c->fd = memfd_create("cut", MFD_CLOEXEC);
	assert_int_equal(write(c->fd, c->rec.data, c->rec.len), c->rec.len);
	snprintf(c->path, sizeof(c->path), "/proc/self/fd/%d", c->fd);
}

static void check_cuts(bool by_perf, int flags)
{
	struct cuts c;
	size_t beyond;

	begin(&c, by_perf, flags);
	check_engine(&c);
	assert_int_equal(c.events, 2 * ROUNDS * WAITS);
	for (size_t len = c.rec.len - 1; len > c.rec.len - TAIL; len--)
		cut(&c, len);
	beyond = c.len - HEAD;
	for (size_t k = PLACES; k-- > 0;)
		cut(&c, HEAD + beyond * k / PLACES);
	for (size_t len = HEAD; len-- > 0;)
		if (len % STEP == 0)
			cut(&c, len);
	assert_int_equal(c.samples, 0);
	assert_true(c.read > HEAD / STEP / ENGINE_STEP);
	print_message("%zu bytes: %zu errors, %zu parts\n", c.rec.len, c.errors, c.parts);
	/* Recordings of perf without an end have no formats; all others are readable. */
	assert_true(by_perf && !c.is_stream ? c.errors > c.parts : c.parts > c.errors);
	PERMIT(c.rec.data, c.rec.len);
	close(c.fd);
	mem_free(c.ends);
	recording_free(&c.rec);
}

static void test_our_file(void **state)
{
	(void)state;
	check_cuts(false, 0);
}

static void test_our_stream(void **state)
{
	(void)state;
	check_cuts(false, RECORDING_PIPE);
}

static void test_our_packed_file(void **state)
{
	(void)state;
	check_cuts(false, RECORDING_ZSTD);
}

static void test_file_of_perf(void **state)
{
	(void)state;
	check_cuts(true, 0);
}

static void test_stream_of_perf(void **state)
{
	(void)state;
	check_cuts(true, RECORDING_PIPE);
}

static void test_packed_stream_of_perf(void **state)
{
	(void)state;
	check_cuts(true, RECORDING_ZSTD | RECORDING_PIPE);
}

/* test-truncate ours|perf: two programs' worth of work, for two processors. */
int main(int argc, char **argv)
{
	static const struct CMUnitTest ours[] = {
		cmocka_unit_test(test_our_file),
		cmocka_unit_test(test_our_stream),
		cmocka_unit_test(test_our_packed_file),
	};
	static const struct CMUnitTest perfs[] = {
		cmocka_unit_test(test_file_of_perf),
		cmocka_unit_test(test_stream_of_perf),
		cmocka_unit_test(test_packed_stream_of_perf),
	};

	if (argc == 2 && !strcmp(argv[1], "ours"))
		return cmocka_run_group_tests(ours, NULL, NULL);
	return cmocka_run_group_tests(perfs, NULL, NULL);
}
