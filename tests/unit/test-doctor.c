// SPDX-License-Identifier: GPL-2.0-only
/* The pure parts of the doctor: what follows from checks. Trying is tested in tests/cli/doctor.sh.
 */
#include "kontend/doctor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_kernel(void **state)
{
	(void)state;
	assert_true(doctor_kernel_is_new_enough("5.19.0"));
	assert_true(doctor_kernel_is_new_enough("6.1.0-44-amd64"));
	assert_false(doctor_kernel_is_new_enough("5.18.19"));
	assert_false(doctor_kernel_is_new_enough("4.19.0"));
	assert_true(doctor_kernel_is_new_enough("mainline"));
}

static void test_kallsyms(void **state)
{
	(void)state;
	assert_false(doctor_kallsyms_has_addresses(""));
	assert_false(doctor_kallsyms_has_addresses("0000000000000000 A fixed_percpu_data\n"
						   "0000000000000000 T _text\n"));
	/* The first symbols of x86 are per-CPU offsets from 0 on. */
	assert_true(doctor_kallsyms_has_addresses("0000000000000000 A fixed_percpu_data\n"
						  "ffffffff81000000 T _text\n"));
	assert_true(doctor_kallsyms_has_addresses("ffffffff81000000 T _text"));
}

/* Rings within 64 MiB, or as small as possible, with a message. */
static void test_memory(void **state)
{
	char text[200];
	struct doctor_memory few = doctor_memory(64, true), many = doctor_memory(1024, true);

	(void)state;
	assert_true(few.perf_rings + few.bpf_rings <= 64 << 20);
	assert_null(strstr(doctor_memory_text(&few, text, sizeof(text)), "the minimum"));
	assert_int_equal(few.bpf_maps, many.bpf_maps);
	if (many.bpf_rings)
		assert_non_null(
			strstr(doctor_memory_text(&many, text, sizeof(text)), "the minimum"));
	few = doctor_memory(2, false);
	assert_string_equal(doctor_memory_text(&few, text, sizeof(text)),
			    "4.00M: perf rings 4.00M, BPF rings 0B, BPF maps 0B");
}

static void add_check(struct doctor *d, const char *name, enum doctor_status s)
{
	struct doctor_item *i = &d->checks[d->n_checks++];

	*i = (struct doctor_item){.name = name, .status = s};
	if (s != DOCTOR_WORKS) {
		snprintf(i->found, sizeof(i->found), "why %s", name);
		snprintf(i->fix, sizeof(i->fix), "fix %s", name);
	}
}

/* All checks well but for @bad. */
static void judge(struct doctor *d, const char *bad, enum doctor_status s, bool measures)
{
	static const char *const names[] = {"kernel",  "tracefs", "events", "perf",  "stacks",
					    "cgroups", "rings",	  "files",  "names", "bpf"};

	*d = (struct doctor){.n_checks = 0};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		add_check(d, names[i], bad && strcmp(bad, names[i]) == 0 ? s : DOCTOR_WORKS);
	add_check(d, "samples", bad && strcmp(bad, "samples") == 0 ? s : DOCTOR_WORKS);
	add_check(d, "instructions", bad && strcmp(bad, "instructions") == 0 ? s : DOCTOR_WORKS);
	add_check(d, "pmus", bad && strcmp(bad, "pmus") == 0 ? s : DOCTOR_WORKS);
	snprintf(d->checks[d->n_checks - 1].found, sizeof(d->checks[0].found), "no PMU");
	add_check(d, "measuring", measures ? DOCTOR_WORKS : DOCTOR_FAILS);
	doctor_conclude(d);
}

static const struct doctor_item *view(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->n_views; i++)
		if (strcmp(d->views[i].name, name) == 0)
			return &d->views[i];
	print_error("no view %s\n", name);
	abort();
}

static void test_all_well(void **state)
{
	struct doctor d;

	(void)state;
	judge(&d, NULL, DOCTOR_WORKS, true);
	assert_true(d.works);
	assert_true(d.n_views >= 4);
	for (size_t i = 0; i < d.n_views; i++) {
		assert_int_equal(d.views[i].status, DOCTOR_WORKS);
		assert_string_equal(d.views[i].fix, "");
	}
}

/* Checks that pass without a result have a message; and the profile has needs of its own. */
static void test_the_rest(void **state)
{
	struct doctor d;

	(void)state;
	judge(&d, NULL, DOCTOR_WORKS, true);
	assert_int_equal(view(&d, "rotation")->status, DOCTOR_WORKS);
	assert_string_equal(view(&d, "rotation")->found, "no PMU");
	assert_null(view(&d, "rotation")->cause);
	judge(&d, "pmus", DOCTOR_ABSENT, true);
	assert_int_equal(view(&d, "rotation")->status, DOCTOR_ABSENT);
	assert_string_equal(view(&d, "rotation")->cause, "pmus");
	assert_int_equal(view(&d, "contexts")->status, DOCTOR_WORKS);
	assert_true(d.works);
	judge(&d, "samples", DOCTOR_LIMITED, true);
	assert_string_equal(view(&d, "hot")->cause, "samples");
	assert_string_equal(view(&d, "--call-graph")->cause, "samples");
	assert_int_equal(view(&d, "locks")->status, DOCTOR_WORKS);
	judge(&d, "instructions", DOCTOR_LIMITED, true);
	assert_string_equal(view(&d, "annotate")->cause, "instructions");
	assert_string_equal(view(&d, "annotate")->fix, "fix instructions");
	assert_int_equal(view(&d, "hot")->status, DOCTOR_WORKS);
}

static void test_limited(void **state)
{
	struct doctor d;

	(void)state;
	judge(&d, "names", DOCTOR_LIMITED, true);
	assert_true(d.works);
	assert_int_equal(view(&d, "locks")->status, DOCTOR_LIMITED);
	assert_string_equal(view(&d, "locks")->cause, "names");
	assert_string_equal(view(&d, "locks")->found, "why names");
	assert_string_equal(view(&d, "locks")->fix, "fix names");
	assert_int_equal(view(&d, "cpus")->status, DOCTOR_WORKS);
	judge(&d, "bpf", DOCTOR_LIMITED, true);
	assert_true(d.works);
	assert_int_equal(view(&d, "slots")->status, DOCTOR_LIMITED);
	assert_string_equal(view(&d, "contexts")->cause, "bpf");
	assert_int_equal(view(&d, "locks")->status, DOCTOR_WORKS);
	judge(&d, "cgroups", DOCTOR_LIMITED, true);
	assert_int_equal(view(&d, "--by cgroup")->status, DOCTOR_LIMITED);
	assert_int_equal(view(&d, "locks")->status, DOCTOR_WORKS);
}

/* The way itself decides; what fails first on it is what to fix. */
static void test_fails(void **state)
{
	struct doctor d;

	(void)state;
	judge(&d, "tracefs", DOCTOR_FAILS, false);
	assert_false(d.works);
	for (size_t i = 0; i < d.n_views; i++) {
		assert_int_equal(d.views[i].status, DOCTOR_FAILS);
		assert_string_equal(d.views[i].fix, "fix tracefs");
	}
	judge(&d, NULL, DOCTOR_WORKS, false);
	assert_false(d.works);
	assert_string_equal(view(&d, "locks")->found, "why measuring");
	judge(&d, "kernel", DOCTOR_FAILS, true);
	assert_true(d.works);
	assert_int_equal(view(&d, "locks")->status, DOCTOR_WORKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),	 cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_all_well), cmocka_unit_test(test_limited),
		cmocka_unit_test(test_the_rest), cmocka_unit_test(test_fails),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
