// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains are given by names, innermost first; a table of symbols is made from them, one function a
 * name, so that a case reads like the back trace that it stands for.
 */
#include "kontend/sym.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 16, STEP = 0x100 };

static const uint64_t base = 0xffffffff81000000;

/* Loads the names as functions; those at @sched to @sched_end - 1 lie in the sched text. */
static struct sym make_symbols(const char *const *names, size_t n, size_t sched, size_t sched_end)
{
	struct sym s = {0};
	char text[8192] = "";
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%lx t %s\n",
				       (unsigned long)(base + i * STEP), names[i]);
	if (sched < sched_end)
		snprintf(text + at, sizeof(text) - at,
			 "%lx T __sched_text_start\n%lx T __sched_text_end\n",
			 (unsigned long)(base + sched * STEP),
			 (unsigned long)(base + sched_end * STEP));
	assert_int_equal(sym_load(&s, text, strlen(text), NULL), 0);
	return s;
}

static void check_caller(const char *const *names, const char *caller)
{
	uint64_t frames[FRAMES];
	uint32_t n = 0;

	for (; names[n]; n++)
		frames[n] = base + n * STEP + 0x1c;
	struct sym s = make_symbols(names, n, 0, 0);
	assert_string_equal(names[sym_caller(&s, frames, n)], caller);
	sym_deinit(&s);
}

static void check_after_tracing(const char *const *names, uint32_t after)
{
	uint64_t frames[FRAMES];
	uint32_t n = 0;

	for (; names[n]; n++)
		frames[n] = base + n * STEP + 0x1c;
	struct sym s = make_symbols(names, n, 0, 0);
	assert_int_equal(sym_after_tracing(&s, frames, n), after);
	sym_deinit(&s);
}

