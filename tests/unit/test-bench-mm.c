// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmarks of one mmap_lock: they touch as many pages as they report, leave no mapping, and
 * refuse options that make no sense. Their speed is not tested here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kontend/bench-mm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)u.ru_minflt;
}

/* Of this process: bytes of its address space. */
static uint64_t mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu", &pages), 1);
	fclose(f);
	return pages * page();
}

static void page_faults_are_of_every_page_once(void **state)
{
	const struct bench_mm_options o = {.threads = 3, .bytes = 96 * page(), .rounds = 2};
	struct bench_mm_result r;
	struct error err = {0};
	uint64_t before = faults();

	(void)state;
	assert_int_equal(bench_mm_fault(&o, &r, &err), 0);
	assert_int_equal(r.threads, 3);
	assert_int_equal(r.pages, 192);
	assert_true(faults() - before >= 192);
	assert_true(r.real_ns > 0);
}

/* A remainder of the division is left out, at the end. */
static void parts_are_whole_pages(void **state)
{
	const struct bench_mm_options o = {.threads = 4, .bytes = 4 * 8 * page() + 5, .rounds = 1};
	struct bench_mm_result r;

	(void)state;
	assert_int_equal(bench_mm_fault(&o, &r, NULL), 0);
	assert_int_equal(r.pages, 32);
}

static void mappings_are_made_and_given_back(void **state)
{
	const struct bench_mm_options o = {.threads = 2, .bytes = 512 * page(), .rounds = 50};
	struct bench_mm_result r;

	(void)state;
	/* The first time makes the stacks of threads, which are kept. */
	assert_int_equal(bench_mm_map(&o, &r, NULL), 0);
	uint64_t before = mapped(), faulted = faults();
	assert_int_equal(bench_mm_map(&o, &r, NULL), 0);
	assert_int_equal(r.pages, 2 * 512 * 50);
	assert_true(faults() > faulted);
	assert_true(mapped() < before + 512 * page());
}

static void a_thread_for_each_cpu_by_default(void **state)
{
	const struct bench_mm_options o = {.bytes = 1 << 20, .rounds = 1};
	struct bench_mm_result r;

	(void)state;
	assert_int_equal(bench_mm_fault(&o, &r, NULL), 0);
	assert_true(r.threads >= 1);
	assert_int_equal(r.pages, (1 << 20) / r.threads / page() * r.threads);
}

static void less_than_a_page_is_refused(void **state)
{
	const struct bench_mm_options o = {.threads = 3, .bytes = 2 * page(), .rounds = 1};
	struct bench_mm_result r;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_mm_fault(&o, &r, &err), -EINVAL);
	assert_non_null(strstr(err.text, "greater --size"));
}

static void memory_that_is_not_there_is_said(void **state)
{
	const struct bench_mm_options o = {.threads = 1, .bytes = UINT64_MAX / 4, .rounds = 1};
	struct bench_mm_result r;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_mm_fault(&o, &r, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "Cannot map memory"));
	err = (struct error){0};
	assert_int_equal(bench_mm_map(&o, &r, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "map and unmap memory"));
}

static void modes_have_names(void **state)
{
	enum bench_mm_mode mode;

	(void)state;
	for (int i = 0; i < BENCH_MM_MODES; i++) {
		assert_int_equal(
			bench_mm_mode_parse(bench_mm_mode_name((enum bench_mm_mode)i), &mode), 0);
		assert_int_equal(mode, i);
	}
	assert_int_equal(bench_mm_mode_parse("", &mode), -EINVAL);
	assert_int_equal(bench_mm_mode_parse("anonymous", &mode), -EINVAL);
	assert_string_equal(bench_mm_mode_name(BENCH_MM_MODES), "?");
}

/* In each of them a page is a fault, once; nothing of it stays. */
static void every_mode_faults_each_page(void **state)
{
	(void)state;
	for (int i = 0; i < BENCH_MM_MODES; i++) {
		const struct bench_mm_options o = {.threads = 2,
						   .bytes = 64 * page(),
						   .rounds = 3,
						   .mode = (enum bench_mm_mode)i};
		struct bench_mm_result r;
		struct error err = {0};
		assert_int_equal(bench_mm_fault(&o, &r, &err), 0);
		uint64_t before = faults(), map = mapped();
		assert_int_equal(bench_mm_fault(&o, &r, &err), 0);
		assert_int_equal(r.pages, 192);
		assert_true(faults() - before >= 192);
		assert_true(mapped() <= map + 8 * page());
	}
}

static void too_many_mappings_are_said(void **state)
{
	const struct bench_mm_options o = {
		.threads = 1, .bytes = (1ull << 18) * page(), .rounds = 1, .mode = BENCH_MM_FRESH};
	unsigned long most = 0;
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	struct bench_mm_result r;
	struct error err = {0};

	(void)state;
	if (!f || fscanf(f, "%lu", &most) != 1 || most > (1 << 18))
		skip();
	fclose(f);
	assert_int_equal(bench_mm_fault(&o, &r, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "max_map_count"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_faults_are_of_every_page_once),
		cmocka_unit_test(parts_are_whole_pages),
		cmocka_unit_test(mappings_are_made_and_given_back),
		cmocka_unit_test(a_thread_for_each_cpu_by_default),
		cmocka_unit_test(less_than_a_page_is_refused),
		cmocka_unit_test(memory_that_is_not_there_is_said),
		cmocka_unit_test(modes_have_names),
		cmocka_unit_test(every_mode_faults_each_page),
		cmocka_unit_test(too_many_mappings_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
