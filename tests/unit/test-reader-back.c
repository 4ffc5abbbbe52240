// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going back in a recording: from a mark on comes again what came then, in every layout. Windows
 * are of one page here, so that there are many places to go back to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MS = 1000000 };

/* The output of a source, rings apart: the bytes of each, and the times of ticks and rounds. */
struct track {
	struct recording tracks[3];
};

static void follow(struct track *t, const struct record *r)
{
	struct recording *to = r->kind == RECORD_PERF ? &t->tracks[r->ring] : &t->tracks[2];

	if (r->kind != RECORD_PERF && r->kind != RECORD_TICK && r->kind != RECORD_ROUND)
		return;
	assert_true(r->kind != RECORD_PERF || r->ring < 2);
	to->data = realloc(to->data, to->len + r->len);
	assert_non_null(to->data);
	memcpy(to->data + to->len, r->data, r->len);
	to->len += r->len;
}

static void track_free(struct track *t)
{
	for (size_t i = 0; i < 3; i++)
		recording_free(&t->tracks[i]);
}

enum { HELD = 6, MARKS = 64 };

/* A source that is read with some records held back, as the merge does, and marked at its ticks. */
struct marked {
	struct record held[HELD];
	size_t lens[HELD][3]; /* of the tracks before each of them */
	size_t n_held;
	uint64_t marks[MARKS];
	size_t at[MARKS][3];
	size_t n;
};

static void mark_tick(struct marked *m, struct source *s, const size_t lens[3])
{
	if (m->n == MARKS)
		return;
	memcpy(m->at[m->n], m->n_held ? m->lens[0] : lens, sizeof(m->at[0]));
	m->marks[m->n++] = source_mark(s);
}

static void hold(struct marked *m, struct source *s, struct record *r, const size_t lens[3])
{
	if (m->n_held == HELD) {
		source_release(s, &m->held[0]);
		m->n_held--;
		memmove(m->held, m->held + 1, sizeof(m->held) - sizeof(m->held[0]));
		memmove(m->lens, m->lens + 1, sizeof(m->lens) - sizeof(m->lens[0]));
	}
	memcpy(m->lens[m->n_held], lens, sizeof(m->lens[0]));
	m->held[m->n_held++] = *r;
}

static void read_and_mark(struct marked *m, struct source *s, struct track *t)
{
	struct record r;

	while (!source_next(s, 0, &r, NULL)) {
		size_t lens[3] = {t->tracks[0].len, t->tracks[1].len, t->tracks[2].len};
		follow(t, &r);
		if (r.kind == RECORD_TICK)
			mark_tick(m, s, lens);
		if (r.kind == RECORD_PERF)
			hold(m, s, &r, lens);
		else
			source_release(s, &r);
	}
	while (m->n_held)
		source_release(s, &m->held[--m->n_held]);
}

/* From a mark on comes what followed it, and maybe something before that, but nothing else. */
static void check_mark(struct source *s, const struct track *all, uint64_t mark, const size_t at[3])
{
	struct track t = {0};
	struct record r;

	assert_int_equal(source_seek(s, mark, NULL), 0);
	while (!source_next(s, 0, &r, NULL)) {
		assert_true(r.kind == RECORD_PERF || r.kind == RECORD_TICK ||
			    r.kind == RECORD_ROUND);
		follow(&t, &r);
		source_release(s, &r);
	}
	for (size_t i = 0; i < 3; i++) {
		const struct recording *a = &all->tracks[i], *b = &t.tracks[i];
		assert_true(b->len >= a->len - at[i] && b->len <= a->len);
		if (b->len)
			assert_memory_equal(a->data + a->len - b->len, b->data, b->len);
	}
	track_free(&t);
}

static struct recording long_recording(int form)
{
	struct rig r;
	struct recording rec;

	rig_init(&r, 2);
	recording_waits(r.synth, 40, 20);
	rec = form < 2 ? recording_perf(r.synth, form)
		       : recording_written(synth_source(r.synth), form - 2);
	rig_deinit(&r);
	return rec;
}

static void check_going_back(int form, bool may_be_far)
{
	struct recording rec = long_recording(form);
	struct reader_options o = {.no_symbols = true, .tick_ns = 7 * MS, .window_bytes = 4096};
	struct marked m = {0};
	struct track all = {0};
	struct source *s;
	char path[64];
	int fd = memfd_create("marks", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	assert_int_equal(write(fd, rec.data, rec.len), rec.len);
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	assert_true(source_can_seek(s));
	read_and_mark(&m, s, &all);
	assert_true(m.n > 30);
	assert_true(may_be_far || m.marks[m.n - 1] > m.marks[0]);
	for (size_t i = 0; i < m.n; i++)
		check_mark(s, &all, m.marks[i * 29 % m.n], m.at[i * 29 % m.n]);
	assert_int_equal(source_seek(s, 1 << 20, NULL), -EINVAL);
	source_free(s);
	close(fd);
	track_free(&all);
	recording_free(&rec);
}

static void test_going_back(void **state)
{
	(void)state;
	check_going_back(0, false);
	check_going_back(RECORDING_PIPE, false);
	check_going_back(2, false);
	check_going_back(2 + RECORDING_PIPE, false);
	/* One zstd stream from end to end can only be unpacked from its start. */
	check_going_back(2 + RECORDING_ZSTD, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_going_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
