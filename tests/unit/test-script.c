// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as lines: goldens of a small stream that has each kind of line, every line of JSON read
 * back, and the lines of the long stream counted and added up against the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "golden.h"
#include "json.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/script.h"
#include "synth-mm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAP 0xffff888000001000ull

/* Plays what was stated in @r with a script on it; the text, which the caller frees. */
static char *play(struct rig *r, bool json)
{
	struct script *s;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	rig_play_ticks(r, NULL, 0);
	assert_int_equal(script_new(&s, &r->engine, f, json), 0);
	r->engine.watch = script_watch(s);
	rig_play(r, NULL);
	script_free(s);
	fclose(f);
	return text;
}

/* Each kind of line once; names that want to be more than names. */
static void small_stream(struct rig *r)
{
	struct synth *s;
	uint64_t t = CANNED_START,
		 frames[] = {synth_addr(SYNTH_MUTEX_LOCK), synth_addr(SYNTH_PIPE_READ),
			     synth_addr(SYNTH_VFS_READ)};

	rig_init(r, 1);
	s = r->synth;
	synth_comm(s, 0, 0, 7, 7, "\x1b[31mred\n\"x\"");
	synth_begin(s, 0, t, 7, 7, HEAP, LCB_F_MUTEX | LCB_F_SPIN, frames, 3);
	synth_begin(s, 0, t + 1000, 7, 7, HEAP, LCB_F_MUTEX, frames, 3);
	synth_end(s, 0, t + 5000, 7, 7, HEAP, 0);
	synth_begin(s, 0, t + 6000, 0, 0, CANNED_TASKLIST_LOCK + 8, LCB_F_SPIN, NULL, 0);
	synth_end(s, 0, t + 7000, 0, 0, CANNED_TASKLIST_LOCK + 8, 0);
	synth_begin(s, 0, t + 8000, 8, 9, HEAP, LCB_F_READ, frames, 3);
	synth_end(s, 0, t + 9000, 8, 9, HEAP, -4);
	synth_end(s, 0, t + 10000, 8, 9, HEAP, 0);
	synth_begin(s, 0, t + 11000, 8, 9, HEAP, LCB_F_WRITE, frames, 3);
	synth_lost(s, 0, t + 12000, 3);
	synth_throttle(s, 0, t + 13000);
	synth_end(s, 0, t + 14000, 8, 9, HEAP, 0);
	synth_round(s, t + 20000);
}

static void text_has_a_line_an_event(void **state)
{
	struct rig r;
	char *text;

	(void)state;
	small_stream(&r);
	text = play(&r, false);
	golden_check(text, "script-text");
	for (const char *s = text; *s; s++)
		assert_true((unsigned char)*s >= 0x20 || *s == '\n');
	free(text);
	rig_deinit(&r);
}

/* The next line of JSON; false at the end. */
static bool next_line(char **pos, struct json_doc *d)
{
	char *line = *pos, *end = strchr(line, '\n');
	size_t at = 0;

	if (!*line)
		return false;
	assert_non_null(end);
	*pos = end + 1;
	if (json_parse(d, line, (size_t)(end - line), &at) < 0)
		fail_msg("no JSON from byte %zu: %.*s", at, (int)(end - line), line);
	return true;
}

static void releases(struct rig *r)
{
	const uint64_t frames[] = {synth_addr(SYNTH_DOWN_READ), synth_addr(SYNTH_VFS_READ)};

	rig_init(r, 1);
	synth_releases(r->synth);
	synth_begin(r->synth, 0, CANNED_START, 8, 9, HEAP, LCB_F_READ, frames, 2);
	synth_release(r->synth, 0, CANNED_START + 4000, 7, 7, HEAP);
	synth_end(r->synth, 0, CANNED_START + 5000, 8, 9, HEAP, 0);
	synth_release(r->synth, 0, CANNED_START + 6000, 7, 7, HEAP);
	synth_round(r->synth, CANNED_START + 20000);
}

/* The kind of a lock with waiters is known, of another one not; neither has a mode. */
static void a_release_is_a_line(void **state)
{
	struct json_doc d;
	struct rig r;
	char *text, *pos;

	(void)state;
	releases(&r);
	text = play(&r, false);
	golden_check(text, "script-release");
	free(text);
	rig_deinit(&r);
	releases(&r);
	text = pos = play(&r, true);
	for (int line = 0; line < 3; line++) {
		assert_true(next_line(&pos, &d));
		if (line == 2) {
			assert_string_equal(json_text(json_get(json_root(&d), "event")), "release");
			assert_string_equal(json_text(json_get(json_root(&d), "type")), "rwsem");
			assert_true(json_is(json_get(json_root(&d), "mode"), JSON_NULL));
			assert_int_equal(json_u64(json_get(json_root(&d), "tid")), 7);
		}
		json_deinit(&d);
	}
	free(text);
	rig_deinit(&r);
}

static void json_has_an_object_an_event(void **state)
{
	struct json_doc d;
	struct rig r;
	char *text, *pos;
	unsigned n = 0;

	(void)state;
	small_stream(&r);
	text = pos = play(&r, true);
	golden_check(text, "script-json");
	assert_true(next_line(&pos, &d));
	assert_string_equal(json_text(json_get(json_root(&d), "schema")), "kontend.script/1");
	for (json_deinit(&d); next_line(&pos, &d); json_deinit(&d), n++) {
		const struct json *o = json_root(&d);

		if (n == 1)
			assert_true(json_get(o, "continues")->truth);
		if (n == 2)
			assert_int_equal(json_u64(json_get(o, "wait_ns")), 5000);
		if (n == 7)
			assert_true(json_is(json_get(o, "wait_ns"), JSON_NULL));
		if (n == 11)
			assert_true(json_get(o, "doubtful")->truth);
	}
	assert_int_equal(n, 12);
	free(text);
	rig_deinit(&r);
}

