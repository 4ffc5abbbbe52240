// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms of mmap_locks by memory cgroup and mode, in reports as text and JSON, and as
 * OpenMetrics, where they add up to the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "json.h"
#include "kontend/mmlevel.h"
#include "kontend/openmetrics.h"
#include "openmetrics.h"
#include "synth-mm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define US 1000ull
#define MM 0xffff888011111100ull

/* Asks for the lock of a process, has it after @wait, and gives it back after @held. */
static void add_acquisition(struct asked *w, int pid, const char *memcg, bool write, uint64_t t,
			    uint64_t wait, uint64_t held)
{
	struct synth_mm_event e = {.what = SYNTH_MM_START,
				   .t = CANNED_START + t,
				   .pid = pid,
				   .tid = pid,
				   .mm = MM + (uint64_t)pid * 0x1000,
				   .memcg = memcg,
				   .write = write,
				   .success = true};

	synth_mm(w->rig.synth, &e);
	e.what = SYNTH_MM_ACQUIRED;
	e.t += wait;
	synth_mm(w->rig.synth, &e);
	e.what = SYNTH_MM_RELEASED;
	e.t += held;
	synth_mm(w->rig.synth, &e);
}

/* Two processes of /db and one of /web. */
static void play(struct asked *w)
{
	struct mmlevel_how how;

	rig_init(&w->rig, 1);
	synth_mm_prologue(w->rig.synth, true);
	assert_int_equal(mmlevel_parse("all", &how), 0);
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	for (int pid = 100; pid <= 300; pid += 100)
		synth_comm(w->rig.synth, 0, CANNED_START, pid, pid, "a");
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 8; i++)
		add_acquisition(w, 100, "/db", true, (10 + i) * MS, 3 * US, 100 * US);
	add_acquisition(w, 200, "/db", true, 50 * MS, 20 * MS, 2 * MS);
	add_acquisition(w, 200, "/db", false, 90 * MS, 3 * US, 50 * US);
	for (uint64_t i = 0; i < 4; i++)
		add_acquisition(w, 300, "/web", false, (100 + i) * MS, 600, 5 * US);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static const struct json *histogram(const struct json *all, const char *memcg, const char *mode)
{
	for (size_t i = 0; i < json_len(all); i++)
		if (!strcmp(json_text(json_get(json_at(all, i), "memcg")), memcg) &&
		    !strcmp(json_text(json_get(json_at(all, i), "mode")), mode))
			return json_at(all, i);
	fail_msg("no histogram of %s %s", memcg, mode);
	return NULL;
}

static uint64_t number(const struct json *h, const char *path)
{
	return json_u64(json_path(h, path));
}

static void json_has_them(void **state)
{
	const struct report_spec s = {
		.views = REPORT_MMAP, .query.by = BY_CGROUP, .is_by = true, .format = REPORT_JSON};
	struct asked *w = *state;
	struct json_doc d;

	play(w);
	char *text = asked_report(&w->q, &s);
	assert_int_equal(json_parse(&d, text, strlen(text), NULL), 0);
	const struct json *all = json_path(json_root(&d), "views.mmap.histograms");
	assert_int_equal(json_len(all), 3);
	const struct json *h = histogram(all, "/db", "W");
	assert_int_equal(number(h, "acquired.waits"), 9);
	assert_int_equal(number(h, "acquired.total_ns"), 8 * 3 * US + 20 * MS);
	assert_int_equal(number(h, "acquired.max_ns"), 20 * MS);
	assert_int_equal(number(h, "held.total_ns"), 8 * 100 * US + 2 * MS);
	assert_int_equal(number(h, "waited.waits"), 0);
	const struct json *bars = json_path(h, "acquired.bars");
	assert_int_equal(number(json_at(bars, 0), "waits"), 8);
	assert_int_equal(number(json_at(bars, json_len(bars) - 1), "waits"), 1);
	assert_int_equal(number(histogram(all, "/web", "R"), "held.waits"), 4);
	assert_int_equal(number(histogram(all, "/db", "R"), "acquired.waits"), 1);
	json_deinit(&d);
	free(text);
}

static void text_has_them_by_memcg_alone(void **state)
{
	struct report_spec s = {.views = REPORT_MMAP, .query.by = BY_CGROUP, .is_by = true};
	struct asked *w = *state;

	play(w);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "# mmap_locks of /db W, time to get it: 9, min 3.00us"));
	assert_non_null(strstr(text, "# mmap_locks of /db W, time held: 9, min 100us"));
	assert_non_null(strstr(text, "# mmap_locks of /web R, time held: 4, "));
	assert_null(strstr(text, "waits:"));
	free(text);
	s.query.by = BY_PROCESS;
	text = asked_report(&w->q, &s);
	assert_null(strstr(text, "time held"));
	free(text);
}

static void near(double got, double want)
{
	if (got < want * 0.999999 || got > want * 1.000001)
		fail_msg("%.12f instead of %.12f", got, want);
}

/* Twice the same measurement: counters add up, and the text is right. */
static char *metrics_of(struct asked *w, int times)
{
	const struct openmetrics_spec spec = {.version = "1"};
	struct error err = {0};
	struct openmetrics *m;
	char *text = NULL, why[128] = "";
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(openmetrics_new(&m, &spec), 0);
	for (int i = 0; i < times; i++)
		assert_int_equal(openmetrics_add(m, &w->q, &err), 0);
	assert_int_equal(openmetrics_put(m, f, &err), 0);
	fclose(f);
	openmetrics_free(m);
	if (openmetrics_check(text, why, sizeof(why)))
		fail_msg("%s\n%s", why, text);
	return text;
}

#define HOLD "kontend_mmap_lock_hold_seconds_"
#define GET "kontend_mmap_lock_acquire_seconds_"

static void files_have_them(void **state)
{
	struct asked *w = *state;

	play(w);
	char *text = metrics_of(w, 1);
	near(openmetrics_value(text, "kontend_mmap_lock_acquired_total{memcg=\"/db\",mode=\"W\"}"),
	     9);
	near(openmetrics_value(text, GET "count{memcg=\"/db\",mode=\"W\"}"), 9);
	near(openmetrics_value(text, GET "sum{memcg=\"/db\",mode=\"W\"}"), 0.020024);
	near(openmetrics_value(text, HOLD "sum{memcg=\"/db\",mode=\"W\"}"), 0.0028);
	near(openmetrics_value(text, HOLD "count{memcg=\"/web\",mode=\"R\"}"), 4);
	near(openmetrics_value(text, GET "bucket{memcg=\"/db\",mode=\"W\",le=\"0.000004096\"}"), 8);
	free(text);
	text = metrics_of(w, 2);
	near(openmetrics_value(text, GET "count{memcg=\"/db\",mode=\"W\"}"), 18);
	free(text);
}

/* Without the locks' own events there is no family of theirs. */
static void without_events_there_are_none(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	char *text = metrics_of(w, 1);
	assert_null(strstr(text, "kontend_mmap_lock"));
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(json_has_them),
		TEST(text_has_them_by_memcg_alone),
		TEST(files_have_them),
		TEST(without_events_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
