// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the canned stream against texts in tests/golden; UPDATE=1 in the environment writes
 * them again. The JSON is read back and must equal the table; every allocation is made to fail
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/report/format.h"
#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "json.h"
#include "kontend/mem.h"
#include "kontend/report.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_golden(struct query *q, const struct report_spec *s, const char *name)
{
	char *text = asked_report(q, s);

	golden_check(text, name);
	free(text);
}

static void text_of_all_views(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_TEXT, .views = REPORT_ALL};

	check_golden(&w->q, &s, "report-all");
	s.ascii = true;
	s.width = 80;
	check_golden(&w->q, &s, "report-all-ascii-80");
}

static void text_by_every_dimension(void **state)
{
	struct asked *w = *state;

	for (int by = 0; by < QUERY_BYS; by++) {
		struct report_spec s = {.views = REPORT_LOCKS, .query.by = (enum query_by)by};
		char name[64];
		snprintf(name, sizeof(name), "report-by-%s", query_by_name(s.query.by));
		check_golden(&w->q, &s, name);
	}
}

static void csv_of_every_view(void **state)
{
	static const struct {
		unsigned view;
		const char *name;
	} views[] = {{REPORT_LOCKS, "report-locks-csv"},
		     {REPORT_WAITERS, "report-waiters-csv"},
		     {REPORT_OVERVIEW, "report-overview-csv"},
		     {REPORT_TREE, "report-tree-csv"},
		     {REPORT_HIST, "report-hist-csv"}};
	struct asked *w = *state;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct report_spec s = {.format = REPORT_CSV, .views = views[i].view};
		check_golden(&w->q, &s, views[i].name);
	}
}

static void json_of_all_views(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};

	check_golden(&w->q, &s, "report-all-json");
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

static void json_says_what_the_tables_say(void **state)
{
	static const char *const keys[] = {"lock",    "name",	  "type",   "mode",   "contended",
					   "waiting", "total_ns", "avg_ns", "min_ns", "p50_ns",
					   "p90_ns",  "p99_ns",	  "max_ns", "caller"};
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};
	char *text = asked_report(&w->q, &s);
	const struct json *rows, *row;
	struct json_doc d;

	parse(&d, text);
	assert_string_equal(json_text(path(&d, "schema")), "kontend.report/2");
	assert_int_equal(json_u64(path(&d, "source.duration_ns")), 3000 * CANNED_MS);
	assert_int_equal(json_u64(path(&d, "source.lost")), 3);
	assert_int_equal(json_u64(path(&d, "source.unmatched")), 1);
	assert_string_equal(json_text(path(&d, "source.kernel")), "6.18.44");
	rows = path(&d, "views.locks.rows");
	assert_int_equal(json_len(rows), 4);
	row = json_at(rows, 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_get(row, keys[i]));
	assert_string_equal(json_text(json_get(row, "type")), "rwsem");
	assert_string_equal(json_text(json_get(row, "mode")), "W");
	assert_int_equal(json_u64(json_get(row, "total_ns")), 565 * CANNED_MS);
	assert_string_equal(json_text(json_get(row, "lock")), "0xffff888012345678");
	assert_true(json_is(json_get(json_at(rows, 2), "mode"), JSON_NULL));
	row = json_at(path(&d, "views.waiters.rows"), 0);
	assert_int_equal(json_u64(json_get(row, "since_ns")), 400 * CANNED_MS);
	assert_int_equal(json_u64(json_get(row, "tid")), 5215);
	assert_false(json_get(row, "doubtful")->truth);
	assert_null(json_get(row, "task_id"));
	json_deinit(&d);
	free(text);
}

static int setup_hostile(void **state)
{
	struct asked *w;
	uint64_t frame = 0xffffffff81001010;

	if (asked_setup_empty(state) < 0)
		return -1;
	w = *state;
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, "ffffffff81001000 t a\"b,c\\d\x1b[31m\n");
	synth_comm(w->rig.synth, 0, 0, 7, 7, "\x1b]0;x\a\"q\",\xff\xe2\x80\xae\n");
	synth_begin(w->rig.synth, 0, CANNED_START, 7, 7, 0xffff888000001000, 0, &frame, 1);
	synth_end(w->rig.synth, 0, CANNED_START + 50, 7, 7, 0xffff888000001000, 0);
	synth_begin(w->rig.synth, 0, CANNED_START + 100, 7, 7, 0xffff888000001000, 0, &frame, 1);
	synth_round(w->rig.synth, CANNED_START + 200);
	asked_play(w, NULL);
	return 0;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
			return true;
	return false;
}

