// SPDX-License-Identifier: GPL-2.0-only
/* One breakpoint more: the kernel's verdict on it as such, and the arithmetic of slots. */
#include "kontend/enospc.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct enospc_machine x86 = {.arch = ENOSPC_X86};
static const struct enospc_machine amd = {.arch = ENOSPC_X86, .any_power = true};
static const struct enospc_machine arm = {.arch = ENOSPC_ARM64};
static const struct enospc_machine root = {.arch = ENOSPC_X86, .admin = true};

enum { R = HW_BREAKPOINT_R, W = HW_BREAKPOINT_W, X = HW_BREAKPOINT_X };

/* @addr 0: none is given. */
static void says(const struct enospc_machine *m, int code, const char *part, uint32_t rwx,
		 uint64_t len, uint64_t addr)
{
	struct enospc_ask ask = {.rwx = rwx, .len = len, .addr = addr, .has_addr = addr != 0};
	struct error err = {0};

	assert_int_equal(enospc_check(&ask, m, &err), code);
	if (!strstr(err.text, part))
		fail_msg("says '%s', not '%s'", err.text, part);
}

static void test_check_x86(void **state)
{
	(void)state;
	says(&x86, 0, "", W, 4, 0x1004);
	says(&x86, -EINVAL, "multiple", W, 4, 0x1002);
	says(&x86, 0, "", R | W, 4, 0);
	says(&x86, -EINVAL, "1, 2, 4 or 8", W, 3, 0);
	says(&x86, -EINVAL, "1, 2, 4 or 8", W, 0, 0x1000);
	says(&x86, -EOPNOTSUPP, "at most 8", W, 64, 0);
	says(&x86, -EINVAL, "multiple", W, 64, 0x1020);
	says(&amd, 0, "", W, 64, 0x1040);
	says(&amd, -EINVAL, "multiple", W, 64, 0x1020);
	says(&x86, -EINVAL, "reads alone", R, 4, 0);
	says(&x86, -EINVAL, "8 bytes", X, 4, 0);
	says(&x86, 0, "", X, 8, 0x1003);
	says(&x86, -EINVAL, "two breakpoints", X | W, 8, 0);
	says(&x86, -EINVAL, "end of memory", W, 4, UINT64_MAX - 1);
	says(&x86, -EPERM, "CAP_SYS_ADMIN", W, 4, 0xffffffff81000000);
	says(&root, 0, "", W, 4, 0xffffffff81000000);
}

static void test_check_arm64(void **state)
{
	static const int32_t tid = 5;
	struct enospc_ask ask = {.rwx = W, .len = 4, .has_addr = true, .tids = &tid, .n_tids = 1};
	struct error err = {0};

	(void)state;
	says(&arm, 0, "", W, 3, 0x1003);
	says(&arm, 0, "", R, 4, 0);
	says(&arm, -EINVAL, "1 to 8", W, 9, 0);
	says(&arm, 0, "", W, 5, 0x1003);
	says(&arm, -EINVAL, "aligned unit", W, 5, 0x1004);
	says(&arm, 0, "", X, 8, 0x1004);
	says(&arm, -EINVAL, "two breakpoints", X | R, 4, 0);
	says(&arm, -EPERM, "CAP_SYS_ADMIN", W, 4, 0xffff800000000000);
	ask.addr = 0xffff800000000000;
	assert_int_equal(enospc_check(&ask, &arm, &err), -EINVAL);
	assert_non_null(strstr(err.text, "-C"));
}

/* A snapshot of two CPUs with four slots each, of which CPU 0 has @pinned for itself. */
static void canned(struct perfsnap *s, int32_t pinned)
{
	*s = (struct perfsnap){0};
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		perfsnap_add_slots(s, &(struct snap_slots){.cpu = cpu,
							   .slots = 4,
							   .cpu_pinned = cpu ? 0 : pinned,
							   .task_pinned_max = -1});
	for (int32_t i = 0; i < pinned; i++)
		perfsnap_add_event(s, &(struct snap_event){.id = 10 + (uint64_t)i,
							   .type = PERF_TYPE_BREAKPOINT,
							   .bp_type = HW_BREAKPOINT_W,
							   .cpu = 0});
}

