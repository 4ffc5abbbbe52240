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

static const struct doctor_gap *gap(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->n_gaps; i++)
		if (strcmp(d->gaps[i].name, name) == 0)
			return &d->gaps[i];
	print_error("no gap %s\n", name);
	abort();
}

/* Each fact decides about one gap: its answers have states and reasons of their own. */
static void test_gaps(void **state)
{
	static const signed char answers[] = {0, 1, -1};
	struct doctor d = {.n_gaps = 0};
	bool seen[DOCTOR_GAPS] = {false};

	(void)state;
	for (unsigned fact = 0; fact < DOCTOR_GAP_FACTS; fact++) {
		char found[3][120] = {"", "", ""};
		unsigned changed = DOCTOR_GAPS;

		for (unsigned k = 0; k < 3; k++) {
			struct doctor_gap_facts f = {.journals = "ext4"};

			f.is[fact] = answers[k];
			doctor_gaps(&d, &f);
			assert_int_equal(d.n_gaps, DOCTOR_GAPS);
			for (unsigned i = 0; k == 1 && i < DOCTOR_GAPS; i++)
				if (d.gaps[i].here &&
				    strcmp(d.gaps[i].found, "no kernel reports them"))
					changed = i;
			if (k > 0)
				snprintf(found[k], sizeof(found[k]), "%s", d.gaps[changed].found);
		}
		assert_string_equal(doctor_gap_state(&d.gaps[changed]), "unknown");
		assert_false(seen[changed]);
		seen[changed] = true;
		doctor_gaps(&d, &(struct doctor_gap_facts){.is = {0}});
		assert_string_equal(doctor_gap_state(&d.gaps[changed]), "absent");
		assert_string_not_equal(found[1], d.gaps[changed].found);
		assert_string_not_equal(found[2], d.gaps[changed].found);
		assert_true(*found[1] && *found[2] && *d.gaps[changed].found);
	}
	for (unsigned i = 0; i < DOCTOR_GAPS; i++) {
		assert_true(*d.gaps[i].waits && *d.gaps[i].instead && *d.gaps[i].found);
		assert_string_equal(doctor_gap_state(&d.gaps[i]), seen[i] ? "absent" : "here");
	}
}

static void test_gap_facts(void **state)
{
	struct doctor d = {.n_gaps = 0};
	struct doctor_gap_facts f = {.is = {0}};

	(void)state;
	assert_int_equal(doctor_kernel_version("6.18.44-fc"), 6018);
	assert_int_equal(doctor_kernel_version("7.3.4+deb13"), 7003);
	assert_int_equal(doctor_kernel_version("mainline"), 0);
	assert_int_equal(doctor_kernel_version("99999999999.1"), 0);
	assert_int_equal(doctor_gap_pcpu("6.8.0-31-generic"), 0);
	assert_int_equal(doctor_gap_pcpu("6.9.0"), 1);
	assert_int_equal(doctor_gap_pcpu("6.18.44"), 1);
	assert_int_equal(doctor_gap_pcpu("mainline"), -1);
	doctor_gap_journals(&f, "/dev/vda / ext4 rw 0 0\n/dev/vdb /a xfs rw 0 0\n"
				"/dev/vdc /b ext4 rw 0 0\nproc /proc proc rw 0 0\n");
	doctor_gaps(&d, &f);
	assert_string_equal(gap(&d, "journals")->found, "mounted: ext4, xfs");
	f = (struct doctor_gap_facts){.is = {0}};
	doctor_gap_journals(&f, "tmpfs /ext4 tmpfs rw 0 0\n/dev/vda /b ext2 rw 0 0\n");
	doctor_gaps(&d, &f);
	assert_int_equal(gap(&d, "journals")->here, 0);
	f = (struct doctor_gap_facts){.is = {0}};
	doctor_gap_journals(&f, "a / ext4 rw\nb /b xfs rw\nc /c btrfs rw\n");
	assert_string_equal(f.journals, "ext4, xfs, btrfs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),	  cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_all_well),  cmocka_unit_test(test_limited),
		cmocka_unit_test(test_the_rest),  cmocka_unit_test(test_fails),
		cmocka_unit_test(test_memory),	  cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_gap_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
