// SPDX-License-Identifier: GPL-2.0-only
/* The table of stories is whole, and figures come back from their lines, with the published ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/bench.h"
#include "kontend/mem.h"
#include "kontend/opts.h"
#include "kontend/screen-views.h"
#include "kontend/story-figures.h"
#include "kontend/story-names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_word(const char *words, const char *word)
{
	const char *at = strstr(words, word);
	size_t n = strlen(word);

	return at && (at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]);
}

static void test_table(void **state)
{
	char names[256] = "";

	(void)state;
	for (const struct story *s = story_table; s->name; s++) {
		if (*names)
			strcat(names, " ");
		strcat(names, s->name);
		assert_ptr_equal(story_find(s->name), s);
		assert_true(s->title && s->compare && s->recorded && s->measure && s->views &&
			    s->at);
		assert_true(!s->bench == !!s->work);
		assert_in_range(story_n_callouts(s), 3, STORY_CALLOUTS - 1);
		for (size_t i = 0; i < story_n_callouts(s); i++) {
			assert_true(is_word(SCREEN_VIEWS_WORDS, s->callouts[i].view));
			assert_true(s->callouts[i].title && s->callouts[i].text);
		}
		for (const struct story_row *row = s->rows; row->what; row++) {
			assert_true(row < s->rows + STORY_ROWS - 1);
			assert_true(strlen(row->what) < 38);
			assert_true(s->published || (isnan(row->before) && isnan(row->after)));
		}
	}
	assert_string_equal(names, STORY_NAMES);
	assert_null(story_find("fok"));
}

/* Each recording that ships opens, and has the figures of its rows but for what needs a PMU. */
static void test_recorded(void **state)
{
	char path[STORY_PATH];
	struct error err = {0};
	const char *unit;

	(void)state;
	for (const struct story *s = story_table; s->name; s++) {
		struct story_figures f;
		unsigned missing = 0;
		assert_int_equal(story_figures_recorded(s, &f, &err), 0);
		assert_true(f.n > 3);
		for (const struct story_row *row = s->rows; row->what; row++)
			missing += isnan(story_figures_value(&f, row, &unit)) != 0;
		if (missing > !strcmp(s->name, "faults"))
			fail_msg("%s lacks %u figures", s->name, missing);
		story_figures_deinit(&f);
		assert_int_equal(story_recording(s, path, &err), 0);
		assert_int_equal(access(path, R_OK), 0);
		close(atoi(strrchr(path, '/') + 1));
	}
}

static int parse(struct story_figures *f, const char *text)
{
	return story_figures_parse(f, story_find("faults"), text, strlen(text));
}

static const char lines[] = "# a comment\n"
			    "faults\tkernel, 1 threads\treal\tns\t8000000\n"
			    "slots\tkernel, 1 threads\treal\tns\t1\n"
			    "faults\tkernel, 2 threads\treal\tns\t5000000\n"
			    "faults\tkernel, 4 threads\treal\tns\t2000000\n"
			    "faults\tkernel\ttrylock_again\t1\tnan\n";

static void test_parse(void **state)
{
	static const char *const bad[] = {"faults\tkernel\treal\tns\n",
					  "faults\tkernel\treal\tns\tsoon\n",
					  "faults\tkernel\treal\tns\t\n",
					  "faults\tkernel\treal\tns\t1",
					  "\n",
					  "faults\tkernel\treal\tns\t1\t2\n"};
	const struct story_row *row = story_find("faults")->rows;
	struct story_figures f;
	const char *unit;

	(void)state;
	assert_int_equal(parse(&f, lines), 0);
	assert_int_equal(f.n, 4);
	assert_float_equal(story_figures_value(&f, &row[0], &unit), 8e6, 1);
	assert_string_equal(unit, "ns");
	/* The last of them, and the ratio with the first. */
	assert_float_equal(story_figures_value(&f, &row[1], &unit), 2e6, 1);
	assert_float_equal(story_figures_value(&f, &row[2], &unit), 4, 1e-9);
	assert_string_equal(unit, "x");
	assert_true(isnan(story_figures_value(&f, &row[3], &unit)));
	story_figures_deinit(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse(&f, bad[i]), -EINVAL);
	assert_int_equal(parse(&f, ""), 0);
	assert_int_equal(f.n, 0);
}

