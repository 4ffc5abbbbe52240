// SPDX-License-Identifier: GPL-2.0-only
/* Owners of a lock while others waited, in traces: read from a profile of the Firefox Profiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "canned.h"
#include "json.h"
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/tracefile.h"
#include "kontend/waitrec.h"
#include "synth-profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000, LOCK_A = 0x1000, LOCK_B = 0x2000 };

struct traced {
	struct rig r;
	char *text;
	struct json_doc doc;
};

static void begins(struct traced *t, uint64_t us, int tid, uint64_t lock)
{
	uint64_t frame = synth_addr(SYNTH_PIPE_READ);

	synth_begin(t->r.synth, 0, CANNED_START + us * US, tid, tid, lock, LCB_F_MUTEX, &frame, 1);
}

static void ends(struct traced *t, uint64_t us, int tid, uint64_t lock)
{
	synth_end(t->r.synth, 0, CANNED_START + us * US, tid, tid, lock, 0);
}

/* Plays what was stated. 0, or what writing failed with. */
static int play(struct traced *t, enum tracefile_format format, bool fail)
{
	const struct tracefile_spec spec = {.format = format, .version = "1"};
	struct model_limits limits = model_limits_of(0);
	struct tracefile *file;
	struct error err = {0};
	size_t size = 0;
	int ret;

	limits.held = model_limits_held(0);
	rig_play_ticks(&t->r, &limits, 0);
	FILE *f = open_memstream(&t->text, &size);
	assert_non_null(f);
	assert_int_equal(tracefile_new(&file, &spec, &t->r.engine, f, &err), 0);
	t->r.engine.watch = tracefile_watch(file);
	rig_play(&t->r, &limits);
	if (fail)
		mem_fail_after(0);
	ret = tracefile_finish(file, &err);
	mem_fail_after(-1);
	if (ret < 0)
		assert_true(*err.text);
	assert_int_equal(tracefile_left_out(file), 0);
	tracefile_free(file);
	assert_null(t->r.engine.model->holds->watch);
	fclose(f);
	return ret;
}

static void read_profile(struct traced *t)
{
	size_t at = 0;

	assert_int_equal(play(t, TRACEFILE_FIREFOX, false), 0);
	if (json_parse(&t->doc, t->text, strlen(t->text), &at) < 0)
		fail_msg("no JSON from byte %zu: %.60s", at, t->text + at);
}

static void done(struct traced *t)
{
	json_deinit(&t->doc);
	free(t->text);
	rig_deinit(&t->r);
}

/* The text to which a member of a marker refers; NULL: it is not there. */
static const char *text_of(const struct traced *t, const struct json *data, const char *key)
{
	const struct json *index = json_get(data, key);

	return index ? json_text(json_at(json_path(json_root(&t->doc), "shared.stringArray"),
					 (size_t)json_u64(index)))
		     : NULL;
}

/* The marker of @type that begins at @us. */
static const struct json *marker(const struct traced *t, const char *type, uint64_t us)
{
	const struct json *threads = json_path(json_root(&t->doc), "threads");

	for (size_t i = 0; i < json_len(threads); i++) {
		const struct json *m = json_get(json_at(threads, i), "markers");
		const struct json *all = json_get(m, "data");
		for (size_t k = 0; k < json_len(all); k++) {
			double ms = json_number(json_at(json_get(m, "startTime"), k));
			if (strcmp(json_text(json_get(json_at(all, k), "type")), type) == 0 &&
			    (uint64_t)(ms * 1000 + 0.5) == us)
				return json_at(all, k);
		}
	}
	fail_msg("no %s at %" PRIu64 " us in %s", type, us, t->text);
	return NULL;
}

