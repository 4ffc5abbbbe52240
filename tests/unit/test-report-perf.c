// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of breakpoint slots, perf events and contexts, of made-up machines, against texts in
 * tests/golden; UPDATE=1 in the environment writes them again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "json.h"
#include "kontend/mem.h"
#include "kontend/report.h"
#include "perf-snaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERF_VIEWS = REPORT_SLOTS | REPORT_HOLDERS | REPORT_CONTEXTS | REPORT_EVENTS };

static void play(struct asked *w, const char *machine)
{
	canned_init(&w->rig);
	perf_snap_emit(w->rig.synth, machine, CANNED_END - 250 * CANNED_MS);
	synth_round(w->rig.synth, CANNED_END);
	asked_play(w, NULL);
}

static void check_golden(struct asked *w, const struct report_spec *s, const char *name)
{
	char *text = asked_report(&w->q, s);

	golden_check(text, name);
	free(text);
}

static void text_of_an_x86(void **state)
{
	struct report_spec s = {.views = REPORT_OVERVIEW | REPORT_SLOTS | REPORT_CONTEXTS};

	play(*state, "x86");
	check_golden(*state, &s, "perf-x86");
}

static void text_of_an_arm64_by_process(void **state)
{
	struct report_spec s = {.views = REPORT_SLOTS | REPORT_CONTEXTS, .query.by = BY_PROCESS};

	play(*state, "arm64");
	check_golden(*state, &s, "perf-arm64");
}

static void text_without_bpf(void **state)
{
	struct report_spec s = {.views = REPORT_OVERVIEW | REPORT_SLOTS | REPORT_CONTEXTS};

	play(*state, "probe");
	check_golden(*state, &s, "perf-probe");
}

static void text_of_what_is_damaged(void **state)
{
	struct report_spec s = {.views = REPORT_SLOTS};

	play(*state, "broken");
	check_golden(*state, &s, "perf-broken");
}

static void text_of_who_creates(void **state)
{
	struct report_spec s = {.views = REPORT_SLOTS};

	play(*state, "created");
	check_golden(*state, &s, "perf-created");
}

static void text_of_who_was_found_to_create(void **state)
{
	struct report_spec s = {.views = REPORT_CREATIONS};

	play(*state, "found");
	check_golden(*state, &s, "perf-found");
}

static void json_of_who_creates(void **state)
{
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_CREATIONS};

	play(*state, "created");
	check_golden(*state, &s, "perf-created-json");
}

static void csv_of_who_creates(void **state)
{
	struct report_spec s = {.format = REPORT_CSV, .views = REPORT_CREATIONS};

	play(*state, "found");
	check_golden(*state, &s, "perf-creations-csv");
}

static void csv_of_every_view(void **state)
{
	static const struct {
		enum report_view view;
		const char *name;
	} views[] = {{REPORT_SLOTS, "perf-slots-csv"},
		     {REPORT_HOLDERS, "perf-holders-csv"},
		     {REPORT_CONTEXTS, "perf-contexts-csv"},
		     {REPORT_EVENTS, "perf-events-csv"},
		     {REPORT_OVERVIEW, "perf-overview-csv"}};

	play(*state, "x86");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct report_spec s = {.format = REPORT_CSV, .views = views[i].view};
		check_golden(*state, &s, views[i].name);
	}
}

static void json_of_every_view(void **state)
{
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_OVERVIEW | PERF_VIEWS};

	play(*state, "x86");
	check_golden(*state, &s, "perf-x86-json");
}

static const struct json *path(const struct json_doc *d, const char *p)
{
	const struct json *v = json_path(json_root(d), p);

	if (!v)
		fail_msg("the report has no %s", p);
	return v;
}

static void parse(struct json_doc *d, const char *text)
{
	size_t at = 0;

	if (json_parse(d, text, strlen(text), &at) < 0)
		fail_msg("no JSON from byte %zu: %.60s", at, text + at);
}

static void has_keys(const struct json *row, const char *const *keys)
{
	for (; *keys; keys++)
		if (!json_get(row, *keys))
			fail_msg("a row has no %s", *keys);
}

