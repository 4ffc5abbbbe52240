// SPDX-License-Identifier: GPL-2.0-only
/* The PMU of each CPU, from folders as sysfs has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kontend/hybrid.h"
#include "kontend/mem.h"

static char root[] = "/tmp/hybrid-XXXXXX";

static void put(const char *pmu, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, pmu);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, file);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return 1;
	put("software", "type", "1\n");
	put("uncore_imc", "type", "20\n");
	put("uncore_imc", "cpumask", "0\n");
	return 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) || mem_live(); /* NOLINT(cert-env33-c) */
}

static struct perf_event_attr cycles(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES};
}

static void machines_with_one_pmu_have_none_to_choose(void **state)
{
	struct perf_event_attr a = cycles();
	struct hybrid h;

	(void)state;
	hybrid_read("/nonexistent", &h);
	assert_int_equal(h.n, 0);
	hybrid_read(root, &h);
	assert_int_equal(h.n, 0);
	put("armv8_pmuv3_0", "type", "8\n");
	put("armv8_pmuv3_0", "cpus", "0-3\n");
	hybrid_read(root, &h);
	assert_int_equal(h.n, 0);
	assert_false(hybrid_choose(&h, 0, &a));
	assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES);
}

static void each_cpu_has_the_events_of_its_pmu(void **state)
{
	struct perf_event_attr a = cycles(), clock = {.type = PERF_TYPE_SOFTWARE,
						      .config = PERF_COUNT_SW_CPU_CLOCK};
	struct hybrid h;

	(void)state;
	put("armv8_pmuv3_0", "cpus", "");
	put("cpu_core", "type", "4\n");
	put("cpu_core", "cpus", "0-7\n");
	put("cpu_atom", "type", "10\n");
	put("cpu_atom", "cpus", "8-9,12\n");
	put("cpu_broken", "type", "11\n");
	put("cpu_broken", "cpus", "x-y\n");
	hybrid_read(root, &h);
	assert_int_equal(h.n, 2);
	assert_true(hybrid_choose(&h, 7, &a));
	assert_int_equal(a.config, 4ull << 32 | PERF_COUNT_HW_CPU_CYCLES);
	/* It has been chosen. */
	assert_false(hybrid_choose(&h, 8, &a));
	a = cycles();
	assert_true(hybrid_choose(&h, 12, &a));
	assert_int_equal(a.config, 10ull << 32 | PERF_COUNT_HW_CPU_CYCLES);
	/* Of no PMU, of all CPUs, and no event of hardware: as they are. */
	a = cycles();
	assert_false(hybrid_choose(&h, 10, &a));
	assert_false(hybrid_choose(&h, -1, &a));
	assert_false(hybrid_choose(&h, 0, &clock));
	assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(clock.config, PERF_COUNT_SW_CPU_CLOCK);
	hybrid_deinit(&h);
}

/* Of two tasks on CPUs 7 (cpu_core), 8 and 12 (cpu_atom), and 10 (none). */
static void an_event_is_one_for_each_pmu(void **state)
{
	static const uint32_t cpus[] = {7, 8, 10, 12};
	static const uint64_t ids[] = {70, 71, 80, 81, 100, 101, 120, 121};
	uint64_t parts = 0, n_parts = 0, own[8];
	struct hybrid h;

	(void)state;
	hybrid_read(root, &h);
	assert_int_equal(h.n, 2);
	for (size_t pmu = 0; pmu <= h.n; pmu++) {
		struct perf_event_attr a = cycles();
		size_t n = hybrid_part(&h, pmu, &a, cpus, 4, ids, 2, own);
		n_parts += n;
		if (pmu == h.n) {
			assert_int_equal(a.config, PERF_COUNT_HW_CPU_CYCLES);
			assert_int_equal(n, 2);
			assert_int_equal(own[0], 100);
			assert_int_equal(own[1], 101);
			continue;
		}
		bool is_core = !strcmp(h.pmus[pmu].name, "cpu_core");
		assert_true(is_core || !strcmp(h.pmus[pmu].name, "cpu_atom"));
		assert_int_equal(a.config,
				 (is_core ? 4ull : 10ull) << 32 | PERF_COUNT_HW_CPU_CYCLES);
		assert_int_equal(n, is_core ? 2 : 4);
		assert_int_equal(own[0], is_core ? 70 : 80);
		assert_int_equal(own[n - 1], is_core ? 71 : 121);
		parts |= 1u << pmu;
	}
	assert_int_equal(parts, 3);
	assert_int_equal(n_parts, 8);
	hybrid_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_with_one_pmu_have_none_to_choose),
		cmocka_unit_test(each_cpu_has_the_events_of_its_pmu),
		cmocka_unit_test(an_event_is_one_for_each_pmu),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