static void test_memory(void **state)
{
	struct story_figures f;

	(void)state;
	long before = mem_live();
	mem_fail_after(0);
	assert_int_equal(parse(&f, lines), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(mem_live(), before);
}

static char *written(bool json)
{
	struct story_figures f;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(parse(&f, lines), 0);
	(json ? story_figures_json : story_figures_text)(out, story_find("faults"), &f, "a machine",
							 json);
	fclose(out);
	story_figures_deinit(&f);
	return text;
}

static void test_written(void **state)
{
	char *text = written(false), *json = written(true);

	(void)state;
	assert_non_null(strstr(text, "before         after          here\n"));
	assert_non_null(strstr(text, " 1m05s         1m05s        8.00ms\n"));
	assert_non_null(strstr(text, " 10.5x         11.8x            4x\n"));
	assert_non_null(strstr(text, "\nhere: a machine\n"));
	assert_non_null(strstr(json, "\"recorded\": true"));
	assert_non_null(strstr(json, "\"value\": 4.000, \"published_before\": 10.520"));
	assert_non_null(strstr(json, "\"value\": null"));
	free(text);
	free(json);
}

/* Lines of a workload are read again. */
static void test_round(void **state)
{
	static const struct bench_metric real = {"real", "ns", BENCH_LOWER};
	struct bench_figures from = {0};
	struct story_figures f;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	bench_figures_put(&from, &real, 1234567, "kernel, %u threads", 1);
	bench_figures_put(&from, &real, (double)NAN, "kernel, %u threads", 2);
	story_figures_write(out, story_find("faults"), &from);
	fclose(out);
	assert_int_equal(parse(&f, text), 0);
	assert_int_equal(f.n, 2);
	assert_float_equal(f.v[0].value, 1234567, 0.1);
	assert_true(isnan(f.v[1].value));
	story_figures_deinit(&f);
	bench_figures_deinit(&from);
	free(text);
}

static int parse_line(const char *verb, const char *options)
{
	char line[256], *words[32], *rest = NULL;
	struct error err = {0};
	struct opts o;
	int n = 0;

	snprintf(line, sizeof(line), "kontend %s %s", verb, options);
	for (char *w = strtok_r(line, " ", &rest); w && n < 31; w = strtok_r(NULL, " ", &rest))
		words[n++] = w;
	words[n] = NULL;
	return opts_parse(&o, n, words, &err);
}

/* Options of the table are those of the verbs that get them. */
static void test_options(void **state)
{
	struct bench_figures f;
	struct error err = {0};

	(void)state;
	for (const struct story *s = story_table; s->name; s++) {
		assert_int_equal(parse_line("live", s->measure), 0);
		assert_int_equal(parse_line("record", s->measure), 0);
		assert_int_equal(parse_line("report", s->measure), 0);
		if (s->bench)
			assert_int_equal(parse_line("bench", s->bench), 0);
		if (s->load)
			assert_int_equal(parse_line("", s->load), 0);
	}
	assert_int_equal(bench_line("nosuch -n 3", &f, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no benchmark 'nosuch"));
	err = (struct error){0};
	assert_int_equal(bench_line("futex --rounds soon", &f, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--rounds 'soon'"));
	err = (struct error){0};
	assert_int_equal(bench_line("suite", &f, &err), -EINVAL);
}

/* One sentence says why a story cannot run. */
static void test_check(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(story_check(story_find("fork"), 0, &err), -EPERM);
	assert_non_null(strstr(err.text, "CAP_PERFMON"));
	assert_int_equal(story_check(story_find("fork"), UINT64_MAX, &err), 0);
	setenv("PATH", "/nonexistent", 1);
	err = (struct error){0};
	assert_int_equal(story_check(story_find("java"), UINT64_MAX, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no java"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_parse),	cmocka_unit_test(test_memory),
		cmocka_unit_test(test_written), cmocka_unit_test(test_round),
		cmocka_unit_test(test_options), cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
