// SPDX-License-Identifier: GPL-2.0-only
/* The server of `bench uprobe` and its client: both answer, both end, for each kind of request. */
#include "kontend/bench-request.h"

#include "kontend/units.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARTS = 3, PART_NS = 5000000 };

static int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* No call in the time of a measurement is no cost of 0 ns, in no form. */
static void without_a_call_there_is_no_figure(void **state)
{
	struct bench_parts none = {0}, some = {0};
	char buf[UNITS_BUF];

	(void)state;
	for (int i = 0; i < PARTS; i++)
		bench_parts_add(&none, 0, 1000000);
	struct bench_parts_result r = bench_parts_sum(&none, 5000);
	assert_true(isnan(r.per_s) && isnan(r.deviation) && isnan(r.cost_ns));
	assert_string_equal(bench_parts_cost(buf, r.cost_ns), "-");
	bench_parts_add(&some, 10, 1000000);
	bench_parts_add(&some, 30, 1000000);
	r = bench_parts_sum(&some, 400000);
	assert_true(fabs(r.per_s - 20000) < 1e-6 && fabs(r.deviation - 10000) < 1e-6);
	assert_string_equal(bench_parts_cost(buf, r.cost_ns), "10.0us");
}

static void requests_are_answered(void **state)
{
	int before = count_descriptors();

	(void)state;
	for (int op = 0; op < BENCH_REQUEST_OPS; op++)
		for (int kind = 0; kind < UPROBE_TARGET_KINDS; kind++) {
			struct bench_request_row r = {.op = (enum bench_request_op)op,
						      .kind = (enum uprobe_target)kind};
			struct error err = {0};
			assert_int_equal(bench_request_row(&r, PARTS, PART_NS, &err), 0);
			/* In so short a time a busy machine may have answered none. */
			assert_int_equal(isnan(r.took.per_s), isnan(r.took.cost_ns));
			assert_true(isnan(r.took.per_s) ||
				    (r.took.per_s > 0 && r.took.deviation >= 0));
		}
	assert_int_equal(count_descriptors(), before);
}

/* On a machine that is very busy a short time may have none. */
static void in_time_some_are(void **state)
{
	struct bench_request_row r = {.op = BENCH_REQUEST_SET};
	struct error err = {0};

	(void)state;
	for (uint64_t ns = PART_NS; !(r.took.per_s > 0); ns *= 2) {
		assert_true(ns < 60000000000ull);
		assert_int_equal(bench_request_row(&r, 1, ns, &err), 0);
	}
	assert_true(r.took.cost_ns > 0);
}

static void a_probe_that_is_refused_says_so(void **state)
{
	struct bench_request_row r = {.op = BENCH_REQUEST_GET, .probed = true};
	struct error err = {0};

	(void)state;
	int code = bench_request_row(&r, 1, PART_NS, &err);
	assert_true(code == 0 || err.text[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_call_there_is_no_figure),
		cmocka_unit_test(requests_are_answered),
		cmocka_unit_test(in_time_some_are),
		cmocka_unit_test(a_probe_that_is_refused_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
