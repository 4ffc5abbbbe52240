// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenMetrics text: a strict reader, which is first shown what is wrong, then what we write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/filelock.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/openmetrics.h"
#include "kontend/userlock.h"
#include "openmetrics.h"
#include "random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define G "# TYPE g gauge\n"
#define C "# TYPE c counter\n"
#define H "# TYPE h histogram\n"
#define EOT "# EOF\n"
#define TAIL "h_count 2\nh_sum 3\n" EOT

static void the_reader_finds_what_is_wrong(void **state)
{
	static const char *const bad[] = {
		"",
		"# EOF",
		EOT "g 1\n",
		G "g 1\n",
		"g 1\n" EOT,
		"# HELP g text\n" EOT,
		"# TYPE g info\n" EOT,
		G G EOT,
		G "g 1\n" C "c_total 1\n" G "g{a=\"b\"} 1\n" EOT,
		G "# UNIT g seconds\n" EOT,
		G "# HELP g a\n# HELP g b\n" EOT,
		G "\ng 1\n" EOT,
		G "g 1\ng 2\n" EOT,
		G "g_total 1\n" EOT,
		G "g -1\n" EOT,
		G "g 1 123456\n" EOT,
		G "g NaN\n" EOT,
		G "g{a=b} 1\n" EOT,
		G "g{a=\"b} 1\n" EOT,
		G "g{a=\"\\q\"} 1\n" EOT,
		G "g{a=\"\t\"} 1\n" EOT,
		G "g{a=\"b\",a=\"c\"} 1\n" EOT,
		G "g{1a=\"b\"} 1\n" EOT,
		G "g{a=\"b\" 1\n" EOT,
		C "c 1\n" EOT,
		H "h_bucket{le=\"1\"} 1\n" TAIL,
		H "h_bucket{le=\"+Inf\"} 2\n" EOT,
		H "h_bucket 2\n" TAIL,
		H "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 3\n" TAIL,
		H "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
		H "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
		H "h_bucket{a=\"b\",le=\"+Inf\"} 2\n" TAIL,
		G "g 1 # {a=\"b\"} 1 1\n" EOT,
		H "h_bucket{le=\"1\"} 0 # {a=\"b\"} 1 1\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
		H "h_bucket{le=\"1\"} 2 # {a=\"b\"} 2 1\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
		H "h_bucket{le=\"1\"} 2 # {a=b} 1 1\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
		H "h_bucket{le=\"1\"} 2 # {a=\"b\"} 1\nh_bucket{le=\"+Inf\"} 2\n" TAIL,
	};
	static const char good[] =
		G "# HELP g one\ng{a=\"\\\\\\\"\\n\",b=\"\"} 1.5\ng 0\n" C "c_total 7\n" H
		  "h_bucket{le=\"1\"} 1 # {a=\"b\"} 0.5 1.25\nh_bucket{le=\"+Inf\"} 2\n" TAIL;
	char why[128] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!openmetrics_check(bad[i], why, sizeof(why)))
			fail_msg("taken though wrong: %s", bad[i]);
	if (openmetrics_check(good, why, sizeof(why)))
		fail_msg("not taken: %s", why);
}

static int write_once(struct query *q, const struct openmetrics_spec *s, FILE *out,
		      struct error *err)
{
	struct openmetrics *m;

	if (openmetrics_new(&m, s) < 0)
		return -ENOMEM;
	int r = openmetrics_add(m, q, err);
	if (r == 0)
		r = openmetrics_put(m, out, err);
	openmetrics_free(m);
	return r;
}

static char *write_metrics(struct query *q, const struct openmetrics_spec *s)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(q);
	if (write_once(q, s, f, &err) < 0)
		fail_msg("write_once: %s", err.text);
	fclose(f);
	return text;
}

static void check(const char *text)
{
	char why[128] = "";
	size_t line = openmetrics_check(text, why, sizeof(why));

	if (line)
		fail_msg("line %zu: %s\n%s", line, why, text);
}

static void near(double got, double want)
{
	if (got < want * 0.999999999 || got > want * 1.000000001)
		fail_msg("%.12f instead of %.12f", got, want);
}

static void says_what_the_tables_say(void **state)
{
	struct asked *w = *state;
	struct openmetrics_spec s = {.callers = 20, .version = "1.2.3"};
	char *text = write_metrics(&w->q, &s);

	check(text);
	golden_check(text, "export-openmetrics");
	near(openmetrics_value(
		     text,
		     "kontend_lock_wait_seconds_sum{type=\"rwsem\",mode=\"W\",world=\"kernel\"}"),
	     0.165);
	near(openmetrics_value(
		     text,
		     "kontend_lock_wait_seconds_count{type=\"rwsem\",mode=\"W\",world=\"kernel\"}"),
	     30);
	near(openmetrics_value(text,
			       "kontend_lock_waiters{type=\"rwsem\",mode=\"R\",world=\"kernel\"}"),
	     1);
	near(openmetrics_value(
		     text, "kontend_lock_failed_total{type=\"mutex\",mode=\"\",world=\"kernel\"}"),
	     1);
	near(openmetrics_value(text, "kontend_longest_wait_seconds"), 0.4);
	near(openmetrics_value(text, "kontend_incomplete_total{reason=\"lost\"}"), 3);
	free(text);
}

