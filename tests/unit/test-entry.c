// SPDX-License-Identifier: GPL-2.0-only
/* Kernel stacks as they were seen, and the system call of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/entry.h"
#include <string.h>

enum { MOST = 16 };

static const struct {
	const char *functions; /* innermost first */
	enum entry_kind kind;
	const char *name;
} stacks[] = {
	/* x86: the function of the call, */
	{"__mutex_lock ext4_sync_file __x64_sys_fsync x64_sys_call do_syscall_64 "
	 "entry_SYSCALL_64_after_hwframe",
	 ENTRY_SYSCALL, "fsync"},
	{"rwsem_down_write_slowpath down_write_killable __vm_munmap __x64_sys_munmap do_syscall_64",
	 ENTRY_SYSCALL, "munmap"},
	{"tlb_finish_mmu __do_sys_brk do_syscall_64", ENTRY_SYSCALL, "brk"},
	{"flock_lock_inode_wait __se_sys_flock do_syscall_64", ENTRY_SYSCALL, "flock"},
	/* or what it jumped to. */
	{"rwsem_down_write_slowpath down_write_killable vm_mmap_pgoff do_syscall_64 "
	 "entry_SYSCALL_64_after_hwframe",
	 ENTRY_SYSCALL, "mmap"},
	{"generic_perform_write vfs_write ksys_write do_syscall_64", ENTRY_SYSCALL, "write"},
	{"ext4_file_write ksys_pwrite64 do_syscall_64", ENTRY_SYSCALL, "pwrite64"},
	{"lock_sock_nested __sys_sendto do_syscall_64", ENTRY_SYSCALL, "sendto"},
	{"path_openat do_sys_openat2 do_syscall_64", ENTRY_SYSCALL, "openat"},
	{"do_renameat2.part.0 x64_sys_call do_syscall_64", ENTRY_SYSCALL, "renameat2"},
	/* Of 32 bits, and of other machines. */
	{"futex_wait __ia32_sys_futex_time32 do_int80_emulation", ENTRY_SYSCALL, "futex"},
	{"do_fcntl __ia32_compat_sys_fcntl64 do_fast_syscall_32", ENTRY_SYSCALL, "fcntl64"},
	{"vfs_fstat __arm64_sys_newfstat invoke_syscall.constprop.0 el0_svc", ENTRY_SYSCALL,
	 "fstat"},
	{"mmap_region ksys_mmap_pgoff __arm64_sys_mmap invoke_syscall el0_svc", ENTRY_SYSCALL,
	 "mmap"},
	/* Page faults, also within a system call: there is no argument that says where. */
	{"down_read lock_mm_and_find_vma exc_page_fault asm_exc_page_fault", ENTRY_FAULT, ""},
	{"down_read do_user_addr_fault exc_page_fault asm_exc_page_fault copy_from_user vfs_write "
	 "ksys_write do_syscall_64",
	 ENTRY_FAULT, ""},
	{"down_read do_page_fault do_mem_abort el0_da el0t_64_sync_handler", ENTRY_FAULT, ""},
	/* Interrupts are no part of the call that they hit. */
	{"_raw_spin_lock try_to_wake_up handle_softirqs __irq_exit_rcu sysvec_apic_timer_interrupt "
	 "asm_sysvec_apic_timer_interrupt vfs_read ksys_read do_syscall_64",
	 ENTRY_INTERRUPT, ""},
	{"evict __fput task_work_run exit_to_user_mode_loop do_syscall_64", ENTRY_RETURN, ""},
	{"schedule irqentry_exit_to_user_mode asm_exc_page_fault", ENTRY_RETURN, ""},
	{"uprobe_notify exc_int3 asm_exc_int3", ENTRY_EXCEPTION, ""},
	/* No program called. */
	{"mutex_lock io_write io_issue_sqe io_wq_submit_work io_worker_handle_work io_wq_worker "
	 "ret_from_fork ret_from_fork_asm",
	 ENTRY_IO_URING, ""},
	{"_raw_spin_lock process_one_work worker_thread kthread ret_from_fork", ENTRY_KTHREAD, ""},
	{"_raw_spin_lock do_idle cpu_startup_entry start_secondary", ENTRY_IDLE, ""},
	/* A chain that ends early; a function inside the entry that is in no table; none at all. */
	{"mutex_lock ext4_sync_file vfs_fsync_range", ENTRY_UNKNOWN, ""},
	{"mutex_lock do_something_new do_syscall_64 entry_SYSCALL_64_after_hwframe", ENTRY_UNKNOWN,
	 ""},
	{"mutex_lock - do_syscall_64", ENTRY_UNKNOWN, ""},
	{"do_syscall_64", ENTRY_UNKNOWN, ""},
	{"", ENTRY_UNKNOWN, ""},
};

static size_t split(char *text, const char *ret[MOST])
{
	size_t n = 0;

	for (char *s = strtok(text, " "); s && n < MOST; s = strtok(NULL, " "))
		ret[n++] = strcmp(s, "-") ? s : NULL;
	return n;
}

static void test_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		const char *functions[MOST];
		char text[512];
		struct entry e;

		strcpy(text, stacks[i].functions);
		entry_find(functions, split(text, functions), &e);
		if (e.kind != stacks[i].kind || strcmp(e.name, stacks[i].name) != 0)
			fail_msg("%s: %d %s", stacks[i].functions, e.kind, e.name);
	}
}

/* The table of jumps is searched by halves: each of its ends must be found. */
static void test_jumps(void **state)
{
	static const char *const jumps[][2] = {
		{"__vm_munmap", "munmap"},
		{"core_sys_select", "select"},
		{"do_accept", "accept4"},
		{"do_semtimedop", "semtimedop"},
		{"do_sys_openat2", "openat"},
		{"do_writev", "writev"},
		{"hrtimer_nanosleep", "nanosleep"},
		{"vm_mmap_pgoff", "mmap"},
		{"do_exit", "exit"},
		{"kill_something_info", "kill"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		const char *functions[] = {"x", jumps[i][0], "do_syscall_64"};
		struct entry e;

		entry_find(functions, 3, &e);
		assert_int_equal(e.kind, ENTRY_SYSCALL);
		assert_string_equal(e.name, jumps[i][1]);
	}
}

/* A name that is longer than any is cut, and stays a text. */
static void test_long(void **state)
{
	const char *functions[] = {
		"__x64_sys_a_name_that_is_longer_than_the_room_that_there_is_for_it_in_any_kernel"};
	struct entry e;

	(void)state;
	entry_find(functions, 1, &e);
	assert_int_equal(e.kind, ENTRY_SYSCALL);
	assert_int_equal(strlen(e.name), ENTRY_NAME - 1);
	assert_string_equal(entry_text(ENTRY_FAULT), "page fault");
	assert_null(entry_text(ENTRY_SYSCALL));
	assert_null(entry_text(ENTRY_KTHREAD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