static void json_has_the_keys_that_are_promised(void **state)
{
	static const char *const slots[] = {
		"cpu", "type", "slots", "used", "cpu_pinned", "task_pinned_max", "holders", NULL};
	static const char *const holders[] = {"kind", "pid",	    "comm",  "holder_pids",
					      "fd",   "addr",	    "len",   "bp_type",
					      "cpu",  "target_tid", "state", NULL};
	static const char *const contexts[] = {"context",  "cpu",	  "tid",      "comm",
					       "events",   "pinned",	  "flexible", "active",
					       "rotating", "running_pct", NULL};
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_SLOTS | REPORT_CONTEXTS};
	struct json_doc d;

	play(*state, "x86");
	char *text = asked_report(&((struct asked *)*state)->q, &s);
	parse(&d, text);
	has_keys(json_at(path(&d, "views.slots.rows"), 0), slots);
	has_keys(json_at(path(&d, "views.holders.rows"), 0), holders);
	has_keys(json_at(path(&d, "views.contexts.rows"), 0), contexts);
	assert_int_equal(json_len(path(&d, "views.events.rows")), 14);
	const struct json *first = json_at(path(&d, "views.slots.rows"), 0);
	assert_int_equal(json_u64(json_get(first, "used")), 4);
	assert_int_equal(json_len(json_get(first, "holders")), 4);
	assert_string_equal(json_text(path(&d, "source.perf.method")), "bpf");
	assert_int_equal(json_u64(path(&d, "source.perf.age_ns")), 250 * CANNED_MS);
	assert_int_equal(json_len(path(&d, "source.perf.missing")), 0);
	json_deinit(&d);
	free(text);
}

static void json_tells_unknown_from_none(void **state)
{
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_OVERVIEW | PERF_VIEWS};
	struct json_doc d;

	play(*state, "probe");
	char *text = asked_report(&((struct asked *)*state)->q, &s);
	parse(&d, text);
	const struct json *first = json_at(path(&d, "views.slots.rows"), 0);
	assert_true(json_is(json_get(first, "task_pinned_max"), JSON_NULL));
	assert_true(json_is(json_get(first, "free_cpu"), JSON_NULL));
	assert_int_equal(json_u64(json_get(first, "cpu_pinned")), 2);
	assert_true(json_is(path(&d, "views.overview.perf.events"), JSON_NULL));
	assert_true(json_is(path(&d, "views.overview.perf.opened_per_s"), JSON_NULL));
	assert_int_equal(json_len(path(&d, "source.perf.missing")), 5);
	assert_non_null(strstr(json_text(path(&d, "source.perf.reason")), "CAP_BPF"));
	json_deinit(&d);
	free(text);
}

static void without_a_snapshot_the_report_says_so(void **state)
{
	struct report_spec s = {.views = PERF_VIEWS};
	struct asked *w = *state;

	canned_init(&w->rig);
	asked_play(w, NULL);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "# breakpoint slots: the recording has no snapshots"));
	free(text);
}

static void tables_beside_take_what_they_can(void **state)
{
	struct report_spec s = {.format = REPORT_JSON,
				.views = REPORT_SLOTS,
				.query = {.sort = "used", .filter = "cpu=0"}};
	struct json_doc d;

	play(*state, "x86");
	char *text = asked_report(&((struct asked *)*state)->q, &s);
	parse(&d, text);
	assert_int_equal(json_u64(path(&d, "views.slots.matching_rows")), 1);
	assert_int_equal(json_u64(path(&d, "views.holders.matching_rows")), 2);
	json_deinit(&d);
	free(text);
}

static void memory_may_run_out_at_any_point(void **state)
{
	struct report_spec s = {.format = REPORT_JSON, .views = PERF_VIEWS};
	struct asked *w = *state;
	FILE *null = fopen("/dev/null", "w");
	int r = -ENOMEM;
	long n;

	assert_non_null(null);
	play(w, "x86");
	for (n = 0; r != 0; n++) {
		struct error err = {0};
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		mem_fail_after(n);
		r = report_write(&w->q, &s, null, &err);
		mem_fail_after(-1);
		assert_true(r == 0 || (r == -ENOMEM && strstr(err.text, "memory")));
		assert_true(n < 10000);
	}
	assert_true(n > 5);
	fclose(null);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, asked_teardown)
	int (*setup)(void **) = asked_setup_empty;
	const struct CMUnitTest tests[] = {
		TEST(text_of_an_x86),
		TEST(text_of_an_arm64_by_process),
		TEST(text_without_bpf),
		TEST(text_of_what_is_damaged),
		TEST(text_of_who_creates),
		TEST(text_of_who_was_found_to_create),
		TEST(json_of_who_creates),
		TEST(csv_of_who_creates),
		TEST(csv_of_every_view),
		TEST(json_of_every_view),
		TEST(json_has_the_keys_that_are_promised),
		TEST(json_tells_unknown_from_none),
		TEST(without_a_snapshot_the_report_says_so),
		TEST(tables_beside_take_what_they_can),
		TEST(memory_may_run_out_at_any_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
