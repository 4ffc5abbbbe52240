// SPDX-License-Identifier: GPL-2.0-only
/* Causes of sleep: which function of a call chain names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/chains/asleep.h"
#include "asked.h"
#include "canned.h"
#include "synth.h"

#include <stdio.h>
#include <string.h>

/* A kernel with functions of these names, in this order, 0x100 bytes each. */
static const char *const functions[] = {
	"io_schedule",
	"folio_wait_bit_common",
	"blk_mq_get_tag",
	"jbd2_log_wait_commit",
	"anon_pipe_write",
	"rpc_wait_bit_killable",
	"schedule_timeout",
	"wait_for_completion",
	"__flush_work",
	"msleep",
	"__mutex_lock.constprop.0",
	"do_nothing_known",
};

static const uint64_t FIRST = 0xffffffff81f00000;

static void play(struct asked *w)
{
	char symbols[8192];
	int at = snprintf(symbols, sizeof(symbols), "%s", synth_kallsyms);

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		at += snprintf(symbols + at, sizeof(symbols) - (size_t)at, "%llx t %s\n",
			       (unsigned long long)(FIRST + i * 0x100), functions[i]);
	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	query_begin(&w->q);
}

/* The cause of a sleep in these functions, innermost first. */
static const char *cause(struct asked *w, const char *const *names, uint32_t n)
{
	uint64_t frames[8];

	for (uint32_t i = 0; i < n; i++) {
		size_t k = 0;
		while (strcmp(functions[k], names[i]) != 0)
			k++;
		frames[i] = FIRST + k * 0x100 + 0x10;
	}
	return asleep_for(&w->q, frames, n);
}

