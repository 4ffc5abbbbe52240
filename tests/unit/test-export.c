// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, whose lines must add up to the totals of the report, and a trace, whose JSON is
 * read back and whose waits must be those of the model.
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
#include "kontend/folded.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/query-overview.h"
#include "kontend/tracefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *write_folded(struct query *q)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(q);
	if (folded_write(q, &(struct folded_spec){0}, f, &err) < 0)
		fail_msg("folded_write: %s", err.text);
	fclose(f);
	return text;
}

/* Adds up the lines that end with @mark before the number, or the others. */
static uint64_t sum_lines(const char *text, const char *mark, bool with)
{
	uint64_t sum = 0;

	while (*text) {
		const char *end = strchr(text, '\n'), *blank = end;

		assert_non_null(end);
		while (*blank != ' ')
			blank--;
		bool marked = (size_t)(blank - text) > strlen(mark) &&
			      memcmp(blank - strlen(mark), mark, strlen(mark)) == 0;
		if (marked == with)
			sum += strtoull(blank, NULL, 10);
		text = end + 1;
	}
	return sum;
}

static void folded_stacks_add_up_to_the_report(void **state)
{
	struct asked *w = *state;
	struct query_overview o;
	char *text = write_folded(&w->q);

	golden_check(text, "export-folded");
	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_true(o.total_ns > 0 && o.inflight_ns > 0);
	assert_int_equal(sum_lines(text, ", still waiting]", false), o.total_ns);
	assert_int_equal(sum_lines(text, ", still waiting]", true), o.inflight_ns);
	free(text);
}

/* One function from two places is one frame; what separates is taken out of names. */
static void names_do_not_break_lines(void **state)
{
	struct asked *w = *state;
	uint64_t places[] = {0xffffffff81001010, 0xffffffff81001020};

	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, "ffffffff81001000 t a;b\x1b\n");
	synth_comm(w->rig.synth, 0, 0, 7, 7, "Web; Content\n1");
	for (unsigned i = 0; i < 2; i++) {
		synth_begin(w->rig.synth, 0, CANNED_START + i * 100, 7, 7, 4096, 0, &places[i], 1);
		synth_end(w->rig.synth, 0, CANNED_START + i * 100 + 30, 7, 7, 4096, 0);
	}
	synth_begin(w->rig.synth, 0, CANNED_START + 300, 8, 8, 4096, 0, NULL, 0);
	synth_end(w->rig.synth, 0, CANNED_START + 305, 8, 8, 4096, 0);
	synth_round(w->rig.synth, CANNED_START + 400);
	asked_play(w, NULL);
	char *text = write_folded(&w->q);
	assert_string_equal(text, "[unknown];[no call chain];[semaphore] 5\n"
				  "Web: Content?1;a:b?;[semaphore] 60\n");
	free(text);
}

static void folded_failures_are_said(void **state)
{
	struct asked *w = *state;
	struct error err = {0};
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
	long n;

	assert_non_null(full);
	assert_non_null(null);
	query_begin(&w->q);
	assert_int_equal(folded_write(&w->q, &(struct folded_spec){0}, full, &err), -ENOSPC);
	fclose(full);
	for (n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = folded_write(&w->q, &(struct folded_spec){0}, null, NULL);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 2);
	fclose(null);
}

static char *write_trace(struct rig *r, enum tracefile_format format)
{
	struct error err = {0};
	const struct tracefile_spec spec = {.format = format, .version = "1"};
	struct tracefile *t;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	rig_play_ticks(r, NULL, 0);
	assert_int_equal(tracefile_new(&t, &spec, &r->engine, f, &err), 0);
	r->engine.watch = tracefile_watch(t);
	rig_play(r, NULL);
	if (tracefile_finish(t, &err) < 0)
		fail_msg("tracefile_finish: %s", err.text);
	tracefile_free(t);
	fclose(f);
	return text;
}

static void parse(struct json_doc *d, const char *text)
{
	size_t at = 0;

	if (json_parse(d, text, strlen(text), &at) < 0)
		fail_msg("no JSON from byte %zu: %.60s", at, text + at);
}

/* Adds the lengths of the waits of one thread: ended, in flight; returns how many have ended. */
static size_t sum_markers(const struct json *markers, double *ended_ms, double *waiting_ms)
{
	const struct json *all = json_get(markers, "data");
	size_t n = 0;

	for (size_t i = 0; i < json_len(all); i++) {
		const struct json *data = json_at(all, i);
		double ms = json_number(json_at(json_get(markers, "endTime"), i)) -
			    json_number(json_at(json_get(markers, "startTime"), i));

		if (strcmp(json_text(json_get(data, "type")), "LockWait") != 0)
			continue;
		assert_non_null(json_get(data, "caller"));
		if (json_get(data, "state")) {
			*waiting_ms += ms;
		} else if (!json_get(data, "ret")) {
			*ended_ms += ms;
			n++;
		}
	}
	return n;
}

static void a_trace_has_each_wait(void **state)
{
	double ended_ms = 0, waiting_ms = 0;
	uint64_t contended = 0, total_ns = 0;
	const struct json *threads;
	struct json_doc d;
	size_t ended = 0;
	struct rig r;
	char *text;

	(void)state;
	canned_init(&r);
	text = write_trace(&r, TRACEFILE_FIREFOX);
	parse(&d, text);
	threads = json_path(json_root(&d), "threads");
	for (size_t i = 0; i < json_len(threads); i++)
		ended += sum_markers(json_get(json_at(threads, i), "markers"), &ended_ms,
				     &waiting_ms);
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		total_ns += r.engine.model->types[i].total_ns;
		contended += r.engine.model->types[i].contended;
	}
	assert_int_equal(ended, contended);
	assert_int_equal((uint64_t)(ended_ms * CANNED_MS + 0.5), total_ns);
	assert_int_equal((uint64_t)(waiting_ms * CANNED_MS + 0.5), 700 * CANNED_MS);
	assert_int_equal(json_u64(json_path(json_root(&d), "kontend.lost")), 3);
	json_deinit(&d);
	free(text);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(folded_stacks_add_up_to_the_report, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(names_do_not_break_lines, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(folded_failures_are_said, asked_setup,
						asked_teardown),
		cmocka_unit_test(a_trace_has_each_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
