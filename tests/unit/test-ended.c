// SPDX-License-Identifier: GPL-2.0-only
/*
 * Things that were in earlier snapshots and are not in the last one: each has a row, with the
 * values and the time of the last snapshot that had it; one that is back has none; a screen shows
 * what exists; and the number of rows is bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/ended.h"
#include "kontend/mem.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/report.h"
#include "perf-snaps.h"
#include "uprobe-snaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS

typedef int asking(struct query *, const struct query_spec *, struct table *, struct error *);

static struct table query_table(struct asked *w, asking *fn)
{
	struct query_spec spec = {.average = true};
	struct error err = {0};
	struct table t;

	query_begin(&w->q);
	if (fn(&w->q, &spec, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* A look a second at these machines, one after the other. */
static void play(struct asked *w, bool keeps, const char *const *perf, const char *const *uprobes)
{
	uint64_t t = CANNED_START;

	rig_init(&w->rig, 2);
	w->rig.keeps_ended = keeps;
	synth_round(w->rig.synth, t);
	for (int i = 0; perf[i]; i++) {
		t += 1000 * MS;
		perf_snap_emit(w->rig.synth, perf[i], t - 500 * MS);
		uprobe_snap_emit(w->rig.synth, uprobes[i], t - 500 * MS);
		synth_tick(w->rig.synth, t);
	}
	asked_play(w, NULL);
}

static const char *const gone[] = {"x86", "x86", "empty", NULL};
static const char *const idle[] = {"busy", "busy", "none", NULL};

static size_t count_ended(const struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		uint64_t ended = cell_u(t, i, "ended");
		n += ended;
		assert_int_equal(cell_at(t, i, "last_seen_ns")->known, ended);
		/* Seen at 1.5 s by a measurement of 3. */
		if (ended)
			assert_int_equal(cell_u(t, i, "last_seen_ns"), 1500 * MS);
	}
	return n;
}

static size_t rows_of(const char *const *perf, const char *const *uprobes, bool keeps, asking *fn)
{
	struct asked w = {0};

	play(&w, keeps, perf, uprobes);
	size_t n = query_table(&w, fn).n_rows;
	query_deinit(&w.q);
	rig_deinit(&w.rig);
	return n;
}

static asking *const tables[] = {query_perf_holders, query_perf_contexts, query_uprobe_areas,
				 query_uprobe_probes};

static void what_ended_has_a_row(void **state)
{
	static const char *const there[] = {"x86", NULL}, *const busy[] = {"busy", NULL};
	struct asked *w = *state;

	play(w, true, gone, idle);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		size_t n = rows_of(there, busy, false, tables[i]);
		struct table t = query_table(w, tables[i]);
		assert_true(n > 0);
		assert_int_equal(t.n_rows, n);
		assert_int_equal(count_ended(&t), n);
	}
	struct table areas = query_table(w, query_uprobe_areas);
	assert_true(cell_u(&areas, 0, "max_used") > 0);
	assert_false(cell_at(&areas, 0, "used")->known);
	struct table holders = query_table(w, query_perf_holders);
	assert_string_equal(cell_s(&holders, 0, "state"), "ended");
	assert_true(strlen(cell_s(&holders, 0, "where")) > 0);
}

static void most_used_is_of_all_looks(void **state)
{
	struct asked *w = *state;

	play(w, true, gone, idle);
	struct table t = query_table(w, query_perf_slots);
	assert_int_equal(cell_u(&t, 0, "used"), 0);
	assert_int_equal(cell_u(&t, 0, "most_used"), 4);
	assert_int_equal(cell_u(&t, 1, "most_used"), 3);
}

static void what_is_back_has_not_ended(void **state)
{
	static const char *const perf[] = {"x86", "empty", "x86", NULL};
	static const char *const uprobes[] = {"busy", "none", "busy", NULL};
	struct asked *w = *state;

	play(w, true, perf, uprobes);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct table t = query_table(w, tables[i]);
		assert_int_equal(count_ended(&t), 0);
		assert_int_equal(t.n_rows, rows_of(perf, uprobes, false, tables[i]));
	}
}