static void hostile_names_cannot_break_out(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.views = REPORT_WAITERS};
	struct json_doc d;
	char *text;

	for (s.format = REPORT_TEXT; s.format <= REPORT_JSON; s.format++) {
		text = asked_report(&w->q, &s);
		assert_false(has_control(text));
		assert_null(strstr(text, "\xff"));
		assert_null(strstr(text, "\xe2\x80\xae"));
		if (s.format == REPORT_CSV)
			assert_non_null(strstr(text, "7,7,\"?]0;x?\"\"q\"\",???\",0xffff888"));
		if (s.format == REPORT_JSON)
			parse(&d, text);
		free(text);
	}
	/* JSON keeps what was there, escaped; the bad byte alone is replaced. */
	assert_string_equal(json_text(json_get(json_at(path(&d, "views.waiters.rows"), 0), "comm")),
			    "\x1b]0;x\a\"q\",\xef\xbf\xbd\xe2\x80\xae\n");
	json_deinit(&d);
}

static void separators_are_quoted(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {
		.format = REPORT_CSV, .views = REPORT_WAITERS, .csv_separator = ';'};
	char *text = asked_report(&w->q, &s);

	assert_non_null(strstr(text, "since_ns;kind;type;"));
	s.csv_separator = 'x';
	free(text);
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "x\"0xffff888000001000\"x"));
	free(text);
}

/* Names that a stranger has chosen, in a table that a spreadsheet opens. */
static void formulas_are_text(void **state)
{
	static const struct column name = {
		.key = "comm", .type = COLUMN_TEXT, .flags = COLUMN_REPORT};
	static const char *const comms[] = {"=1+1",  "@SUM(A1)", "+7", "-2+cmd|' /C calc'!A0",
					    "-bash", "a=b",	 "-"};
	struct value values[sizeof(comms) / sizeof(*comms)] = {0};
	struct table t = {.columns = &name, .n_columns = 1, .values = values, .n_rows = 7};
	char *text = NULL;
	size_t len;

	(void)state;
	for (size_t i = 0; i < t.n_rows; i++)
		values[i] = (struct value){.known = true, .s = comms[i]};
	FILE *out = open_memstream(&text, &len);
	report_csv_table(&t, 0, out);
	fclose(out);
	assert_string_equal(text,
			    "comm\n'=1+1\n'@SUM(A1)\n'+7\n'-2+cmd|' /C calc'!A0\n'-bash\na=b\n-\n");
	free(text);
}

static void nothing_measured_is_a_report_too(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};
	struct json_doc d;
	char *text;

	w->rig.synth = synth_new(1);
	asked_play(w, NULL);
	text = asked_report(&w->q, &s);
	parse(&d, text);
	assert_int_equal(json_len(path(&d, "views.locks.rows")), 0);
	assert_true(json_is(path(&d, "source.kernel"), JSON_NULL));
	assert_true(json_is(path(&d, "views.hist.p99_ns"), JSON_NULL));
	assert_true(json_is(path(&d, "views.overview.longest"), JSON_NULL));
	json_deinit(&d);
	free(text);
	s.format = REPORT_TEXT;
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "no contention was seen"));
	assert_non_null(strstr(text, "no task was waiting"));
	free(text);
}

static void refuse(struct asked *w, struct report_spec s, const char *word)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report_write(&w->q, &s, f, &err), -EINVAL);
	fclose(f);
	assert_int_equal(len, 0);
	if (!strstr(err.text, word))
		fail_msg("'%s' does not say %s", err.text, word);
	free(text);
}

static void cpus_that_went_away_are_said(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_TEXT, .views = REPORT_OVERVIEW};
	struct record_cpu gone = {.cpu = 1};

	rig_init(&w->rig, 2);
	synth_record(w->rig.synth, RECORD_CPU, 1, &gone, sizeof(gone));
	asked_play(w, NULL);
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, ", CPU 1 offline\n"));
	free(text);
	gone.cpu = 0;
	model_cpu_state(w->rig.engine.model, &gone);
	text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, ", 2 CPUs offline\n"));
	free(text);
}