static void keeps_the_callers_that_wait_most(void **state)
{
	struct asked *w = *state;
	struct openmetrics_spec s = {.callers = 1};
	char *text = write_metrics(&w->q, &s);
	const char *first = strstr(text, "kontend_caller_wait_seconds_total{");

	check(text);
	assert_non_null(first);
	assert_non_null(strstr(first, "caller=\"vm_mmap_pgoff\""));
	assert_null(strstr(first + 1, "kontend_caller_wait_seconds_total{"));
	free(text);
}

/* Two functions of one name, and names that need escapes. */
static int setup_hostile(void **state)
{
	struct asked *w;
	uint64_t a = 0xffffffff81001010, b = 0xffffffff81002010, c = 0xffffffff81003010;

	if (asked_setup_empty(state) < 0)
		return -1;
	w = *state;
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, "ffffffff81001000 t twin\nffffffff81002000 t twin\n"
				     "ffffffff81003000 t a\"b\\c\x1b\xff\n");
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t *frame = i == 0 ? &a : i == 1 ? &b : &c;
		uint64_t at = CANNED_START + i * 1000;

		synth_begin(w->rig.synth, 0, at, 7, 7, 0xffff888000001000 + i * 64, 0, frame, 1);
		synth_end(w->rig.synth, 0, at + 500, 7, 7, 0xffff888000001000 + i * 64, 0);
	}
	synth_round(w->rig.synth, CANNED_START + 5000);
	asked_play(w, NULL);
	return 0;
}

/* In files and of callers, too. */
static void says_whose_locks_they_are(void **state)
{
	const uint64_t at = CANNED_START, user = userlock_addr(1, 64),
		       file = filelock_addr(FILELOCK_FLOCK, 1, 2);
	const struct openmetrics_spec spec = {0};
	struct asked *w = *state;
	struct synth *s;

	rig_init(&w->rig, 1);
	s = w->rig.synth;
	synth_round(s, at);
	synth_begin(s, 0, at + 10, 7, 8, user, userlock_flags(USERLOCK_RWLOCK, 0), NULL, 0);
	synth_end(s, 0, at + 20, 7, 8, user, 0);
	synth_begin(s, 0, at + 30, 7, 8, file, filelock_flags(FILELOCK_FLOCK, 1), NULL, 0);
	synth_tick(s, CANNED_END);
	asked_play(w, NULL);
	char *text = write_metrics(&w->q, &spec);
	check(text);
	near(openmetrics_value(text, "kontend_lock_wait_seconds_count{type=\"rwlock(u)\",mode="
				     "\"W\",world=\"user\"}"),
	     1);
	near(openmetrics_value(text, "kontend_lock_waiters{type=\"flock\",mode=\"R\",world="
				     "\"file\"}"),
	     1);
	assert_non_null(strstr(text, "type=\"rwlock(u)\",mode=\"W\",world=\"user\"} 1\n"));
	free(text);
}

static void names_make_no_sample_wrong_or_double(void **state)
{
	struct asked *w = *state;
	struct openmetrics_spec s = {0};
	char *text = write_metrics(&w->q, &s);

	check(text);
	near(openmetrics_value(text, "kontend_caller_contentions_total{caller=\"twin\","
				     "type=\"semaphore\",mode=\"\",world=\"kernel\"}"),
	     2);
	assert_non_null(strstr(text, "caller=\"a\\\"b\\\\c??\""));
	free(text);
}

static void nothing_measured_is_no_error(void **state)
{
	struct asked *w = *state;
	struct openmetrics_spec s = {0};

	rig_init(&w->rig, 1);
	asked_play(w, NULL);
	char *text = write_metrics(&w->q, &s);
	check(text);
	near(openmetrics_value(text, "kontend_events_total") + 1, 1);
	free(text);
}

