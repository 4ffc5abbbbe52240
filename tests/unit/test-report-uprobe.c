// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of uprobes and areas of slots, of machines that were thought up, against texts in
 * tests/golden (UPDATE=1 in the environment writes them anew); and the same out of a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
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

int main(void)
{
#define IN_A_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		IN_A_STREAM(text_by_bpf),
		IN_A_STREAM(text_without_bpf),
		IN_A_STREAM(text_where_there_are_none),
		IN_A_STREAM(csv_of_both),
		IN_A_STREAM(json_of_both),
		cmocka_unit_test(a_recording_reports_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