static void mm_event(struct rig *r, enum synth_mm what, uint64_t at, int tid, bool write)
{
	const struct synth_mm_event e = {.what = what,
					 .t = CANNED_START + at,
					 .pid = 7,
					 .tid = tid,
					 .mm = HEAP,
					 .memcg = "/app",
					 .write = write,
					 .success = at != 9000};

	synth_mm(r->synth, &e);
}

/* Got after a wait, made one for reading, given back; a trylock, and one that failed. */
static void mm_stream(struct rig *r)
{
	rig_init(r, 1);
	synth_mm_prologue(r->synth, true);
	synth_comm(r->synth, 0, 0, 7, 7, "app");
	mm_event(r, SYNTH_MM_START, 1000, 7, true);
	mm_event(r, SYNTH_MM_ACQUIRED, 3000, 7, true);
	mm_event(r, SYNTH_MM_ACQUIRED, 7000, 7, false);
	mm_event(r, SYNTH_MM_RELEASED, 8000, 7, false);
	mm_event(r, SYNTH_MM_ACQUIRED, 9000, 8, false);
	mm_event(r, SYNTH_MM_ACQUIRED, 10000, 8, false);
	mm_event(r, SYNTH_MM_RELEASED, 15000, 8, false);
	mm_event(r, SYNTH_MM_RELEASED, 16000, 8, false);
	synth_round(r->synth, CANNED_START + 20000);
}

static void acquisitions_are_lines(void **state)
{
	static const char *const events[] = {"start",  "acquired", "downgrade", "released",
					     "failed", "acquired", "released",	"released"};
	static const uint64_t waits[8] = {0, 2000}, holds[8] = {0, 0, 4000, 1000, 0, 0, 5000};
	struct json_doc d;
	struct rig r;
	char *text, *pos;
	unsigned n = 0;

	(void)state;
	mm_stream(&r);
	text = play(&r, false);
	golden_check(text, "script-mm-text");
	free(text);
	rig_deinit(&r);
	mm_stream(&r);
	text = pos = play(&r, true);
	assert_true(next_line(&pos, &d));
	for (json_deinit(&d); next_line(&pos, &d); json_deinit(&d), n++) {
		const struct json *o = json_root(&d);

		assert_true(n < 8);
		assert_string_equal(json_text(json_get(o, "event")), events[n]);
		assert_string_equal(json_text(json_get(o, "type")), "mmap_lock");
		assert_string_equal(json_text(json_get(o, "mm_comm")), "app");
		assert_string_equal(json_text(json_get(o, "memcg")), "/app");
		assert_int_equal(json_is(json_get(o, "wait_ns"), JSON_NULL), !waits[n]);
		assert_int_equal(json_is(json_get(o, "hold_ns"), JSON_NULL), !holds[n]);
		if (waits[n])
			assert_int_equal(json_u64(json_get(o, "wait_ns")), waits[n]);
		if (holds[n])
			assert_int_equal(json_u64(json_get(o, "hold_ns")), holds[n]);
	}
	assert_int_equal(n, 8);
	free(text);
	rig_deinit(&r);
}

static void lines_add_up_to_the_tables(void **state)
{
	uint64_t n = 0, ended = 0, wait_ns = 0, total_ns = 0;
	struct json_doc d;
	struct rig r;
	char *text, *pos;

	(void)state;
	canned_init(&r);
	text = pos = play(&r, true);
	assert_true(next_line(&pos, &d));
	for (json_deinit(&d); next_line(&pos, &d); json_deinit(&d)) {
		const struct json *o = json_root(&d);
		const char *event = json_text(json_get(o, "event"));

		n += strcmp(event, "lost") != 0;
		if (strcmp(event, "end") != 0 || json_get(o, "doubtful")->truth)
			continue;
		ended += json_is(json_get(o, "wait_ns"), JSON_NUMBER);
		wait_ns += json_u64(json_get(o, "wait_ns"));
	}
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		total_ns += r.engine.model->types[i].total_ns;
		ended -= r.engine.model->types[i].contended;
	}
	assert_int_equal(n, r.engine.model->n_events);
	assert_true(n > 100);
	assert_int_equal(ended, 0);
	assert_int_equal(wait_ns, total_ns);
	free(text);
	rig_deinit(&r);
}

static void a_failed_write_ends_it(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct error err = {0};
	struct script *s;
	struct rig r;
	int e = 0;

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	canned_init(&r);
	rig_play_ticks(&r, NULL, 0);
	assert_int_equal(script_new(&s, &r.engine, full, false), 0);
	r.engine.watch = script_watch(s);
	while (e >= 0 && e != ENGINE_END)
		e = engine_pump(&r.engine, 0, &err);
	assert_int_equal(e, -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	script_free(s);
	fclose(full);
	mem_fail_after(0);
	assert_int_equal(script_new(&s, &r.engine, stdout, false), -ENOMEM);
	mem_fail_after(-1);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_a_line_an_event),
		cmocka_unit_test(json_has_an_object_an_event),
		cmocka_unit_test(a_release_is_a_line),
		cmocka_unit_test(acquisitions_are_lines),
		cmocka_unit_test(lines_add_up_to_the_tables),
		cmocka_unit_test(a_failed_write_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