/* 10 waits for 20, which has A and waits for 30, which has B. */
static void a_chain_is_joined_by_flows(void **state)
{
	struct traced t = {0};

	(void)state;
	rig_init(&t.r, 1);
	synth_comm(t.r.synth, 0, CANNED_START, 20, 20, "twenty");
	begins(&t, 0, 20, LOCK_A);
	begins(&t, 5, 10, LOCK_A);
	ends(&t, 10, 20, LOCK_A);
	begins(&t, 20, 30, LOCK_B);
	begins(&t, 25, 20, LOCK_B);
	ends(&t, 30, 30, LOCK_B);
	ends(&t, 120, 20, LOCK_B);
	ends(&t, 170, 10, LOCK_A);
	read_profile(&t);
	const struct json *first = marker(&t, "LockWait", 5), *own = marker(&t, "LockWait", 25);
	const struct json *a = marker(&t, "LockHold", 10), *b = marker(&t, "LockHold", 30);

	assert_string_equal(text_of(&t, a, "holder"), "twenty/20");
	assert_string_equal(text_of(&t, b, "holder"), "?/30");
	assert_string_equal(text_of(&t, first, "hold"), text_of(&t, a, "hold"));
	assert_string_equal(text_of(&t, own, "hold"), text_of(&t, b, "hold"));
	assert_string_equal(text_of(&t, own, "wait"), text_of(&t, a, "wait"));
	assert_null(text_of(&t, b, "wait"));
	assert_null(text_of(&t, marker(&t, "LockWait", 0), "hold"));
	assert_string_equal(text_of(&t, first, "lock"), "mutex 0x1000 (pipe_read)");
	done(&t);
}

static bool has_text(const struct traced *t, const char *text)
{
	const struct json *all = json_path(json_root(&t->doc), "shared.stringArray");

	for (size_t i = 0; i < json_len(all); i++)
		if (strcmp(json_text(json_at(all, i)), text) == 0)
			return true;
	return false;
}

/* Functions of programs have the names that tables have. */
static void frames_of_programs_have_names(void **state)
{
	struct traced t = {0};
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
				  .lock = LOCK_A,
				  .flags = LCB_F_WRITE,
				  .tid = 20,
				  .n_frames = 1,
				  .n_user = 1,
				  .user = WAITREC_USER_ENDS,
				  .frames = {synth_addr(SYNTH_PIPE_READ), 0x400123}};
	const struct waitrec_end e = {.magic = WAITREC_END_MAGIC, .lock = LOCK_A, .tid = 20};

	(void)state;
	rig_init(&t.r, 1);
	synth_outputs(t.r.synth);
	synth_profile(t.r.synth);
	synth_round(t.r.synth, CANNED_START);
	synth_mmap(t.r.synth, 0, CANNED_START, 20, 0x400000, 0x10000, 0, "/nowhere/app");
	synth_wait_begin(t.r.synth, 0, CANNED_START + 10 * US, 20, 20, &b);
	synth_wait_end(t.r.synth, 0, CANNED_START + 20 * US, 20, 20, &e);
	read_profile(&t);
	assert_true(has_text(&t, "pipe_read"));
	assert_true(has_text(&t, "app+0x123"));
	assert_true(has_text(&t, "[caller not known]"));
	done(&t);
}

/* A crowd hands a lock round, and one has it for long: the trace names that one, even later. */
static void who_had_it_long_is_kept(void **state)
{
	enum { CROWD = 60, LONG = 20, EACH = 10, MUCH = 5000 };
	struct traced t = {0};
	uint64_t us = CROWD + 10, long_at = 0;

	(void)state;
	rig_init(&t.r, 1);
	for (unsigned i = 0; i < CROWD; i++)
		begins(&t, i, 100 + (int)i, LOCK_A);
	for (unsigned i = 0; i < CROWD; i++) {
		ends(&t, us, 100 + (int)i, LOCK_A);
		if (i == LONG)
			long_at = us;
		us += i == LONG ? MUCH : EACH;
	}
	read_profile(&t);
	const char *hold = text_of(&t, marker(&t, "LockHold", long_at), "hold");
	for (unsigned i = LONG + 1; i < CROWD; i++)
		assert_string_equal(text_of(&t, marker(&t, "LockWait", i), "hold"), hold);
	assert_string_not_equal(text_of(&t, marker(&t, "LockWait", LONG - 1), "hold"), hold);
	done(&t);
}

static size_t count_markers(const struct traced *t, const char *type)
{
	const struct json *threads = json_path(json_root(&t->doc), "threads");
	size_t n = 0;

	for (size_t i = 0; i < json_len(threads); i++) {
		const struct json *all = json_path(json_at(threads, i), "markers.data");
		for (size_t k = 0; k < json_len(all); k++)
			n += strcmp(json_text(json_get(json_at(all, k), "type")), type) == 0;
	}
	return n;
}

