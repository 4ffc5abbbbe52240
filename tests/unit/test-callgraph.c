// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of --call-graph, and the request to the kernel that they lead to. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/perf-attr.h"

static void check(const char *text, enum callgraph_mode mode, uint32_t bytes)
{
	struct callgraph c = {0};
	struct error err = {0};

	assert_int_equal(callgraph_parse(text, &c, &err), 0);
	assert_int_equal(c.mode, mode);
	assert_int_equal(c.dump_bytes, bytes);
}

static void ways_are_those_of_perf(void **state)
{
	(void)state;
	check("fp", CALLGRAPH_FP, 0);
	check("dwarf", CALLGRAPH_DWARF, 8192);
	check("dwarf,65528", CALLGRAPH_DWARF, 65528);
	check("dwarf,0x1000", CALLGRAPH_DWARF, 4096);
	check("lbr", CALLGRAPH_LBR, 0);
}

static void sizes_that_the_kernel_does_not_take_are_refused(void **state)
{
	static const char *const bad[] = {
		"dwarf,",      "dwarf,0",   "dwarf,12",
		"dwarf,65536", "dwarf,-8",  "dwarf,8k",
		"dwarf, 8",    "dwarf,1e3", "dwarf,99999999999999999999999"};
	struct callgraph c;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};
		assert_int_equal(callgraph_parse(bad[i], &c, &err), -EINVAL);
		assert_non_null(strstr(err.text, "multiple of 8"));
		assert_non_null(strstr(err.text, bad[i]));
	}
	struct error err = {0};
	assert_int_equal(callgraph_parse("dwarf8", &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "give fp, dwarf"));
	assert_int_equal(callgraph_parse("", &c, &err), -EINVAL);
}

static struct perf_event_attr attr(enum perf_event_index which, enum callgraph_mode mode)
{
	struct perf_attr_options o = {
		.how = {.max_stack = 24,
			.profile_hz = 499,
			.callgraph = {mode, mode == CALLGRAPH_DWARF ? 8192 : 0}},
		.wanted = {.data_maps = mode == CALLGRAPH_DWARF}};
	struct perf_event_attr ret;

	perf_attr_init(&ret, which, &o);
	return ret;
}

static void samples_alone_have_dumps(void **state)
{
	const uint64_t dump = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct perf_event_attr a = attr(PERF_PROFILE, CALLGRAPH_DWARF);

	(void)state;
	assert_true((a.sample_type & dump) == dump && a.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_int_equal(a.sample_stack_user, 8192);
	assert_int_equal(a.sample_regs_user, callgraph_registers());
	assert_true(a.exclude_callchain_user);
	a = attr(PERF_BEGIN, CALLGRAPH_DWARF);
	assert_false(a.sample_type & dump);
	assert_true(attr(PERF_DUMMY, CALLGRAPH_DWARF).mmap_data);
	assert_false(attr(PERF_DUMMY, CALLGRAPH_FP).mmap_data);
	a = attr(PERF_PROFILE, CALLGRAPH_FP);
	assert_false(a.sample_type & dump || a.exclude_callchain_user || a.sample_stack_user);
	a = attr(PERF_PROFILE, CALLGRAPH_LBR);
	assert_true(a.sample_type & PERF_SAMPLE_BRANCH_STACK && !(a.sample_type & dump));
	assert_true(a.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_are_those_of_perf),
		cmocka_unit_test(sizes_that_the_kernel_does_not_take_are_refused),
		cmocka_unit_test(samples_alone_have_dumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