static void test_callers_of_each_type(void **state)
{
	static const struct {
		const char *chain[FRAMES];
		const char *caller;
	} cases[] = {
		{{"rwsem_down_write_slowpath", "down_write_killable", "vm_mmap_pgoff",
		  "ksys_mmap_pgoff"},
		 "vm_mmap_pgoff"},
		{{"rwsem_down_read_slowpath", "down_read_killable", "lock_mm_and_find_vma",
		  "exc_page_fault"},
		 "lock_mm_and_find_vma"},
		{{"__mutex_lock.constprop.0", "anon_pipe_read", "vfs_read"}, "anon_pipe_read"},
		{{"__mutex_lock.constprop.0", "__mutex_lock_slowpath", "mutex_lock", "pcpu_alloc"},
		 "pcpu_alloc"},
		{{"native_queued_spin_lock_slowpath", "_raw_spin_lock_irqsave", "rmqueue_bulk"},
		 "rmqueue_bulk"},
		{{"__pv_queued_spin_lock_slowpath", "_raw_spin_lock_irq", "rwsem_wake.isra.0",
		  "up_write", "vms_complete_munmap_vmas"},
		 "vms_complete_munmap_vmas"},
		{{"__pv_queued_spin_lock_slowpath", "_raw_spin_lock_nested",
		  "raw_spin_rq_lock_nested", "__task_rq_lock", "try_to_wake_up"},
		 "try_to_wake_up"},
		{{"queued_read_lock_slowpath", "_raw_read_lock", "__do_wait"}, "__do_wait"},
		{{"queued_write_lock_slowpath", "_raw_write_lock_irq", "release_task"},
		 "release_task"},
		{{"percpu_rwsem_wait", "__percpu_down_read", "cgroup_css_set_fork"},
		 "cgroup_css_set_fork"},
		{{"rt_mutex_slowlock.constprop.0", "rt_mutex_lock", "i2c_transfer"},
		 "i2c_transfer"},
		{{"rtlock_slowlock_locked", "rt_spin_lock", "lru_add_drain"}, "lru_add_drain"},
		{{"rwbase_read_lock", "rt_read_lock", "do_wait"}, "do_wait"},
		{{"rwbase_write_lock", "down_write", "do_unlinkat"}, "do_unlinkat"},
		{{"__ww_mutex_lock.constprop.0", "ww_mutex_lock", "drm_modeset_lock"},
		 "drm_modeset_lock"},
		{{"__down_common", "__down", "down", "console_lock"}, "console_lock"},
		{{"arch_spin_lock_wait", "_raw_spin_lock", "dput"}, "dput"},
		{{"resilient_queued_spin_lock_slowpath", "htab_lock_bucket",
		  "htab_map_update_elem"},
		 "htab_map_update_elem"},
		{{"resilient_tas_spin_lock", "bpf_res_spin_lock_irqsave", "bpf_prog_f00_count"},
		 "bpf_prog_f00_count"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_caller(cases[i].chain, cases[i].caller);
}

static void test_resilient(void **state)
{
	static const char *const names[] = {"resilient_queued_spin_lock_slowpath",
					    "resilient_tas_spin_lock",
					    "resilient_virt_spin_lock",
					    "native_queued_spin_lock_slowpath",
					    "bpf_res_spin_lock",
					    "nexthop_find_group_resilient",
					    "resilient_group_init"};
	struct sym s = make_symbols(names, 7, 0, 0);

	(void)state;
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(sym_is_resilient(&s, base + i * STEP + 0x1c), i < 3);
	sym_deinit(&s);
}

static void test_tracing_comes_first(void **state)
{
	static const char *const perf[] = {"perf_trace_contention_begin",
					   "__traceiter_contention_begin",
					   "__mutex_lock.constprop.0", "pipe_write", NULL};
	static const char *const bpf[] = {"bpf_prog_0123456789abcdef_begin",
					  "bpf_trace_run2",
					  "__bpf_trace_contention_begin",
					  "__traceiter_contention_begin",
					  "rwsem_down_read_slowpath",
					  "down_read",
					  "do_madvise",
					  NULL};
	/* A program that waits for a lock of its own is a caller. */
	static const char *const inside[] = {"__traceiter_contention_begin",
					     "resilient_queued_spin_lock_slowpath",
					     "htab_map_update_elem",
					     "bpf_prog_x",
					     "bpf_trace_run2",
					     "__traceiter_contention_end",
					     "__mutex_lock",
					     "pipe_write",
					     NULL};

	static const char *const asleep[] = {"__traceiter_sched_switch", "__schedule", "schedule",
					     "handle_userfault", NULL};

	/* A program that is called by the kernel's function of the event without another. */
	static const char *const direct[] = {"bpf_trace_run3", "flock_lock_inode",
					     "locks_lock_inode_wait", NULL};

	(void)state;
	check_after_tracing(direct, 1);
	check_after_tracing(direct + 1, 0);
	check_caller(direct, "flock_lock_inode");
	check_after_tracing(asleep, 1);
	check_after_tracing(perf, 2);
	check_after_tracing(bpf, 4);
	check_after_tracing(inside, 1);
	check_after_tracing(inside + 6, 0);
	check_caller(perf, "pipe_write");
	check_caller(bpf, "do_madvise");
	check_caller(inside, "htab_map_update_elem");
}

static void test_no_prefix_swallows_a_caller(void **state)
{
	static const char *const callers[] = {
		"downgrade_foo_fs",
		"down_trylock_console_sem",
		"update_curr",
		"upload_firmware",
		"uprobe_register",
		"mutex_init_pool",
		"percpu_counter_add",
		"percpu_ref_kill",
		"rt_cache_flush",
		"rt_fill_info",
		"lock_mm_and_find_vma",
		"lock_rename",
		"lock_timer_base",
		"raw_sendmsg",
		"raw_notifier_call_chain",
		"queue_work_on",
		"schedule_work",
		"read_lock_file",
		"do_raw_write",
		"osquery",
		"rwf_flags",
		"up_console_sem",
		"bpf_trace_printk",
		"folio_lruvec_lock_irqsave",
		"down_read_my_driver",
		"console_lock",
		"__schedule",
	};
	enum { N = sizeof(callers) / sizeof(callers[0]) };
	struct sym s = make_symbols(callers, N, 0, 0);

	(void)state;
	for (size_t i = 0; i < N; i++) {
		if (sym_is_lock_function(&s, base + i * STEP))
			print_message("%s\n", callers[i]);
		assert_false(sym_is_lock_function(&s, base + i * STEP));
	}
	sym_deinit(&s);
}

/* The first and the last names of the table, of a pair of letters, and such as have few letters. */
static void test_names_are_found_by_their_first_letters(void **state)
{
	static const char *const names[] = {
		"arch_read_lock_wait",
		"ww_rt_mutex_lock",
		"up",
		"__up.isra.0",
		"do_raw_read_lock",
		"do_raw_write_unlock",
		"down",
		"downgrade_write",
		"percpu_up_write",
		"perf_tp_event",
		"osq_lock",
		"mutex_unlock",
		"_raw_spin_lock_irqsave.cold",
		"rt_write_unlock",
		"___lock_acquire",
		"trace_call_bpf",
		"bpf_trace_run12",
	};
	static const char *const others[] = {"u", "_", "d", "x", "upx", "a", "oq", "__"};
	struct sym s = make_symbols(names, sizeof(names) / sizeof(names[0]), 0, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(sym_is_lock_function(&s, base + i * STEP));
	sym_deinit(&s);
	s = make_symbols(others, sizeof(others) / sizeof(others[0]), 0, 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(sym_is_lock_function(&s, base + i * STEP));
	sym_deinit(&s);
}

static void test_ranges(void **state)
{
	static const char *const names[] = {"before", "schedule_timeout", "__schedule",
					    "ldsem_down_read", "after"};
	static const bool is_lock[] = {false, true, false, true, false};
	struct sym s = make_symbols(names, 5, 1, 4);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(sym_is_lock_function(&s, base + i * STEP + 4), is_lock[i]);
	sym_deinit(&s);
}

static void test_data_is_no_function(void **state)
{
	struct sym s = {0};
	static const char text[] = "ffffffff82000000 d mutex_lock_stats\n";

	(void)state;
	assert_int_equal(sym_load(&s, text, strlen(text), NULL), 0);
	assert_non_null(sym_find(&s, 0xffffffff82000000));
	assert_false(sym_is_lock_function(&s, 0xffffffff82000000));
	sym_deinit(&s);
}

static void test_edges(void **state)
{
	static const char *const names[] = {"rwsem_down_read_slowpath", "down_read"};
	uint64_t frames[] = {base, base + STEP};
	uint64_t far[FRAMES];
	struct sym s = make_symbols(names, 2, 0, 0), none = {0};

	(void)state;
	assert_int_equal(sym_caller(&s, frames, 0), 0);
	assert_int_equal(sym_caller(&s, NULL, 0), 0);
	assert_int_equal(sym_caller(&s, frames, 1), 0);
	/* All inside: the outermost is the best guess. */
	assert_int_equal(sym_caller(&s, frames, 2), 1);
	/* An address without a name is outside. */
	for (size_t i = 0; i < FRAMES; i++)
		far[i] = 0xffff888000000000;
	far[0] = base;
	assert_int_equal(sym_caller(&s, far, FRAMES), 1);
	assert_int_equal(sym_caller(&none, frames, 2), 0);
	sym_deinit(&s);
}

static void static_locks_are_known_by_functions(void **state)
{
	(void)state;
	assert_string_equal(sym_static_lock("rwlock", "release_task"), "tasklist_lock");
	assert_string_equal(sym_static_lock("spinlock", "alloc_pid"), "pidmap_lock");
	assert_string_equal(sym_static_lock("mutex", "rtnetlink_rcv_msg.constprop.0"),
			    "rtnl_mutex");
	assert_string_equal(sym_static_lock("rwsem", "copy_net_ns"), "pernet_ops_rwsem");
	/* The same function takes another lock of another type, or none that is known. */
	assert_string_equal(sym_static_lock("mutex", "pcpu_alloc_noprof"), "pcpu_alloc_mutex");
	assert_string_equal(sym_static_lock("spinlock", "pcpu_alloc_noprof"), "pcpu_lock");
	assert_null(sym_static_lock("mutex", "release_task"));
	assert_null(sym_static_lock("spinlock", "alloc_pid_x"));
	assert_null(sym_static_lock("spinlock", "alloc"));
	assert_null(sym_static_lock("spinlock", ""));
	assert_null(sym_static_lock("semaphore", "alloc_pid"));
	assert_true(sym_locks_page_table("zap_pte_range"));
	assert_true(sym_locks_page_table("do_wp_page.part.0"));
	assert_false(sym_locks_page_table("do_wp"));
	assert_false(sym_locks_page_table("alloc_pid"));
}

static void locks_of_objects_are_known_by_functions(void **state)
{
	const char *of = NULL;

	(void)state;
	assert_string_equal(sym_field_lock("spinlock", "try_to_wake_up", &of), "pi_lock");
	assert_string_equal(of, "task_struct");
	assert_string_equal(sym_field_lock("spinlock", "dd_bio_merge.isra.0", &of),
			    "mq-deadline->lock");
	assert_string_equal(of, "deadline_data");
	assert_string_equal(sym_field_lock("mutex", "fdget_pos", &of), "f_pos_lock");
	assert_string_equal(sym_field_lock("lockref", "dput", &of), "d_lock");
	assert_null(sym_field_lock("mutex", "try_to_wake_up", &of));
	assert_null(sym_field_lock("spinlock", "try_to_wake", &of));
	assert_null(sym_field_lock("spinlock", "to_wake_up", &of));
	assert_null(sym_field_lock("spinlock", "", &of));
	assert_null(sym_field_lock("semaphore", "try_to_wake_up", &of));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_of_each_type),
		cmocka_unit_test(test_resilient),
		cmocka_unit_test(test_tracing_comes_first),
		cmocka_unit_test(test_no_prefix_swallows_a_caller),
		cmocka_unit_test(test_names_are_found_by_their_first_letters),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_data_is_no_function),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(static_locks_are_known_by_functions),
		cmocka_unit_test(locks_of_objects_are_known_by_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