static void failures_are_said(void **state)
{
	struct asked *w = *state;
	struct openmetrics_spec s = {0};
	struct error err = {0};
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
	long n;

	assert_non_null(full);
	assert_non_null(null);
	query_begin(&w->q);
	assert_int_equal(write_once(&w->q, &s, full, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(full);
	for (n = 0;; n++) {
		err = (struct error){0};
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = write_once(&w->q, &s, null, &err);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 2);
	fclose(null);
}

/* --- totals that go on ---------------------------------------------------------------------------
 */

static void add_engine(struct openmetrics *m, struct engine *e)
{
	struct error err = {0};
	struct query q;

	assert_int_equal(query_init(&q, e), 0);
	query_begin(&q);
	assert_int_equal(openmetrics_add(m, &q, &err), 0);
	query_deinit(&q);
}

static char *print_metrics(const struct openmetrics *m)
{
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(openmetrics_put(m, f, &err), 0);
	fclose(f);
	check(text);
	return text;
}

/* Answers how many counters there are. */
static unsigned assert_grown(const char *before, const char *now)
{
	char sample[1024];
	unsigned n = 0;

	if (openmetrics_fell(before, now, &n, sample, sizeof(sample)))
		fail_msg("%s fell to %f", sample, openmetrics_value(now, sample));
	return n;
}

/* Plays a random stream, and takes the totals at every @step-th tick, and at the end. */
static char *play_totals(const struct random_plan *p, const struct model_limits *limits,
			 unsigned step, unsigned *ret_compared)
{
	const struct openmetrics_spec s = {.version = "1"};
	struct error err = {0};
	struct openmetrics *m;
	struct engine e;
	struct rig rig;
	char *text = NULL;
	unsigned ticks = 0;
	int r = 0;

	random_stream(&rig, p);
	assert_int_equal(engine_init(&e, synth_source(rig.synth), limits, &err), 0);
	assert_int_equal(openmetrics_new(&m, &s), 0);
	while (r != ENGINE_END) {
		r = engine_pump(&e, 0, &err);
		assert_true(r >= 0);
		if (r != ENGINE_END && (r != ENGINE_TICK || ++ticks % step))
			continue;
		add_engine(m, &e);
		model_zero(e.model);
		char *now = print_metrics(m);
		*ret_compared += text ? assert_grown(text, now) : 0;
		free(text);
		text = now;
	}
	openmetrics_free(m);
	engine_deinit(&e);
	rig_deinit(&rig);
	return text;
}

static void totals_do_not_depend_on_when_they_are_taken(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (uint32_t seed = 1; seed < 5; seed++) {
		struct random_plan p = {.events = 4000, .locks = 40, .seed = seed};
		char *once = play_totals(&p, NULL, UINT32_MAX, &compared);
		char *often = play_totals(&p, NULL, seed, &compared);

		assert_string_equal(once, often);
		assert_true(openmetrics_value(once, "kontend_events_total") > 1000);
		free(once);
		free(often);
	}
	assert_true(compared > 100);
}

/* Where the model has no room for all, and forgets who waited. */
static void totals_never_fall(void **state)
{
	const struct model_limits small = {
		.locks = 64, .stacks = 24, .tasks = 32, .cells = 256, .hist_groups = 2048};
	struct random_plan p = {.events = 30000, .locks = 2000, .seed = 5, .rarity = 3000};
	unsigned compared = 0;

	(void)state;
	free(play_totals(&p, &small, 3, &compared));
	assert_true(compared > 100);
}

enum { MANY_CALLERS = 5000 };

static struct synth *many_callers(char **ret_kallsyms)
{
	struct synth *s = synth_new(1);
	size_t len;
	FILE *f = open_memstream(ret_kallsyms, &len);

	for (unsigned i = 0; i < MANY_CALLERS; i++)
		fprintf(f, "%016llx t caller_%04u\n", 0xffffffff82000000ull + i * 256ull, i);
	fclose(f);
	synth_prologue(s, *ret_kallsyms);
	for (uint64_t i = 0; i < MANY_CALLERS; i++) {
		uint64_t frame = 0xffffffff82000010 + i * 256, t = CANNED_START + i * 2000;

		synth_begin(s, 0, t, 7, 7, 0xffff888000001000, LCB_F_MUTEX, &frame, 1);
		synth_end(s, 0, t + 1000, 7, 7, 0xffff888000001000, 0);
		if (i % 500 == 499)
			synth_tick(s, t + 1500);
	}
	return s;
}

static void callers_have_a_bound(void **state)
{
	const struct openmetrics_spec spec = {0};
	const char *other = "kontend_caller_contentions_total{caller=\"other\",type=\"mutex\","
			    "mode=\"\",world=\"kernel\"}";
	struct error err = {0};
	struct openmetrics *m;
	struct engine e;
	char *kallsyms;
	struct synth *s = many_callers(&kallsyms);
	unsigned n = 0;
	int r = 0;

	(void)state;
	assert_int_equal(engine_init(&e, synth_source(s), NULL, &err), 0);
	assert_int_equal(openmetrics_new(&m, &spec), 0);
	while (r != ENGINE_END) {
		r = engine_pump(&e, 0, &err);
		if (r == ENGINE_TICK) {
			add_engine(m, &e);
			model_zero(e.model);
		}
	}
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	assert_int_equal(openmetrics_put(m, f, &err), 0);
	fclose(f);
	for (const char *at = text; (at = strstr(at, "kontend_caller_contentions_total{")); at++)
		n++;
	assert_in_range(n, 4096, 4096 + LOCK_TYPES);
	near(openmetrics_value(text, other), MANY_CALLERS - 4096);
	free(text);
	free(kallsyms);
	openmetrics_free(m);
	engine_deinit(&e);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_whose_locks_they_are, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test(the_reader_finds_what_is_wrong),
		cmocka_unit_test_setup_teardown(says_what_the_tables_say, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(keeps_the_callers_that_wait_most, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(names_make_no_sample_wrong_or_double, setup_hostile,
						asked_teardown),
		cmocka_unit_test_setup_teardown(nothing_measured_is_no_error, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(failures_are_said, asked_setup, asked_teardown),
		cmocka_unit_test(totals_do_not_depend_on_when_they_are_taken),
		cmocka_unit_test(totals_never_fall),
		cmocka_unit_test(callers_have_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
