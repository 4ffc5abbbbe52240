// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results of the breakpoint benchmark from given times, by figures that were published and by
 * made-up lists; and the workload itself, as far as any machine can run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/bench-breakpoint.h"

#include <errno.h>
#include <string.h>

static void close_to(double is, double wanted)
{
	if (is < wanted - 1e-6 || is > wanted + 1e-6)
		fail_msg("%f is not %f", is, wanted);
}

/* 1920 threads in 0.207873 s, side by side 64: 108.267188 usecs/op, 6929.1 usecs/op/cpu. */
static void operations_are_those_of_perf_bench(void **state)
{
	const struct bench_breakpoint_options o = {.parallelism = 64, .threads = 64, .repeat = 30};
	struct bench_breakpoint_sum sum;
	uint64_t ns[] = {207873000};

	(void)state;
	assert_int_equal(bench_breakpoint_sum(ns, 1, &o, &sum), 0);
	close_to(sum.usecs_op, 108.2671875);
	close_to(sum.usecs_op_cpu, 6929.1);
	close_to(sum.median, sum.usecs_op);
	close_to(sum.deviation, 0);
}

static void the_middle_is_not_the_average(void **state)
{
	const struct bench_breakpoint_options o = {.parallelism = 2, .threads = 2, .repeat = 5};
	struct bench_breakpoint_sum sum;
	uint64_t even[] = {90000, 10000, 30000, 20000}, odd[] = {70000, 10000, 40000};

	(void)state;
	assert_int_equal(bench_breakpoint_sum(even, 4, &o, &sum), 0);
	close_to(sum.usecs_op, 3.75);
	close_to(sum.usecs_op_cpu, 7.5);
	close_to(sum.median, 2.5);
	close_to(sum.deviation, 3.593976442);
	assert_int_equal(even[0], 10000);
	assert_int_equal(even[3], 90000);
	assert_int_equal(bench_breakpoint_sum(odd, 3, &o, &sum), 0);
	close_to(sum.median, 4);
	assert_int_equal(bench_breakpoint_sum(odd, 0, &o, &sum), 0);
	close_to(sum.usecs_op, 0);
	close_to(sum.median, 0);
}

static void percentiles_are_of_what_was_seen(void **state)
{
	uint64_t v[200];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		v[i] = i + 1;
	assert_int_equal(bench_breakpoint_percentile(v, 200, 50), 100);
	assert_int_equal(bench_breakpoint_percentile(v, 200, 99), 198);
	assert_int_equal(bench_breakpoint_percentile(v, 200, 100), 200);
	assert_int_equal(bench_breakpoint_percentile(v, 200, 0), 1);
	assert_int_equal(bench_breakpoint_percentile(v, 1, 99), 1);
	assert_int_equal(bench_breakpoint_percentile(v, 3, 50), 2);
	assert_int_equal(bench_breakpoint_percentile(v, 0, 50), 0);
}

/* Needs no breakpoint, so that it runs everywhere. */
static void runs_without_breakpoints(void **state)
{
	const struct bench_breakpoint_options o = {.parallelism = 3, .threads = 5, .repeat = 7};
	struct bench_breakpoint b;
	struct error err = {0};
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(bench_breakpoint_start(&b, &o, &err), 0);
	for (int i = 0; i < 3; i++) {
		ns = 0;
		assert_int_equal(bench_breakpoint_run(&b, &ns, &err), 0);
		assert_true(ns > 0);
	}
	assert_int_equal(b.breakpoints, 0);
	bench_breakpoint_stop(&b);
	assert_int_equal(b.pid, 0);
	bench_breakpoint_stop(&b);
}

/* No machine has so many slots; the message is one sentence that names the missing ones. */
static void too_many_are_refused(void **state)
{
	struct bench_breakpoint_options o = {
		.breakpoints = 1000, .parallelism = 1, .threads = 1, .repeat = 1};
	struct bench_breakpoint b;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_breakpoint_start(&b, &o, &err), -ENOSPC);
	assert_non_null(
		strstr(err.text, "of 1000: there is no free slot (No space left on device)"));
	bench_breakpoint_stop(&b);
	o.breakpoints = 64;
	err = (struct error){0};
	assert_true(bench_breakpoint_start(&b, &o, &err) < 0);
	assert_true(err.text[0]);
	bench_breakpoint_stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_those_of_perf_bench),
		cmocka_unit_test(the_middle_is_not_the_average),
		cmocka_unit_test(percentiles_are_of_what_was_seen),
		cmocka_unit_test(runs_without_breakpoints),
		cmocka_unit_test(too_many_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
