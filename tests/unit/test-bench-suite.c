// SPDX-License-Identifier: GPL-2.0-only
/* Suites: figures of several runs, what has changed, and what is no suite. */
#include "kontend/bench-suite.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
	"\"schema\": \"kontend.bench.suite/1\", \"date\": \"d\", \"host\": \"h\", "                \
	"\"kernel\": \"k\", \"machine\": \"m\", \"version\": \"v\", \"cpus\": 2, \"runs\": 3"
#define FIGURE                                                                                     \
	"{\"bench\": \"mutex\", \"case\": \"4 threads\", \"metric\": \"p50\", \"unit\": \"ns\", "  \
	"\"better\": \"lower\", \"values\": [1, 2.5, null, 3]}"

static void figures_are_kept_by_name(void **state)
{
	struct bench_suite s = {0};

	(void)state;
	for (int run = 0; run < 3; run++) {
		struct bench_suite_figure *a = bench_suite_figure(&s, "b", "c", "m", "ns");
		assert_int_equal(bench_suite_add(a, run), 0);
		struct bench_suite_figure *other = bench_suite_figure(&s, "b", "c", "m", "1/s");
		assert_int_equal(bench_suite_add(other, NAN), 0);
	}
	assert_int_equal(s.n, 2);
	assert_int_equal(s.figures[0].n, 3);
	assert_int_equal(s.figures[1].n, 0); /* could not be measured */
	assert_ptr_equal(bench_suite_find(&s, &s.figures[1]), &s.figures[1]);
	assert_int_equal(bench_suite_skip(&s, "x", "first"), 0);
	assert_int_equal(bench_suite_skip(&s, "x", "second"), 0);
	assert_int_equal(s.n_skipped, 1);
	assert_string_equal(s.skipped[0].why, "first");
	assert_int_equal(bench_suite_skip_part(&s, "y", "a case: why"), 0);
	assert_int_equal(bench_suite_skip_part(&s, "y", "a case: why"), 0);
	assert_int_equal(bench_suite_skip_part(&s, "y", "another: why"), 0);
	assert_int_equal(s.n_skipped, 3);
	assert_false(s.skipped[0].is_part);
	assert_true(s.skipped[2].is_part);
	bench_suite_deinit(&s);
	assert_int_equal(s.n, 0);
}

static enum bench_suite_verdict judge(enum bench_better better, double before, double now)
{
	struct bench_suite a = {0}, b = {0};
	struct bench_stats_ratio r;

	for (int i = 0; i < 5; i++) {
		struct bench_suite_figure *f = bench_suite_figure(&a, "b", "c", "m", "ns");
		f->better = better;
		bench_suite_add(f, before + i);
		f = bench_suite_figure(&b, "b", "c", "m", "ns");
		f->better = better;
		bench_suite_add(f, now + i);
	}
	enum bench_suite_verdict v = bench_suite_judge(&a.figures[0], &b.figures[0], &r);
	bench_suite_deinit(&a);
	bench_suite_deinit(&b);
	return v;
}

static void better_is_by_the_figure(void **state)
{
	(void)state;
	assert_int_equal(judge(BENCH_HIGHER, 100, 200), BENCH_SUITE_BETTER);
	assert_int_equal(judge(BENCH_HIGHER, 200, 100), BENCH_SUITE_WORSE);
	assert_int_equal(judge(BENCH_LOWER, 100, 200), BENCH_SUITE_WORSE);
	assert_int_equal(judge(BENCH_LOWER, 200, 100), BENCH_SUITE_BETTER);
	assert_int_equal(judge(BENCH_LOWER, 100, 101), BENCH_SUITE_SAME);
	assert_int_equal(judge(BENCH_FACT, 100, 200), BENCH_SUITE_FACT);
	assert_int_equal(judge(BENCH_LOWER, 0, 100), BENCH_SUITE_UNKNOWN);
}

static int read_text(struct bench_suite *s, const char *text, struct error *err)
{
	*err = (struct error){0};
	return bench_suite_read(s, text, strlen(text), "old.json", err);
}

static void need_reader(void)
{
	struct bench_suite s;
	struct error err;

	if (read_text(&s, "{}", &err) == -ENOTSUP)
		skip();
}

