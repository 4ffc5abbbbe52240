// SPDX-License-Identifier: GPL-2.0-only
/* Known waits: what begins and ends of calls say of them, and what the workloads say they made. */
#include "bench/bench-lock-int.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Calls hold for 100, and take 10 on their way in and out. */
enum { HOLD = 110, EMPTY = 10 };

static void who_comes_later_has_not_waited(void **state)
{
	const struct bench_lock_call calls[] = {{0, 110}, {120, 230}, {230, 340}};
	struct bench_lock_sum s = {0};

	(void)state;
	bench_lock_storm_sum(calls, 3, EMPTY, HOLD, &s);
	assert_int_equal(s.most, 0);
	assert_int_equal(s.least_ns, 0);
	assert_int_equal(s.most_ns, 0);
}

static void two_wait_for_each_other_in_turns(void **state)
{
	/* Each calls again at once: from the second on, all find the lock taken. */
	const struct bench_lock_call calls[] = {{0, 110}, {0, 210}, {112, 310}, {212, 410}};
	struct bench_lock_sum s = {0};

	(void)state;
	bench_lock_storm_sum(calls, 4, EMPTY, HOLD, &s);
	assert_int_equal(s.least, 3);
	assert_int_equal(s.most, 3);
	assert_int_equal(s.least_ns, 100 + 88 + 88);
	assert_int_equal(s.most_ns, 100 + 88 + 88);
	assert_int_equal(s.behind, 0); /* only the holder was there */
}

static void behind_others_is_told_apart(void **state)
{
	const struct bench_lock_call calls[] = {{0, 110}, {0, 210}, {0, 310}};
	struct bench_lock_sum s = {0};

	(void)state;
	bench_lock_storm_sum(calls, 3, EMPTY, HOLD, &s);
	assert_int_equal(s.least, 2);
	assert_int_equal(s.behind, 1);
	assert_int_equal(s.behind_ns, 200);
}

static void the_least_is_never_more_than_the_most(void **state)
{
	/* The first was put off its CPU between the lock and its note. */
	const struct bench_lock_call calls[] = {{0, 5000}, {10, 5001}, {4900, 5011}};
	struct bench_lock_sum s = {0};

	(void)state;
	bench_lock_storm_sum(calls, 3, EMPTY, HOLD, &s);
	assert_true(s.least <= s.most);
	assert_true(s.least_ns <= s.most_ns);
	bench_lock_storm_sum(calls, 0, EMPTY, HOLD, &s);
	bench_lock_storm_sum(calls, 1, EMPTY, HOLD, &s);
}

static void run(enum bench_lock_kind kind, uint64_t rounds, struct bench_lock_result *r)
{
	const struct bench_lock_options o = {.threads = 3, .rounds = rounds};
	struct error err = {0};
	int code = bench_lock(kind, &o, r, &err);

	if (code == -EPERM || code == -EOPNOTSUPP) {
		print_message("%s\n", err.text);
		skip();
	}
	assert_string_equal(err.text, "");
	assert_int_equal(code, 0);
}

static void check_sum(const struct bench_lock_result *r, size_t i, const char *type, uint64_t waits)
{
	const struct bench_lock_sum *s = &r->sums[i];

	if (type)
		assert_string_equal(s->type, type);
	else
		assert_null(s->type);
	assert_int_equal(s->least, waits);
	assert_int_equal(s->most, waits);
	assert_true(s->least_ns > 0 && s->least_ns <= s->most_ns);
}

static void each_waits_once_a_round(void **state)
{
	struct bench_lock_result r;

	(void)state;
	run(BENCH_LOCK_MUTEX, 2, &r);
	assert_int_equal(r.n_sums, 1);
	check_sum(&r, 0, "mutex", 6);
	assert_int_equal(r.holds, 2);
	/* Each of three waits for as long as it is held after the last one came. */
	assert_true(r.held_ns >= 40000000 && r.sums[0].least_ns >= 3 * 40000000);
	run(BENCH_LOCK_RWSEM, 2, &r);
	assert_int_equal(r.n_sums, 2);
	check_sum(&r, 0, "rwsem:W", 4);
	check_sum(&r, 1, "rwsem:R", 2);
}

static void a_lock_in_memory_is_none_of_the_kernel(void **state)
{
	struct bench_lock_result r;

	(void)state;
	run(BENCH_LOCK_FUTEX, 2, &r);
	assert_int_equal(r.n_sums, 2);
	check_sum(&r, 0, NULL, 6);
	assert_string_equal(r.sums[1].type, "spinlock");
	assert_true(r.calls > 0 && r.call_ns > 0);
}

static void calls_are_counted(void **state)
{
	struct bench_lock_result r;

	(void)state;
	run(BENCH_LOCK_SPINLOCK, 300, &r);
	assert_int_equal(r.calls, 300);
	assert_true(r.sums[0].most < 300);
	assert_true(r.sums[0].least <= r.sums[0].most);
}

static void what_is_too_much_is_said(void **state)
{
	struct bench_lock_options o = {.threads = 100};
	struct bench_lock_result r;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_lock(BENCH_LOCK_MUTEX, &o, &r, &err), -EINVAL);
	assert_non_null(strstr(err.text, "at most"));
	o = (struct bench_lock_options){.threads = 4, .rounds = UINT64_MAX};
	err = (struct error){0};
	assert_int_equal(bench_lock(BENCH_LOCK_RWSEM, &o, &r, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--rounds"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_later_has_not_waited),
		cmocka_unit_test(two_wait_for_each_other_in_turns),
		cmocka_unit_test(behind_others_is_told_apart),
		cmocka_unit_test(the_least_is_never_more_than_the_most),
		cmocka_unit_test(each_waits_once_a_round),
		cmocka_unit_test(a_lock_in_memory_is_none_of_the_kernel),
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(what_is_too_much_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