/* Each of three that had the lock while a fourth waited has a marker, not the longest one alone. */
static void each_holder_has_a_marker(void **state)
{
	struct traced t = {0};

	(void)state;
	rig_init(&t.r, 1);
	for (int i = 0; i < 5; i++)
		begins(&t, (uint64_t)i, 10 + i, LOCK_A);
	ends(&t, 10, 10, LOCK_A);
	ends(&t, 20, 11, LOCK_A);
	ends(&t, 80, 12, LOCK_A);
	ends(&t, 90, 13, LOCK_A);
	ends(&t, 95, 14, LOCK_A);
	read_profile(&t);
	assert_int_equal(count_markers(&t, "LockHold"), 4);
	assert_string_equal(text_of(&t, marker(&t, "LockHold", 10), "holder"), "?/10");
	const char *longest = text_of(&t, marker(&t, "LockHold", 20), "hold");
	for (unsigned i = 2; i < 5; i++)
		assert_string_equal(text_of(&t, marker(&t, "LockWait", i), "hold"), longest);
	/* It is the longest one of no wait, so nothing would be at the other end of a flow. */
	assert_string_equal(text_of(&t, marker(&t, "LockHold", 80), "holder"), "?/12");
	assert_null(text_of(&t, marker(&t, "LockHold", 80), "hold"));
	done(&t);
}

/* The sum of the waits of a profile. */
static uint64_t firefox_ns(const struct traced *t)
{
	const struct json *threads = json_path(json_root(&t->doc), "threads");
	double ms = 0;

	for (size_t i = 0; i < json_len(threads); i++) {
		const struct json *weights = json_path(json_at(threads, i), "samples.weight");
		for (size_t k = 0; k < json_len(weights); k++)
			ms += json_number(json_at(weights, k));
	}
	return (uint64_t)(ms * 1000 * US + 0.5);
}

/* A wait whose end may have been lost has no length, and is in no trace, as it is in no sum. */
static void doubtful_waits_are_in_no_trace(void **state)
{
	struct traced t = {0};

	(void)state;
	rig_init(&t.r, 1);
	begins(&t, 0, 10, LOCK_A);
	ends(&t, 40, 10, LOCK_A);
	begins(&t, 50, 20, LOCK_A);
	synth_lost(t.r.synth, 0, CANNED_START + 60 * US, 3);
	/* Nothing is known of this task before, so its first wait is doubtful, too. */
	begins(&t, 90, 30, LOCK_B);
	ends(&t, 95, 30, LOCK_B);
	begins(&t, 100, 30, LOCK_B);
	synth_comm(t.r.synth, 0, CANNED_START + 900 * US, 40, 40, "later");
	read_profile(&t);
	assert_int_equal(firefox_ns(&t), (40 + 800) * US);
	done(&t);
}

static void each_format_can_be_empty(void **state)
{
	(void)state;
	for (unsigned f = 0; f < TRACEFILE_FORMATS; f++) {
		struct traced t = {0};
		struct error err = {0};
		if (tracefile_check((enum tracefile_format)f, &err) < 0)
			continue;
		rig_init(&t.r, 1);
		assert_int_equal(play(&t, (enum tracefile_format)f, false), 0);
		free(t.text);
		rig_deinit(&t.r);
	}
}

/* It reports that, and frees its memory. */
static void no_memory_is_said(void **state)
{
	struct traced t = {0};

	(void)state;
	canned_init(&t.r);
	assert_int_equal(play(&t, TRACEFILE_FIREFOX, true), -ENOMEM);
	free(t.text);
	rig_deinit(&t.r);
}

/* The parts of a trace add up to its sums, in the canned stream, with its losses. */
static void the_source_is_told(void **state)
{
	struct traced t = {0};

	(void)state;
	canned_init(&t.r);
	read_profile(&t);
	const struct json *source = json_get(json_root(&t.doc), "kontend");
	assert_string_equal(json_text(json_get(source, "schema")), "kontend.firefox/1");
	assert_int_equal(json_u64(json_get(source, "lost")), 3);
	assert_int_equal(json_u64(json_get(source, "left_out")), 0);
	done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_joined_by_flows),
		cmocka_unit_test(frames_of_programs_have_names),
		cmocka_unit_test(who_had_it_long_is_kept),
		cmocka_unit_test(each_holder_has_a_marker),
		cmocka_unit_test(doubtful_waits_are_in_no_trace),
		cmocka_unit_test(each_format_can_be_empty),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(the_source_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