#define CAUSE(w, ...)                                                                              \
	cause(w, (const char *const[]){__VA_ARGS__},                                               \
	      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void the_innermost_function_names_the_cause(void **state)
{
	struct asked *w = *state;

	play(w);
	assert_string_equal(CAUSE(w, "anon_pipe_write"), "pipe is full");
	assert_string_equal(CAUSE(w, "rpc_wait_bit_killable"), "RPC, as of NFS");
	assert_string_equal(CAUSE(w, "folio_wait_bit_common", "jbd2_log_wait_commit"),
			    "I/O of a page");
	assert_string_equal(CAUSE(w, "__mutex_lock.constprop.0", "jbd2_log_wait_commit"),
			    "another lock");
	assert_null(CAUSE(w, "schedule_timeout", "do_nothing_known"));
	assert_null(asleep_for(&w->q, NULL, 0));
}

static void a_general_cause_gives_way_to_its_callers(void **state)
{
	struct asked *w = *state;

	play(w);
	assert_string_equal(CAUSE(w, "io_schedule"), "I/O");
	assert_string_equal(CAUSE(w, "io_schedule", "do_nothing_known"), "I/O");
	assert_string_equal(CAUSE(w, "io_schedule", "blk_mq_get_tag"), "request queue is full");
	assert_string_equal(CAUSE(w, "io_schedule", "jbd2_log_wait_commit"), "jbd2 commit");
	assert_string_equal(CAUSE(w, "wait_for_completion", "__flush_work"), "work of a kworker");
	assert_string_equal(CAUSE(w, "msleep"), "timer");
	/* Of two general causes the inner one counts. */
	assert_string_equal(CAUSE(w, "msleep", "wait_for_completion"), "timer");
}

/* The cause by the names alone, innermost first, with spaces in between. */
static const char *cause_of(const char *calls)
{
	enum sleep_cause found = SLEEP_NONE;
	char copy[1024], *rest = copy;

	assert_true(strlen(calls) < sizeof(copy));
	snprintf(copy, sizeof(copy), "%s", calls);
	for (char *name; (name = strtok_r(rest, " ", &rest));)
		found = asleep_refine(found, name);
	return asleep_words(found);
}

static const struct {
	const char *kernel, *calls, *words;
} chains[] = {
	/* Disks. */
	{"5.10",
	 "__schedule schedule io_schedule wait_on_page_bit_common generic_file_buffered_read "
	 "ext4_file_read_iter new_sync_read vfs_read ksys_read do_syscall_64",
	 "disk read"},
	{"6.6",
	 "__schedule schedule io_schedule folio_wait_bit_common filemap_get_pages filemap_read "
	 "ext4_file_read_iter vfs_read ksys_pread64 do_syscall_64",
	 "disk read"},
	{"6.12",
	 "__schedule schedule io_schedule __iomap_dio_rw iomap_dio_rw ext4_file_write_iter "
	 "vfs_write ksys_pwrite64",
	 "disk write"},
	{"6.12",
	 "__schedule schedule io_schedule __iomap_dio_rw iomap_dio_rw xfs_file_dio_read "
	 "xfs_file_read_iter io_read io_issue_sqe io_wq_submit_work",
	 "disk read"},
	{"5.15",
	 "__schedule schedule io_schedule bit_wait_io __wait_on_bit out_of_line_wait_on_bit "
	 "__wait_on_buffer ext4_read_bh ext4_bread __ext4_read_dirblock ext4_dx_find_entry "
	 "ext4_lookup",
	 "disk metadata"},
	{"6.18",
	 "__schedule schedule io_schedule bit_wait_io __wait_on_bit out_of_line_wait_on_bit "
	 "__ext4_get_inode_loc ext4_get_inode_loc ext4_reserve_inode_write ext4_create",
	 "disk metadata"},
	{"6.1",
	 "__schedule schedule schedule_timeout wait_for_completion xfs_buf_iowait _xfs_buf_read "
	 "xfs_buf_read_map xfs_trans_read_buf_map xfs_imap_to_bp",
	 "disk metadata"},
	{"6.8",
	 "__schedule schedule io_schedule folio_wait_bit_common read_extent_buffer_pages "
	 "btrfs_read_extent_buffer read_block_for_search btrfs_search_slot",
	 "disk metadata"},
	{"6.6",
	 "__schedule schedule io_schedule folio_wait_bit_common __block_write_begin_int "
	 "__block_write_begin ext4_write_begin generic_perform_write vfs_write",
	 "disk read"},
	{"6.6",
	 "__schedule schedule schedule_timeout io_schedule_timeout __wait_for_common "
	 "wait_for_completion_io_timeout submit_bio_wait blkdev_issue_flush ext4_sync_file",
	 "flush of a disk cache"},
	{"6.12",
	 "__schedule schedule io_schedule blk_mq_get_tag __blk_mq_alloc_requests "
	 "blk_mq_submit_bio submit_bio_noacct_nocheck ext4_mpage_readpages filemap_fault",
	 "request queue is full"},
	{"6.1", "__schedule schedule blk_mq_freeze_queue_wait elevator_switch elv_iosched_store",
	 "request queue is frozen"},
	{"6.6", "__schedule schedule dm_wait_for_completion __dm_suspend dm_suspend dev_suspend",
	 "device-mapper, I/O in flight"},

	/* As snapshots have them: without the functions of the scheduler. */
	{"6.18", "__ext4_find_entry ext4_lookup __lookup_slow walk_component", "disk metadata"},
	{"6.18", "ext4_read_bh ext4_read_inode_bitmap __ext4_new_inode", "disk metadata"},
	{"6.18", "ext4_wait_block_bitmap ext4_mb_init_cache ext4_truncate", "disk metadata"},
	{"6.18", "ext4_commit_super ext4_freeze freeze_super.part.0", "disk metadata"},
	{"6.18", "ext4_block_write_begin ext4_da_write_begin vfs_write ksys_write", "disk read"},
	{"6.18", "folio_wait_bit_common filemap_get_pages filemap_read vfs_read", "disk read"},
	{"6.18", "freeze_super.part.0 __x64_sys_ioctl", "readers of a percpu-rwsem"},
	{"6.18", "rcu_sync_enter freeze_super.part.0", "RCU grace period of a percpu-rwsem"},
	{"6.18", "__x64_sys_io_destroy do_syscall_64", "end of its asynchronous I/O"},
	{"6.18", "btrfs_tree_read_lock_nested btrfs_search_slot wait_current_trans",
	 "another lock"},
	{"6.18", "kernel_clone __do_sys_clone do_syscall_64", "child of vfork"},
	{"6.18", "handle_userfault __handle_mm_fault handle_mm_fault", "userfaultfd"},
	{"6.18", "mem_cgroup_oom_synchronize pagefault_out_of_memory",
	 "memory limit of its cgroup"},

	/* Page faults, swap, memory. */
	{"5.10",
	 "__schedule schedule io_schedule wait_on_page_bit_common __lock_page_killable "
	 "filemap_fault ext4_filemap_fault __do_fault handle_mm_fault exc_page_fault",
	 "page fault in a file"},
	{"6.18",
	 "__schedule schedule io_schedule folio_wait_bit_common filemap_read_folio "
	 "filemap_fault __do_fault do_fault __handle_mm_fault handle_mm_fault do_user_addr_fault",
	 "page fault in a file"},
	/* The fault of a buffer is no write. */
	{"6.12",
	 "__schedule schedule io_schedule folio_wait_bit_common filemap_fault __do_fault "
	 "handle_mm_fault exc_page_fault fault_in_readable generic_perform_write vfs_write",
	 "page fault in a file"},
	{"5.10",
	 "__schedule schedule io_schedule wait_on_page_bit_common __lock_page_or_retry "
	 "do_swap_page __handle_mm_fault handle_mm_fault",
	 "swap-in"},
	{"6.12",
	 "__schedule schedule io_schedule submit_bio_wait swap_read_folio swap_cluster_readahead "
	 "swapin_readahead do_swap_page handle_mm_fault",
	 "swap-in"},
	{"6.6",
	 "__schedule schedule io_schedule migration_entry_wait_on_locked migration_entry_wait "
	 "do_swap_page handle_mm_fault",
	 "migration of a page"},
	{"6.6",
	 "__schedule schedule schedule_timeout reclaim_throttle shrink_node "
	 "do_try_to_free_pages try_to_free_pages __alloc_pages_slowpath.constprop.0",
	 "free memory"},
	{"5.10",
	 "__schedule schedule schedule_timeout io_schedule_timeout wait_iff_congested "
	 "shrink_node do_try_to_free_pages try_to_free_pages",
	 "free memory"},
	{"6.12",
	 "__schedule schedule io_schedule folio_wait_bit_common folio_wait_writeback "
	 "shrink_folio_list shrink_inactive_list shrink_lruvec shrink_node "
	 "do_try_to_free_pages try_to_free_mem_cgroup_pages try_charge_memcg charge_memcg "
	 "filemap_add_folio filemap_fault __do_fault",
	 "memory limit of its cgroup"},
	{"6.12",
	 "__schedule schedule schedule_timeout schedule_timeout_killable "
	 "__mem_cgroup_handle_over_high irqentry_exit_to_user_mode",
	 "memory limit of its cgroup"},
	{"6.1",
	 "__schedule schedule schedule_timeout reclaim_throttle shrink_node "
	 "do_try_to_free_pages try_to_free_mem_cgroup_pages memory_reclaim cgroup_file_write",
	 "memory limit of its cgroup"},
	/* A directory that is removed frees no memory. */
	{"6.6", "__schedule schedule d_walk shrink_dcache_parent d_invalidate", NULL},

	/* Writeback and logs. */
	{"5.10",
	 "__schedule schedule io_schedule wait_on_page_bit_common wait_on_page_writeback "
	 "__filemap_fdatawait_range file_write_and_wait_range ext4_sync_file vfs_fsync_range",
	 "writeback"},
	{"6.12",
	 "__schedule schedule io_schedule folio_wait_bit_common folio_wait_writeback "
	 "truncate_inode_pages_range evict",
	 "writeback"},
	{"6.1",
	 "__schedule schedule wb_wait_for_completion sync_inodes_sb iterate_supers ksys_sync",
	 "writeback"},
	{"6.6",
	 "__schedule schedule schedule_timeout io_schedule_timeout balance_dirty_pages "
	 "balance_dirty_pages_ratelimited_flags generic_perform_write vfs_write",
	 "too many dirty pages"},
	{"6.12", "__schedule schedule io_schedule rq_qos_wait wbt_wait __rq_qos_throttle",
	 "writeback is throttled"},
	{"6.12", "__schedule schedule io_schedule ioc_rqos_throttle __rq_qos_throttle submit_bio",
	 "limit of its cgroup for I/O"},
	{"5.15",
	 "__schedule schedule io_schedule rq_qos_wait blkcg_iolatency_throttle "
	 "__rq_qos_throttle",
	 "limit of its cgroup for I/O"},
	{"5.10",
	 "__schedule schedule jbd2_log_wait_commit jbd2_complete_transaction "
	 "ext4_fc_commit ext4_sync_file do_fsync",
	 "jbd2 commit"},
	{"5.10",
	 "__schedule schedule jbd2_log_wait_commit jbd2_log_do_checkpoint "
	 "__jbd2_log_wait_for_space add_transaction_credits start_this_handle "
	 "jbd2__journal_start",
	 "space in the jbd2 log"},
	{"6.6",
	 "__schedule schedule wait_transaction_locked add_transaction_credits "
	 "start_this_handle jbd2__journal_start __ext4_journal_start_sb ext4_dirty_inode",
	 "jbd2 commit"},
	{"6.18", "filemap_fault __do_fault do_fault __handle_mm_fault handle_mm_fault",
	 "page fault in a file"},
	{"5.10", "__schedule schedule jbd2_journal_commit_transaction kjournald2 kthread",
	 "open handles of jbd2"},
	{"5.19",
	 "__schedule schedule jbd2_journal_wait_updates jbd2_journal_commit_transaction "
	 "kjournald2 kthread",
	 "open handles of jbd2"},
	{"5.10",
	 "__schedule schedule io_schedule bit_wait_io __wait_on_bit out_of_line_wait_on_bit "
	 "__wait_on_buffer jbd2_journal_commit_transaction kjournald2 kthread",
	 "disk metadata"},
	{"6.1",
	 "__schedule schedule io_schedule bit_wait_io __wait_on_bit out_of_line_wait_on_bit "
	 "do_get_write_access jbd2_journal_get_write_access __ext4_journal_get_write_access",
	 "jbd2 journal"},
	{"6.6", "__schedule schedule xlog_wait_on_iclog xfs_log_force_seq xfs_file_fsync",
	 "XFS log"},
	{"5.10",
	 "__schedule schedule xlog_grant_head_wait xlog_grant_head_check xfs_log_reserve "
	 "xfs_trans_reserve",
	 "XFS log"},
	{"6.6", "__schedule schedule wait_current_trans start_transaction btrfs_dirty_inode",
	 "btrfs transaction"},
	{"6.1",
	 "folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range "
	 "filemap_fdatawait_range __btrfs_wait_marked_extents.isra.0 btrfs_wait_tree_log_extents "
	 "btrfs_sync_log btrfs_sync_file __x64_sys_fsync",
	 "btrfs transaction"},
	{"6.6", "__schedule schedule handle_reserve_ticket __reserve_bytes btrfs_reserve_metadata",
	 "space in btrfs"},

	/* Locks. */
	{"6.18", "__schedule schedule __vma_start_write vma_expand relocate_vma_down", "VMA lock"},
	{"6.4",
	 "__schedule schedule schedule_preempt_disabled rwsem_down_write_slowpath down_write "
	 "__vma_start_write mprotect_fixup",
	 "another lock"},
	{"5.10",
	 "__schedule schedule schedule_timeout wait_for_completion __wait_rcu_gp "
	 "synchronize_rcu rcu_sync_enter percpu_down_write cgroup_procs_write_start",
	 "RCU grace period of a percpu-rwsem"},
	{"6.12", "__schedule schedule rcu_sync_enter percpu_down_write cgroup_attach_lock",
	 "RCU grace period of a percpu-rwsem"},
	{"6.12", "__schedule schedule percpu_down_write cgroup_attach_lock cgroup_procs_write",
	 "readers of a percpu-rwsem"},
	{"6.12", "__schedule schedule percpu_rwsem_wait percpu_down_write cgroup_attach_lock",
	 "another lock"},
	{"6.12", "__schedule schedule percpu_rwsem_wait __percpu_down_read cgroup_can_fork",
	 "another lock"},
	{"6.12",
	 "__schedule schedule schedule_timeout __wait_for_common wait_for_completion_state "
	 "__wait_rcu_gp synchronize_rcu_normal namespace_unlock do_umount",
	 "RCU grace period"},
	{"6.6", "__schedule schedule rt_mutex_schedule __rt_mutex_slowlock futex_lock_pi", "futex"},
	{"6.12", "__schedule schedule locks_lock_inode_wait __do_sys_flock", "file lock"},
	{"5.10", "__schedule schedule fcntl_setlk do_fcntl __x64_sys_fcntl", "file lock"},

	/* Others. */
	{"6.12",
	 "__schedule schedule schedule_timeout __wait_for_common __flush_work "
	 "__lru_add_drain_all generic_fadvise",
	 "work of a kworker"},
	{"5.10", "__schedule schedule schedule_timeout wait_for_completion __flush_work.isra.0",
	 "work of a kworker"},
	{"6.6", "__schedule schedule schedule_timeout __wait_for_common do_nothing_known",
	 "completion"},
	{"6.6",
	 "__schedule schedule rpc_wait_bit_killable __wait_on_bit out_of_line_wait_on_bit "
	 "__rpc_execute nfs4_call_sync nfs4_proc_getattr",
	 "RPC, as of NFS"},
	{"6.6",
	 "__schedule schedule io_schedule folio_wait_bit_common folio_wait_writeback "
	 "__filemap_fdatawait_range filemap_write_and_wait_range nfs_wb_all nfs4_file_flush",
	 "network file system"},
	{"6.6",
	 "__schedule schedule io_schedule folio_wait_bit_common filemap_get_pages filemap_read "
	 "nfs_file_read vfs_read",
	 "network file system"},
	{"6.6", "__schedule schedule request_wait_answer __fuse_simple_request fuse_lookup_name",
	 "FUSE daemon"},
	{"6.6",
	 "__schedule schedule io_schedule folio_wait_bit_common folio_wait_writeback "
	 "fuse_wait_on_folio_writeback fuse_writepage_locked",
	 "FUSE daemon"},
	/* The daemon itself, which has nothing to do. */
	{"6.6", "__schedule schedule fuse_dev_do_read fuse_dev_read vfs_read ksys_read", NULL},
	{"6.6", "__schedule schedule handle_userfault do_anonymous_page handle_mm_fault",
	 "userfaultfd"},

	/* The life of a process. */
	{"5.15", "__schedule schedule __refrigerator do_nanosleep hrtimer_nanosleep", "frozen"},
	{"6.1",
	 "__schedule schedule schedule_timeout __wait_for_common wait_for_completion_state "
	 "kernel_clone __do_sys_vfork do_syscall_64",
	 "child of vfork"},
	{"6.18",
	 "__schedule schedule schedule_timeout __wait_for_common wait_for_completion_state "
	 "vfs_coredump get_signal arch_do_signal_or_restart",
	 "core dump"},
	{"5.10", "__schedule schedule exit_mm do_exit do_group_exit get_signal", "core dump"},
	{"6.18", "__schedule schedule do_exit do_group_exit get_signal", "core dump"},
	{"6.18", "__schedule schedule exit_something_else do_exit do_group_exit", NULL},
	{"6.18", "__schedule schedule begin_new_exec load_elf_binary bprm_execve",
	 "end of its other threads"},
	{"6.6", "__schedule schedule ptrace_stop ptrace_do_notify ptrace_notify",
	 "stopped by a debugger"},
};

static void call_chains_of_kernels_have_causes(void **state)
{
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		const char *words = cause_of(chains[i].calls);
		bool same = words && chains[i].words ? !strcmp(words, chains[i].words)
						     : words == chains[i].words;
		if (!same)
			print_error("Linux %s: %s\n  is \"%s\", not \"%s\"\n", chains[i].kernel,
				    chains[i].calls, words ? words : "(none)",
				    chains[i].words ? chains[i].words : "(none)");
		wrong += !same;
	}
	assert_int_equal(wrong, 0);
}

static void each_cause_but_unknown_has_words(void **state)
{
	(void)state;
	for (int i = 0; i < SLEEP_CAUSES; i++)
		if (i == SLEEP_NONE || i == SLEEP_UNKNOWN)
			assert_null(asleep_words((enum sleep_cause)i));
		else
			assert_non_null(asleep_words((enum sleep_cause)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_innermost_function_names_the_cause,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_general_cause_gives_way_to_its_callers,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test(call_chains_of_kernels_have_causes),
		cmocka_unit_test(each_cause_but_unknown_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