static void a_suite_is_read(void **state)
{
	struct bench_suite s;
	struct error err;

	(void)state;
	need_reader();
	int code = read_text(&s,
			     "{" HEAD ", \"figures\": [" FIGURE "], \"skipped\": [{\"bench\": "
			     "\"rotation\", \"reason\": \"no \\u001b[31mPMU\"}], \"more\": {}}",
			     &err);
	assert_string_equal(err.text, "");
	assert_int_equal(code, 0);
	assert_int_equal(s.runs, 3);
	assert_int_equal(s.cpus, 2);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.figures[0].of, "4 threads");
	assert_int_equal(s.figures[0].better, BENCH_LOWER);
	assert_int_equal(s.figures[0].n, 3);
	assert_true(fabs(s.figures[0].v[1] - 2.5) < 1e-12);
	/* A text that is shown on a terminal later must not contain control sequences. */
	assert_null(strchr(s.skipped[0].why, '\033'));
	bench_suite_deinit(&s);
}

static void what_is_no_suite_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{"", "old.json:"},
		{"nonsense", "old.json:1:"},
		{"{" HEAD "\n, \"figures\": [1,,2]}", "old.json:2:"},
		{"[]", "the whole: it is no object"},
		{"{}", "the whole: 'schema' is no text"},
		{"{\"schema\": 7}", "'schema' is no text"},
		{"{" HEAD "}", "figures: it is no list"},
		{"{" HEAD ", \"figures\": {}}", "figures: it is no list"},
		{"{" HEAD ", \"figures\": []}", "skipped: it is no list"},
		{"{" HEAD ", \"figures\": [[]]}", "figures[0]: it is no object"},
		{"{" HEAD ", \"figures\": [" FIGURE ", " FIGURE "], \"skipped\": []}",
		 "figures[1]: it is there twice"},
		{"{" HEAD ", \"figures\": [{\"bench\": \"x\"}]}", "figures[0]: 'case' is no text"},
		{"{" HEAD ", \"figures\": [{\"bench\": \"x\", \"case\": \"\", \"metric\": \"\", "
		 "\"unit\": \"\", \"better\": \"worse\", \"values\": []}]}",
		 "none of fact, higher and lower"},
		{"{" HEAD ", \"figures\": [{\"bench\": \"x\", \"case\": \"\", \"metric\": \"\", "
		 "\"unit\": \"\", \"better\": \"fact\", \"values\": [\"1\"]}]}",
		 "'values' has a value that is no number"},
		{"{" HEAD ", \"cpus\": 3, \"figures\": []}", "duplicate"},
		{"{\"schema\": \"kontend.bench/1\", \"date\": \"\", \"host\": \"\", \"kernel\": "
		 "\"\", \"machine\": \"\", \"version\": \"\", \"cpus\": 1, \"runs\": 1}",
		 "schema: it is not kontend.bench.suite/1"},
		{"{\"schema\": \"kontend.bench.suite/1\", \"date\": \"\", \"host\": \"\", "
		 "\"kernel\": \"\", \"machine\": \"\", \"version\": \"\", \"cpus\": -1, \"runs\": "
		 "1}",
		 "'cpus' is no number from 0"},
		{"{\"cpus\": 1e999}", "old.json:1:"},
		{"{\"cpus\": 99999999999999999999999}", "old.json:1:"},
		{"{\"schema\": \"\\ud800\"}", "old.json:1:"},
	};
	struct bench_suite s;
	struct error err;

	(void)state;
	need_reader();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(read_text(&s, bad[i].text, &err), -EBADMSG);
		if (!strstr(err.text, bad[i].place))
			fail_msg("%s: said \"%s\"", bad[i].text, err.text);
		assert_int_equal(strncmp(err.text, "old.json", 8), 0);
		assert_null(s.figures);
	}
}

static void deep_nesting_is_refused(void **state)
{
	static char deep[200001];
	struct bench_suite s;
	struct error err = {0};

	(void)state;
	need_reader();
	memset(deep, '[', sizeof(deep) - 1);
	assert_int_equal(bench_suite_read(&s, deep, sizeof(deep) - 1, "old.json", &err), -EBADMSG);
}

static void long_words_are_refused(void **state)
{
	static char text[4096];
	struct bench_suite s;
	struct error err;

	(void)state;
	need_reader();
	snprintf(text, sizeof(text), "{\"schema\": \"%01000d\"}", 7);
	assert_int_equal(read_text(&s, text, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "longer than"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_kept_by_name),
		cmocka_unit_test(better_is_by_the_figure),
		cmocka_unit_test(a_suite_is_read),
		cmocka_unit_test(what_is_no_suite_is_refused_with_its_place),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(long_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