/* @n breakpoints of thread @tid. */
static void add_events(struct perfsnap *s, int32_t tid, int32_t cpu, int n)
{
	for (int i = 0; i < n; i++)
		perfsnap_add_event(s, &(struct snap_event){.id = 100 + s->n_events,
							   .type = PERF_TYPE_BREAKPOINT,
							   .bp_type = HW_BREAKPOINT_W,
							   .target_tid = tid,
							   .cpu = cpu});
}

static struct enospc judge(struct perfsnap *s, struct enospc_ask ask)
{
	struct enospc r;

	ask.rwx = ask.rwx ? ask.rwx : HW_BREAKPOINT_W;
	assert_int_equal(enospc_judge(&r, s, &ask), 0);
	return r;
}

static void done(struct perfsnap *s, struct enospc *r)
{
	enospc_deinit(r);
	perfsnap_deinit(s);
}

static void test_fits(void **state)
{
	struct perfsnap s;

	(void)state;
	canned(&s, 2);
	add_events(&s, 20, -1, 1);
	struct enospc r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && r.fits);
	assert_int_equal(r.n_rows, 2);
	assert_int_equal(r.rows[0].cpu_pinned, 2);
	assert_int_equal(r.rows[0].task_pinned, 1);
	assert_int_equal(r.rows[0].tid, 20);
	assert_int_equal(r.n_holders + r.n_closes, 0);
	done(&s, &r);
}

static void test_cpu_full(void **state)
{
	static const uint32_t cpus[] = {0, 1};
	struct perfsnap s;

	(void)state;
	canned(&s, 4);
	s.events[1].state = SNAP_OFF;
	struct enospc r = judge(&s, (struct enospc_ask){.cpus = cpus, .n_cpus = 1});
	assert_true(r.known && !r.fits && !r.helpless);
	assert_int_equal(r.n_rows, 1);
	assert_int_equal(r.n_holders, 4);
	/* One suffices; that which is off anyway is missed least. */
	assert_int_equal(r.n_closes, 1);
	assert_int_equal(r.closes[0], 1);
	enospc_deinit(&r);
	r = judge(&s, (struct enospc_ask){.cpus = cpus + 1, .n_cpus = 1});
	assert_true(r.known && r.fits);
	done(&s, &r);
}

/* A thread has its own to count only; a CPU has those of the thread with most. */
static void test_of_threads(void **state)
{
	static const int32_t tids[] = {20, 30};
	struct perfsnap s;

	(void)state;
	canned(&s, 1);
	add_events(&s, 20, -1, 1);
	add_events(&s, 20, 0, 2);
	add_events(&s, 30, 1, 1);
	struct enospc r = judge(&s, (struct enospc_ask){.tids = tids + 1, .n_tids = 1});
	assert_true(r.known && r.fits);
	enospc_deinit(&r);
	r = judge(&s, (struct enospc_ask){.tids = tids, .n_tids = 2});
	assert_true(r.known && !r.fits);
	assert_int_equal(r.rows[0].tid, 20);
	assert_int_equal(r.rows[0].task_pinned, 3);
	assert_true(r.rows[1].fits);
	assert_int_equal(r.n_holders, 4);
	assert_int_equal(r.n_closes, 1);
	enospc_deinit(&r);
	r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && !r.fits);
	assert_int_equal(r.n_closes, 1);
	done(&s, &r);
}

/* Two threads have four each: both must lose one, or neither does help; a CPU's own would. */
static void test_tied(void **state)
{
	struct perfsnap s;

	(void)state;
	canned(&s, 0);
	add_events(&s, 20, -1, 4);
	add_events(&s, 30, -1, 4);
	add_events(&s, 40, -1, 3);
	struct enospc r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && !r.fits && !r.helpless);
	assert_int_equal(r.rows[0].tied, 2);
	assert_int_equal(r.n_holders, 8);
	assert_int_equal(r.n_closes, 2);
	assert_true(s.events[r.closes[0]].target_tid != s.events[r.closes[1]].target_tid);
	enospc_deinit(&r);
	s.slots[0].cpu_pinned = 1;
	add_events(&s, 0, 0, 1);
	s.n_slots = 1;
	s.events[0].target_tid = s.events[4].target_tid = 50;
	r = judge(&s, (struct enospc_ask){0});
	assert_int_equal(r.rows[0].tied, 3);
	assert_int_equal(r.n_closes, 1);
	assert_int_equal(s.events[r.closes[0]].target_tid, 0);
	done(&s, &r);
}