static void what_is_wrong_is_named_and_nothing_written(void **state)
{
	struct asked *w = *state;

	refuse(w, (struct report_spec){.views = REPORT_LOCKS, .query.sort = "nope"}, "nope");
	refuse(w, (struct report_spec){.views = REPORT_ALL, .query.sort = "since_ns"}, "since_ns");
	refuse(w, (struct report_spec){.views = REPORT_WAITERS, .query.sort = "total_ns"},
	       "total_ns");
	refuse(w, (struct report_spec){.views = REPORT_LOCKS, .query.filter = "x>1"}, "x>1");
	refuse(w, (struct report_spec){.views = REPORT_TREE, .query.filter = "x"}, "filtered");
	refuse(w, (struct report_spec){.views = REPORT_HIST, .query.sort = "n"}, "sorted");
	refuse(w, (struct report_spec){.views = REPORT_ALL, .format = REPORT_CSV}, "CSV");
	refuse(w, (struct report_spec){.views = 0}, "view");
	refuse(w, (struct report_spec){.views = REPORT_ALL + 1}, "view");
}

static void tables_beside_take_what_they_can(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON,
				.views = REPORT_LOCKS | REPORT_WAITERS,
				.query = {.sort = "max_ns", .filter = "rwsem:R", .limit = 1}};
	char *text = asked_report(&w->q, &s);
	struct json_doc d;

	parse(&d, text);
	assert_int_equal(json_u64(path(&d, "views.locks.matching_rows")), 1);
	/* One wait that is not over, and fifteen that have ended. */
	assert_int_equal(json_u64(path(&d, "views.waiters.matching_rows")), 16);
	json_deinit(&d);
	free(text);
	s.query.filter = "contended>20"; /* waiters have no such column: shown without it */
	text = asked_report(&w->q, &s);
	parse(&d, text);
	assert_int_equal(json_u64(path(&d, "views.locks.matching_rows")), 2);
	assert_int_equal(json_len(path(&d, "views.locks.rows")), 1);
	assert_int_equal(json_u64(path(&d, "views.waiters.matching_rows")), 50);
	json_deinit(&d);
	free(text);
}

static void a_full_disk_is_said(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};
	struct error err = {0};
	FILE *f = fopen("/dev/full", "w");

	if (!f) {
		print_message("skipped: no /dev/full here\n");
		skip();
	}
	assert_int_equal(report_write(&w->q, &s, f, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "Cannot write all of the report: No space"));
	fclose(f);
}

static void the_locale_changes_no_number(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};
	char *before = asked_report(&w->q, &s), *after;

	setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed */
	after = asked_report(&w->q, &s);
	setlocale(LC_ALL, "C");
	assert_string_equal(before, after);
	free(before);
	free(after);
}

static void memory_may_run_out_at_any_point(void **state)
{
	struct asked *w = *state;
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_ALL};
	FILE *null = fopen("/dev/null", "w");
	int r = -ENOMEM;
	long n;

	assert_non_null(null);
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

static void names_are_parsed(void **state)
{
	enum report_format f = REPORT_TEXT;
	unsigned v = 0;

	(void)state;
	assert_int_equal(report_view_parse("all", &v), 0);
	assert_int_equal(v, REPORT_ALL);
	assert_int_equal(report_view_parse("locks,waiters", &v), 0);
	assert_int_equal(v, REPORT_LOCKS | REPORT_WAITERS);
	assert_int_equal(report_view_parse("locks,", &v), -EINVAL);
	assert_int_equal(report_view_parse("lock", &v), -EINVAL);
	assert_int_equal(report_view_parse("", &v), -EINVAL);
	assert_int_equal(v, REPORT_LOCKS | REPORT_WAITERS);
	assert_int_equal(report_format_parse("json", &f), 0);
	assert_int_equal(f, REPORT_JSON);
	assert_int_equal(report_format_parse("xml", &f), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_of_all_views, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(text_by_every_dimension, asked_setup,
						asked_teardown),
		cmocka_unit_test(formulas_are_text),
		cmocka_unit_test_setup_teardown(csv_of_every_view, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(json_of_all_views, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(json_says_what_the_tables_say, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(hostile_names_cannot_break_out, setup_hostile,
						asked_teardown),
		cmocka_unit_test_setup_teardown(separators_are_quoted, setup_hostile,
						asked_teardown),
		cmocka_unit_test_setup_teardown(nothing_measured_is_a_report_too, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(cpus_that_went_away_are_said, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_named_and_nothing_written,
						asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(tables_beside_take_what_they_can, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_is_said, asked_setup, asked_teardown),
		cmocka_unit_test_setup_teardown(the_locale_changes_no_number, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(memory_may_run_out_at_any_point, asked_setup,
						asked_teardown),
		cmocka_unit_test(names_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