static void a_screen_shows_what_is_there(void **state)
{
	struct asked *w = *state;

	play(w, false, gone, idle);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct table t = query_table(w, tables[i]);
		assert_int_equal(count_ended(&t), 0);
	}
	assert_int_equal(query_table(w, query_uprobe_areas).n_rows, 0);
}

/* A range begins: what ended before is none of its. */
static void a_range_forgets_what_ended_before(void **state)
{
	struct asked *w = *state;

	play(w, true, gone, idle);
	model_zero(w->rig.engine.model);
	assert_int_equal(query_table(w, query_uprobe_areas).n_rows, 0);
	assert_int_equal(query_table(w, query_perf_holders).n_rows, 0);
}

static void add_ended(struct ended *e, int from, int n)
{
	struct upsnap s = {.head = {.time_ns = 7}};

	for (int i = 0; i < n; i++) {
		struct upsnap_area a = {.mm = 0x1000u + (unsigned)(from + i), .pid = from + i};
		a.comm = upsnap_add_text(&s, "task");
		assert_int_equal(upsnap_add_area(&s, &a), 0);
	}
	uint8_t *bytes = malloc(upsnap_size(&s));
	upsnap_encode(&s, bytes);
	assert_int_equal(ended_look(e, SNAPSHOT_UPROBES, bytes, upsnap_size(&s)), 0);
	assert_int_equal(ended_look(e, SNAPSHOT_UPROBES, bytes, 3), 0); /* damaged: nothing */
	free(bytes);
	upsnap_deinit(&s);
}

static void more_than_there_is_room_for_are_counted(void **state)
{
	struct ended *e;

	(void)state;
	assert_int_equal(ended_new(&e), 0);
	add_ended(e, 0, 200);
	add_ended(e, 200, 200);
	add_ended(e, 400, 0);
	assert_int_equal(e->lists[ENDED_AREA].n, ENDED_MOST);
	assert_int_equal(e->lists[ENDED_AREA].more, 400 - ENDED_MOST);
	add_ended(e, 0, 10);
	add_ended(e, 0, 0);
	assert_int_equal(e->lists[ENDED_AREA].n, ENDED_MOST);
	assert_int_equal(e->uprobes.n_areas, ENDED_MOST);
	ended_free(e);
}

/* All of it, with whatever memory there is. */
static void without_memory_nothing_breaks(void **state)
{
	(void)state;
	for (long n = 0; n < 60; n++) {
		struct upsnap s = {0};
		struct ended *e = NULL;
		uprobe_snap_make(&s, "busy", 5);
		uint8_t *bytes = malloc(upsnap_size(&s));
		upsnap_encode(&s, bytes);
		struct upsnap none = {0};
		uint8_t *empty = malloc(upsnap_size(&none));
		upsnap_encode(&none, empty);
		mem_fail_after(n);
		int code = ended_new(&e);
		for (int i = 0; code == 0 && i < 2; i++) {
			code = ended_look(e, SNAPSHOT_UPROBES, bytes, upsnap_size(&s));
			if (code == 0)
				code = ended_look(e, SNAPSHOT_UPROBES, empty, upsnap_size(&none));
		}
		mem_fail_after(-1);
		assert_true(code == 0 || code == -ENOMEM);
		ended_free(e);
		free(bytes);
		free(empty);
		upsnap_deinit(&s);
	}
}

/* The text and JSON of a report say so. */
static void reports_say_so(void **state)
{
	struct report_spec s = {.views = REPORT_XOL | REPORT_HOLDERS};
	struct asked *w = *state;

	play(w, true, gone, idle);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "LAST-SEEN"));
	assert_non_null(strstr(text, "1.50s"));
	free(text);
	s.format = REPORT_JSON;
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "\"ended\": true"));
	free(text);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_ended_has_a_row),
		TEST(most_used_is_of_all_looks),
		TEST(what_is_back_has_not_ended),
		TEST(a_screen_shows_what_is_there),
		TEST(a_range_forgets_what_ended_before),
		cmocka_unit_test(more_than_there_is_room_for_are_counted),
		cmocka_unit_test(without_memory_nothing_breaks),
		TEST(reports_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