/* Inherited ones go with the one that they come from. */
static void test_inherited(void **state)
{
	static const int32_t tids[] = {20, 21, 22};
	struct perfsnap s;

	(void)state;
	canned(&s, 0);
	for (int k = 0; k < 3; k++)
		add_events(&s, tids[k], -1, 4);
	for (size_t i = 4; i < 12; i++)
		s.events[i].parent = s.events[i % 4].id;
	struct enospc r = judge(&s, (struct enospc_ask){.tids = tids, .n_tids = 3});
	assert_true(r.known && !r.fits && !r.helpless);
	assert_int_equal(r.n_closes, 1);
	assert_true(r.closes[0] < 4);
	done(&s, &r);
}

/* The kernel's own cannot be closed. */
static void test_helpless(void **state)
{
	struct perfsnap s;

	(void)state;
	canned(&s, 4);
	for (int i = 0; i < 4; i++)
		s.events[i].flags = SNAP_KERNEL;
	struct enospc r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && !r.fits && r.helpless);
	assert_int_equal(r.n_closes, 0);
	done(&s, &r);
}

static void test_two_pools(void **state)
{
	struct perfsnap s = {0};

	(void)state;
	perfsnap_add_slots(&s, &(struct snap_slots){.type = SNAP_SLOT_EXEC, .slots = 6});
	perfsnap_add_slots(&s, &(struct snap_slots){.type = SNAP_SLOT_DATA, .slots = 2});
	add_events(&s, 20, -1, 2);
	struct enospc r = judge(&s, (struct enospc_ask){.rwx = HW_BREAKPOINT_R});
	assert_true(r.known && !r.fits);
	assert_int_equal(r.n_rows, 1);
	assert_int_equal(r.rows[0].type, SNAP_SLOT_DATA);
	enospc_deinit(&r);
	r = judge(&s, (struct enospc_ask){.rwx = HW_BREAKPOINT_X});
	assert_true(r.known && r.fits);
	assert_int_equal(r.rows[0].type, SNAP_SLOT_EXEC);
	assert_int_equal(r.rows[0].task_pinned, 0);
	done(&s, &r);
}

/* By probing there are counts and no events; what was not counted is not known. */
static void test_counted(void **state)
{
	static const int32_t tid = 20;
	static const struct enospc_count counts[] = {{20, 0, 3}, {20, 1, 1}};
	struct perfsnap s;

	(void)state;
	canned(&s, 1);
	s.n_events = 0;
	s.head.missing = SNAP_NO_EVENTS | SNAP_NO_TASK_MAX;
	struct enospc r = judge(&s, (struct enospc_ask){0});
	assert_true(!r.known && !r.fits);
	enospc_deinit(&r);
	struct enospc_ask ask = {.tids = &tid, .n_tids = 1, .counts = counts, .n_counts = 2};
	r = judge(&s, ask);
	assert_true(r.known && !r.fits && !r.rows[0].fits && r.rows[1].fits);
	assert_int_equal(r.n_holders, 0);
	enospc_deinit(&r);
	s.slots[0].task_pinned_max = s.slots[1].task_pinned_max = 2;
	r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && r.fits);
	enospc_deinit(&r);
	/* Full by the CPU's alone, whatever the threads have. */
	s.slots[0].cpu_pinned = 4;
	s.slots[0].task_pinned_max = -1;
	r = judge(&s, (struct enospc_ask){0});
	assert_true(r.known && !r.fits);
	enospc_deinit(&r);
	/* How many slots there are is not known here. */
	s.slots[0].slots = -1;
	r = judge(&s, (struct enospc_ask){0});
	assert_false(r.known);
	done(&s, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_x86),  cmocka_unit_test(test_check_arm64),
		cmocka_unit_test(test_fits),	   cmocka_unit_test(test_cpu_full),
		cmocka_unit_test(test_of_threads), cmocka_unit_test(test_tied),
		cmocka_unit_test(test_inherited),  cmocka_unit_test(test_helpless),
		cmocka_unit_test(test_two_pools),  cmocka_unit_test(test_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
