// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of uprobes and areas of slots, of made-up machines, against texts in tests/golden
 * (UPDATE=1 in the environment writes them again); and the same from a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/query-uprobe.h"
#include "kontend/reader.h"
#include "kontend/report.h"
#include "recording.h"
#include "uprobe-snaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UPROBE_VIEWS = REPORT_UPROBES | REPORT_XOL };

static void state_stream(struct rig *r, const char *machine)
{
	canned_init(r);
	uprobe_snap_emit(r->synth, machine, CANNED_END - 1250 * CANNED_MS);
	uprobe_snap_emit(r->synth, machine, CANNED_END - 250 * CANNED_MS);
	synth_round(r->synth, CANNED_END);
}

static void play(struct asked *w, const char *machine)
{
	state_stream(&w->rig, machine);
	asked_play(w, NULL);
}

static void check_golden(struct asked *w, const struct report_spec *s, const char *name)
{
	char *text = asked_report(&w->q, s);

	golden_check(text, name);
	free(text);
}

static void text_by_bpf(void **state)
{
	struct report_spec s = {.views = REPORT_OVERVIEW | UPROBE_VIEWS};

	play(*state, "busy");
	check_golden(*state, &s, "uprobe-busy");
}

static void text_without_bpf(void **state)
{
	struct report_spec s = {.views = UPROBE_VIEWS};

	play(*state, "proc");
	check_golden(*state, &s, "uprobe-proc");
}

static void text_where_there_are_none(void **state)
{
	struct report_spec s = {.views = UPROBE_VIEWS};

	play(*state, "none");
	check_golden(*state, &s, "uprobe-none");
}

static void csv_of_both(void **state)
{
	struct report_spec s = {.format = REPORT_CSV, .views = REPORT_UPROBES};

	play(*state, "busy");
	check_golden(*state, &s, "uprobe-probes-csv");
	s.views = REPORT_XOL;
	check_golden(*state, &s, "uprobe-xol-csv");
}

static void json_of_both(void **state)
{
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_OVERVIEW | UPROBE_VIEWS};

	play(*state, "busy");
	check_golden(*state, &s, "uprobe-json");
}

/* The report on what a reader makes of @bytes; without its first lines, which say what it is of. */
static char *report_of_file(const struct recording *bytes, const struct report_spec *s)
{
	char path[] = "/tmp/kontend-test-XXXXXX";
	int fd = mkstemp(path), code;
	struct reader_options o = {.path = path};
	struct error err = {0};
	struct engine engine = {0};
	struct source *source;
	struct query q = {0};

	assert_true(fd >= 0 && write(fd, bytes->data, bytes->len) == (ssize_t)bytes->len);
	close(fd);
	assert_int_equal(reader_new(&source, &o, &err), 0);
	assert_int_equal(engine_init(&engine, source, NULL, &err), 0);
	while ((code = engine_pump(&engine, 0, &err)) >= 0 && code != ENGINE_END)
		;
	assert_int_equal(code, ENGINE_END);
	assert_int_equal(query_init(&q, &engine), 0);
	char *text = asked_report(&q, s);
	query_deinit(&q);
	engine_deinit(&engine);
	unlink(path);
	return text;
}

static void a_recording_reports_the_same(void **state)
{
	static const char *const machines[] = {"busy", "proc", "none"};
	const struct report_spec s = {.views = UPROBE_VIEWS};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(machines) / sizeof(*machines); i++) {
		struct asked w = {0};
		struct rig again;
		play(&w, machines[i / 2]);
		state_stream(&again, machines[i / 2]);
		struct recording bytes =
			recording_written(synth_source(again.synth), i % 2 ? RECORDING_ZSTD : 0);
		char *first = asked_report(&w.q, &s), *second = report_of_file(&bytes, &s);
		const char *ours = strstr(first, "\n# uprobes by"),
			   *theirs = strstr(second, "\n# uprobes by");
		assert_non_null(ours);
		assert_non_null(theirs);
		assert_string_equal(theirs, ours);
		free(first);
		free(second);
		recording_free(&bytes);
		rig_deinit(&again);
		query_deinit(&w.q);
		rig_deinit(&w.rig);
	}
}

/* One look knows what has been hit, and not how often a second: a dash, which is no 0. */
static void a_rate_that_is_not_known_is_no_0(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = UPROBE_VIEWS};
	struct query_uprobe_sum sum;
	struct table probes;

	canned_init(&w->rig);
	uprobe_snap_emit(w->rig.synth, "first", CANNED_END - 250 * CANNED_MS);
	synth_round(w->rig.synth, CANNED_END);
	asked_play(w, NULL);
	query_begin(&w->q);
	assert_int_equal(query_uprobe_sum(&w->q, true, &sum), 0);
	assert_true(sum.known && sum.probes > 0);
	assert_false(sum.rate_known || sum.cpu_known);
	struct query_spec all = {.average = true};
	assert_int_equal(query_uprobe_probes(&w->q, &all, &probes, NULL), 0);
	for (size_t i = 0; i < probes.n_rows; i++)
		assert_false(cell_at(&probes, i, "hits_per_s")->known);
	check_golden(w, &s, "uprobe-first");
	s.format = REPORT_JSON;
	s.views |= REPORT_OVERVIEW;
	char *json = asked_report(&w->q, &s);
	assert_non_null(strstr(json, "\"hits_per_s\": null"));
	assert_null(strstr(json, "\"hits_per_s\": 0"));
	free(json);
}

/* Those that use no slot are one row on a screen, and a row each in a report. */
static void processes_without_slots_share_a_row(void **state)
{
	struct asked *w = *state;
	const struct query_spec all = {0};
	struct table t;

	play(w, "first");
	query_begin(&w->q);
	assert_int_equal(query_uprobe_areas(&w->q, &all, &t, NULL), 0);
	assert_int_equal(t.n_rows, 5);
	assert_int_equal(query_uprobe_areas_folded(&w->q, &all, &t, NULL), 0);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "process"), "app/7301");
	assert_string_equal(cell_s(&t, 1, "process"), "4 idle processes");
	assert_int_equal(t.ids[1], QUERY_UPROBE_IDLE);
	assert_int_equal(cell_at(&t, 1, "slots")->i, 31);
	assert_int_equal(cell_u(&t, 1, "used"), 0);
	assert_int_equal(cell_u(&t, 1, "max_used"), 0);
	assert_int_equal(cell_u(&t, 1, "waiting"), 0);
}

/* Of one there is its name; what is not known is not idle. */
static void one_process_without_slots_keeps_its_row(void **state)
{
	static const char *const machines[] = {"busy", "proc"};
	const struct query_spec all = {0};
	struct table t;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct asked w = {0};
		play(&w, machines[i]);
		query_begin(&w.q);
		assert_int_equal(query_uprobe_areas_folded(&w.q, &all, &t, NULL), 0);
		assert_int_equal(t.n_rows, 2);
		for (size_t row = 0; row < 2; row++)
			assert_null(strstr(cell_s(&t, row, "process"), "processes"));
		query_deinit(&w.q);
		rig_deinit(&w.rig);
	}
}

int main(void)
{
#define IN_A_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_STREAM(text_by_bpf),
		IN_A_STREAM(text_without_bpf),
		IN_A_STREAM(text_where_there_are_none),
		IN_A_STREAM(csv_of_both),
		IN_A_STREAM(json_of_both),
		IN_A_STREAM(a_rate_that_is_not_known_is_no_0),
		IN_A_STREAM(processes_without_slots_share_a_row),
		cmocka_unit_test(one_process_without_slots_keeps_its_row),
		cmocka_unit_test(a_recording_reports_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
