// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cause of a sleep. The kernel does not record it, but the call chain of the sleeping task
 * shows it. The chain is read from the innermost function outwards: a function names a cause, or
 * makes the one found so far more precise. folio_wait_bit_common() waits for a page, and
 * filemap_fault() around it makes that a page fault in a file. Many functions are inlined in some
 * kernels, where only their caller shows them. The functions are those of Linux 5.10 to 6.18.
 *
 * No function shows that a device-mapper device is suspended: such a sleep is for I/O.
 */
#include "asleep.h"
#include "../internal.h"

#include <string.h>

static const char *const cause_words[SLEEP_CAUSES] = {
	[SLEEP_IO] = "I/O",
	[SLEEP_PAGE] = "I/O of a page",
	[SLEEP_FOLIO] = "folio lock",
	[SLEEP_READ] = "disk read",
	[SLEEP_WRITE] = "disk write",
	[SLEEP_METADATA] = "disk metadata",
	[SLEEP_FLUSH] = "flush of a disk cache",
	[SLEEP_COMMAND] = "command to a device",
	[SLEEP_FULL_QUEUE] = "request queue is full",
	[SLEEP_FROZEN_QUEUE] = "request queue is frozen",
	[SLEEP_DM] = "device-mapper, I/O in flight",
	[SLEEP_MD] = "md array",
	[SLEEP_DIRECT] = "direct I/O of the file",
	[SLEEP_FAULT] = "page fault in a file",
	[SLEEP_SWAP] = "swap-in",
	[SLEEP_MIGRATION] = "migration of a page",
	[SLEEP_WRITEBACK] = "writeback",
	[SLEEP_THROTTLED] = "writeback is throttled",
	[SLEEP_IO_LIMIT] = "limit of its cgroup for I/O",
	[SLEEP_DIRTY] = "too many dirty pages",
	[SLEEP_JBD2_COMMIT] = "jbd2 commit",
	[SLEEP_JBD2_SPACE] = "space in the jbd2 log",
	[SLEEP_JBD2_HANDLES] = "open handles of jbd2",
	[SLEEP_JBD2] = "jbd2 journal",
	[SLEEP_XFS] = "XFS log",
	[SLEEP_BTRFS_COMMIT] = "btrfs transaction",
	[SLEEP_BTRFS_SPACE] = "space in btrfs",
	[SLEEP_BTRFS] = "btrfs",
	[SLEEP_ZFS_GROUP] = "ZFS transaction group",
	[SLEEP_ZFS] = "ZFS I/O",
	[SLEEP_INODE] = "inode in use by others",
	[SLEEP_VMA] = "VMA lock",
	[SLEEP_PERCPU_RCU] = "RCU grace period of a percpu-rwsem",
	[SLEEP_PERCPU_READERS] = "readers of a percpu-rwsem",
	[SLEEP_RCU] = "RCU grace period",
	[SLEEP_WORK] = "work of a kworker",
	[SLEEP_KTHREAD] = "kernel thread",
	[SLEEP_IRQ] = "interrupt handler",
	[SLEEP_STOPPER] = "stopper of a CPU",
	[SLEEP_HELPER] = "helper program",
	[SLEEP_COMPLETION] = "completion",
	[SLEEP_RPC] = "RPC, as of NFS",
	[SLEEP_NETWORK_FS] = "network file system",
	[SLEEP_9P] = "9p server",
	[SLEEP_FUSE] = "FUSE daemon",
	[SLEEP_UFFD] = "userfaultfd",
	[SLEEP_RECLAIM] = "free memory",
	[SLEEP_MEMCG] = "memory limit of its cgroup",
	[SLEEP_FREEZER] = "frozen",
	[SLEEP_FROZEN_CGROUP] = "frozen cgroup",
	[SLEEP_PTRACE] = "stopped by a debugger",
	[SLEEP_TRACEE] = "task that it traces",
	[SLEEP_STOPPED] = "stopped by a signal",
	[SLEEP_VFORK] = "child of vfork",
	[SLEEP_CORE_DUMP] = "core dump",
	[SLEEP_THREADS] = "end of its other threads",
	[SLEEP_REQUESTS] = "end of its asynchronous I/O",
	[SLEEP_FILE_LOCK] = "file lock",
	[SLEEP_LOCK] = "another lock",
	[SLEEP_RT_MUTEX] = "another lock",
	[SLEEP_FUTEX] = "futex",
	[SLEEP_PIPE_EMPTY] = "pipe is empty",
	[SLEEP_PIPE_FULL] = "pipe is full",
	[SLEEP_PIPE] = "pipe",
	[SLEEP_CHILD] = "child process",
	[SLEEP_EVENTS] = "events of descriptors",
	[SLEEP_SOCKET] = "socket",
	[SLEEP_VIRTIO] = "virtio device",
	[SLEEP_ITSELF] = "sleeps by itself",
	[SLEEP_TIMER] = "timer",
	[SLEEP_CPU_MAX] = "throttled by cpu.max",
};

/* Sets of causes, to which functions further out add. */
enum cause_set {
	/* Nothing yet, or a cause of which a caller says more. The default. */
	FIT_GENERAL = 1,
	/* Nothing yet. */
	FIT_NOTHING = 2,
	/* Nothing yet, and only functions of the scheduler further in. */
	FIT_FIRST = 4,
	FIT_COMPLETION = 8,
	/* I/O of a page, or a wait for the task that has locked it. */
	FIT_PAGES = 16,
	/* I/O of which no function has shown the page. */
	FIT_IO = 32,
	/* Reads, writes and writeback, where a function has shown which. */
	FIT_READ = 64,
	FIT_WRITE = 128,
	FIT_WRITEBACK = 256,
	FIT_METADATA = 512,
	FIT_JBD2_COMMIT = 1024,
	FIT_RCU = 2048,
	FIT_RECLAIM = 4096,
	FIT_THROTTLED = 8192,
	FIT_RT_MUTEX = 16384,

	FIT_FILES = FIT_PAGES | FIT_IO | FIT_READ | FIT_WRITE | FIT_WRITEBACK | FIT_METADATA,
	FIT_FREEING = FIT_GENERAL | FIT_PAGES | FIT_WRITEBACK | FIT_THROTTLED,
};

static const uint32_t sets_of[SLEEP_CAUSES] = {
	[SLEEP_NONE] = FIT_GENERAL | FIT_NOTHING | FIT_FIRST,
	[SLEEP_UNKNOWN] = FIT_GENERAL | FIT_NOTHING,
	[SLEEP_IO] = FIT_GENERAL | FIT_IO,
	[SLEEP_COMPLETION] = FIT_GENERAL | FIT_COMPLETION,
	[SLEEP_TIMER] = FIT_GENERAL,
	[SLEEP_PAGE] = FIT_PAGES,
	[SLEEP_FOLIO] = FIT_PAGES,
	[SLEEP_READ] = FIT_READ,
	[SLEEP_WRITE] = FIT_WRITE,
	[SLEEP_WRITEBACK] = FIT_WRITEBACK,
	[SLEEP_METADATA] = FIT_METADATA,
	[SLEEP_JBD2_COMMIT] = FIT_JBD2_COMMIT,
	[SLEEP_RCU] = FIT_RCU,
	[SLEEP_RECLAIM] = FIT_RECLAIM,
	[SLEEP_THROTTLED] = FIT_THROTTLED,
	[SLEEP_RT_MUTEX] = FIT_RT_MUTEX,
};

/*
 * Functions whose names begin with @begin. The first line that fits the name and the cause found so
 * far counts. Without @fit that is FIT_GENERAL.
 */
static const struct line {
	const char *begin;
	enum sleep_cause cause;
	uint32_t fit;
} lines[] = {
	/* Pages, and for what they are needed. */
	{"io_schedule", SLEEP_IO, FIT_NOTHING},
	{"folio_wait_writeback", SLEEP_WRITEBACK, FIT_GENERAL | FIT_PAGES},
	{"wait_on_page_writeback", SLEEP_WRITEBACK, FIT_GENERAL | FIT_PAGES},
	{"__filemap_fdatawait", SLEEP_WRITEBACK, FIT_GENERAL | FIT_PAGES},
	{"filemap_fdatawait", SLEEP_WRITEBACK, FIT_GENERAL | FIT_PAGES},
	{"migration_entry_wait", SLEEP_MIGRATION, FIT_GENERAL | FIT_PAGES},
	{"migrate_pages", SLEEP_MIGRATION, FIT_PAGES | FIT_WRITEBACK},
	{"folio_wait_", SLEEP_PAGE},
	{"folio_put_wait_locked", SLEEP_PAGE},
	{"put_and_wait_on_page_locked", SLEEP_PAGE},
	{"wait_on_page_", SLEEP_PAGE},
	{"__folio_lock", SLEEP_FOLIO, FIT_GENERAL | FIT_PAGES},
	{"folio_lock", SLEEP_FOLIO, FIT_GENERAL | FIT_PAGES},
	{"__lock_page", SLEEP_FOLIO, FIT_GENERAL | FIT_PAGES},
	{"do_swap_page", SLEEP_SWAP, FIT_PAGES | FIT_IO},
	{"shmem_swapin", SLEEP_SWAP, FIT_PAGES | FIT_IO},
	{"swap_read", SLEEP_SWAP, FIT_PAGES | FIT_IO},
	{"filemap_fault", SLEEP_FAULT, FIT_FIRST | FIT_PAGES | FIT_IO | FIT_READ},
	{"__do_fault", SLEEP_FAULT, FIT_PAGES | FIT_IO | FIT_READ},
	{"do_fault", SLEEP_FAULT, FIT_PAGES | FIT_IO | FIT_READ},
	{"ext4_block_write_begin", SLEEP_READ, FIT_PAGES | FIT_IO | FIT_METADATA},
	{"__block_write_begin", SLEEP_READ, FIT_PAGES | FIT_IO | FIT_METADATA},
	{"filemap_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"filemap_splice_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"generic_file_buffered_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"vfs_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"vfs_iter_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"do_iter_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"io_read", SLEEP_READ, FIT_PAGES | FIT_IO},
	{"vfs_write", SLEEP_WRITE, FIT_IO},
	{"vfs_iter_write", SLEEP_WRITE, FIT_IO},
	{"do_iter_write", SLEEP_WRITE, FIT_IO},
	{"io_write", SLEEP_WRITE, FIT_IO},

	/* Metadata and devices. */
	/* Snapshots leave the functions of the scheduler out, bit_wait_io() among them. */
	{"ext4_block_write_begin", SLEEP_READ, FIT_FIRST},
	{"ext4_read_", SLEEP_METADATA, FIT_FIRST},
	{"ext4_wait_block_bitmap", SLEEP_METADATA, FIT_FIRST},
	{"ext4_commit_super", SLEEP_METADATA, FIT_FIRST},
	{"ext4_bread", SLEEP_METADATA, FIT_FIRST},
	{"__ext4_find_entry", SLEEP_METADATA, FIT_FIRST},
	{"__ext4_get_inode_loc", SLEEP_METADATA, FIT_FIRST},
	{"__bread", SLEEP_METADATA, FIT_FIRST},
	{"__sync_dirty_buffer", SLEEP_METADATA, FIT_FIRST},
	{"jbd2_write_superblock", SLEEP_METADATA, FIT_FIRST},
	{"bit_wait_io", SLEEP_METADATA}, /* a bit of a buffer; __wait_on_buffer() may be inlined */
	{"__wait_on_buffer", SLEEP_METADATA},
	{"__lock_buffer", SLEEP_METADATA},
	{"xfs_buf_iowait", SLEEP_METADATA},
	{"read_extent_buffer_pages", SLEEP_METADATA, FIT_GENERAL | FIT_PAGES},
	{"btrfs_read_extent_buffer", SLEEP_METADATA, FIT_GENERAL | FIT_PAGES},
	{"submit_bio_wait", SLEEP_IO, FIT_NOTHING | FIT_COMPLETION},
	{"blkdev_issue_flush", SLEEP_FLUSH},
	{"blk_execute_rq", SLEEP_COMMAND},
	{"blk_mq_get_tag", SLEEP_FULL_QUEUE},
	{"blk_mq_freeze_queue_wait", SLEEP_FROZEN_QUEUE},
	{"__bio_queue_enter", SLEEP_FROZEN_QUEUE},
	{"blk_queue_enter", SLEEP_FROZEN_QUEUE},
	{"dm_wait_for_", SLEEP_DM},
	{"dm_suspend", SLEEP_DM},
	{"__dm_suspend", SLEEP_DM},
	{"md_handle_request", SLEEP_MD},
	{"md_write_start", SLEEP_MD},
	{"md_super_wait", SLEEP_MD},
	{"md_flush_request", SLEEP_MD},
	{"inode_dio_wait", SLEEP_DIRECT},
	{"__inode_dio_wait", SLEEP_DIRECT},

	/* Writeback. */
	{"wb_wait_for_completion", SLEEP_WRITEBACK},
	{"inode_wait_for_writeback", SLEEP_WRITEBACK},
	{"__inode_wait_for_writeback", SLEEP_WRITEBACK},
	{"ioc_rqos_throttle", SLEEP_IO_LIMIT, FIT_GENERAL | FIT_THROTTLED},
	{"blkcg_iolatency_throttle", SLEEP_IO_LIMIT, FIT_GENERAL | FIT_THROTTLED},
	{"blkcg_maybe_throttle", SLEEP_IO_LIMIT},
	{"wbt_wait", SLEEP_THROTTLED},
	{"rq_qos_wait", SLEEP_THROTTLED},
	{"balance_dirty_pages", SLEEP_DIRTY},

	/* Logs of file systems. */
	{"__jbd2_log_wait_for_space", SLEEP_JBD2_SPACE,
	 FIT_GENERAL | FIT_METADATA | FIT_JBD2_COMMIT},
	{"add_transaction_credits", SLEEP_JBD2_SPACE},
	{"jbd2_log_wait_commit", SLEEP_JBD2_COMMIT},
	{"wait_transaction_locked", SLEEP_JBD2_COMMIT},
	{"wait_transaction_switching", SLEEP_JBD2_COMMIT},
	{"jbd2_fc_", SLEEP_JBD2_COMMIT},
	{"ext4_fc_commit", SLEEP_JBD2_COMMIT},
	{"jbd2_journal_wait_updates", SLEEP_JBD2_HANDLES},
	{"jbd2_journal_lock_updates", SLEEP_JBD2_HANDLES},
	{"jbd2_journal_commit_transaction", SLEEP_JBD2_HANDLES, FIT_FIRST},
	{"jbd2_journal_", SLEEP_JBD2},
	{"do_get_write_access", SLEEP_JBD2, FIT_GENERAL | FIT_METADATA},
	{"xlog_", SLEEP_XFS},
	{"xfs_log_", SLEEP_XFS},
	{"xfs_ail_push_all_sync", SLEEP_XFS},
	{"wait_current_trans", SLEEP_BTRFS_COMMIT},
	{"wait_for_commit", SLEEP_BTRFS_COMMIT},
	{"btrfs_commit_transaction", SLEEP_BTRFS_COMMIT, FIT_GENERAL | FIT_PAGES | FIT_WRITEBACK},
	{"btrfs_sync_log", SLEEP_BTRFS_COMMIT, FIT_GENERAL | FIT_PAGES | FIT_WRITEBACK},
	{"wait_log_commit", SLEEP_BTRFS_COMMIT},
	{"wait_reserve_ticket", SLEEP_BTRFS_SPACE},
	{"handle_reserve_ticket", SLEEP_BTRFS_SPACE},
	{"__reserve_bytes", SLEEP_BTRFS_SPACE},
	{"btrfs_wait_", SLEEP_BTRFS},
	{"btrfs_start_ordered_extent", SLEEP_BTRFS},
	{"wait_extent_bit", SLEEP_BTRFS},
	{"txg_wait_", SLEEP_ZFS_GROUP},
	{"zio_wait", SLEEP_ZFS},
	{"__wait_on_freeing_inode", SLEEP_INODE},

	/* Locks without an event, or with parts that have none. */
	{"__vma_start_write", SLEEP_VMA},
	{"__vma_enter_locked", SLEEP_VMA},
	{"vma_mark_detached", SLEEP_VMA},
	{"rcu_sync_enter", SLEEP_PERCPU_RCU, FIT_GENERAL | FIT_RCU},
	{"percpu_down_write", SLEEP_PERCPU_READERS, FIT_NOTHING},
	{"freeze_super", SLEEP_PERCPU_READERS, FIT_FIRST},
	{"synchronize_rcu", SLEEP_RCU},
	{"synchronize_srcu", SLEEP_RCU},
	{"__synchronize_srcu", SLEEP_RCU},
	{"__wait_rcu_gp", SLEEP_RCU},
	{"wait_rcu_exp_gp", SLEEP_RCU},
	{"rcu_barrier", SLEEP_RCU},
	{"locks_lock_inode_wait", SLEEP_FILE_LOCK},
	{"flock_lock_inode_wait", SLEEP_FILE_LOCK},
	{"posix_lock_inode_wait", SLEEP_FILE_LOCK},
	{"do_lock_file_wait", SLEEP_FILE_LOCK},
	{"fcntl_setlk", SLEEP_FILE_LOCK},
	{"__break_lease", SLEEP_FILE_LOCK},
	{"nlmclnt_", SLEEP_FILE_LOCK},

	/* Others that must do something first. */
	{"__flush_work", SLEEP_WORK},
	{"flush_work", SLEEP_WORK},
	{"drain_workqueue", SLEEP_WORK},
	{"__cancel_work", SLEEP_WORK},
	{"kthread_flush_work", SLEEP_KTHREAD},
	{"kthread_stop", SLEEP_KTHREAD},
	{"synchronize_irq", SLEEP_IRQ},
	{"__synchronize_irq", SLEEP_IRQ},
	{"stop_one_cpu", SLEEP_STOPPER},
	{"stop_two_cpus", SLEEP_STOPPER},
	{"stop_machine", SLEEP_STOPPER},
	{"affine_move_task", SLEEP_STOPPER},
	{"call_usermodehelper", SLEEP_HELPER},
	{"rpc_wait", SLEEP_RPC},
	{"nfs_wait", SLEEP_RPC},
	{"nfs_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"nfs4_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"smb2_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"cifs_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"ceph_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"netfs_", SLEEP_NETWORK_FS, FIT_FILES | FIT_COMPLETION},
	{"p9_client_rpc", SLEEP_9P},
	{"request_wait_answer", SLEEP_FUSE},
	{"fuse_wait", SLEEP_FUSE},
	{"fuse_", SLEEP_FUSE, FIT_FILES | FIT_COMPLETION},
	{"handle_userfault", SLEEP_UFFD},
	{"userfaultfd_event_wait_completion", SLEEP_UFFD},
	{"virtqueue_", SLEEP_VIRTIO},

	/* Memory. */
	{"try_to_free_mem_cgroup_pages", SLEEP_MEMCG, FIT_FREEING | FIT_RECLAIM},
	{"try_charge", SLEEP_MEMCG, FIT_GENERAL | FIT_RECLAIM},
	{"mem_cgroup_handle_over_high", SLEEP_MEMCG, FIT_GENERAL | FIT_RECLAIM},
	{"__mem_cgroup_handle_over_high", SLEEP_MEMCG, FIT_GENERAL | FIT_RECLAIM},
	{"mem_cgroup_oom", SLEEP_MEMCG},
	{"try_to_free_pages", SLEEP_RECLAIM, FIT_FREEING},
	{"reclaim_throttle", SLEEP_RECLAIM},
	{"throttle_direct_reclaim", SLEEP_RECLAIM},
	{"congestion_wait", SLEEP_RECLAIM},
	{"wait_iff_congested", SLEEP_RECLAIM},
	{"shrink_node", SLEEP_RECLAIM, FIT_FREEING},
	{"shrink_lruvec", SLEEP_RECLAIM, FIT_FREEING},
	{"shrink_inactive_list", SLEEP_RECLAIM, FIT_FREEING},
	{"shrink_folio_list", SLEEP_RECLAIM, FIT_FREEING},
	{"shrink_page_list", SLEEP_RECLAIM, FIT_FREEING},
	{"shrink_slab", SLEEP_RECLAIM, FIT_FREEING},
	{"do_shrink_slab", SLEEP_RECLAIM, FIT_FREEING},

	/* The life of a process. */
	{"__refrigerator", SLEEP_FREEZER},
	{"do_freezer_trap", SLEEP_FROZEN_CGROUP},
	{"get_signal", SLEEP_FROZEN_CGROUP, FIT_FIRST}, /* or stopped: its state says that */
	{"ptrace_stop", SLEEP_PTRACE},
	{"ptrace_attach", SLEEP_TRACEE},
	{"ptrace_check_attach", SLEEP_TRACEE},
	{"do_signal_stop", SLEEP_STOPPED},
	{"wait_for_vfork_done", SLEEP_VFORK},
	{"kernel_clone", SLEEP_VFORK, FIT_FIRST | FIT_COMPLETION},
	{"coredump_", SLEEP_CORE_DUMP},
	{"do_coredump", SLEEP_CORE_DUMP},
	{"vfs_coredump", SLEEP_CORE_DUMP},
	{"exit_mm", SLEEP_CORE_DUMP, FIT_FIRST},
	{"do_exit", SLEEP_CORE_DUMP, FIT_FIRST},
	{"de_thread", SLEEP_THREADS},
	{"begin_new_exec", SLEEP_THREADS, FIT_FIRST},
	{"io_uring_cancel", SLEEP_REQUESTS},
	{"io_wq_put_and_exit", SLEEP_REQUESTS},
	{"exit_aio", SLEEP_REQUESTS},
	{"__x64_sys_io_destroy", SLEEP_REQUESTS, FIT_FIRST | FIT_COMPLETION},
	{"__arm64_sys_io_destroy", SLEEP_REQUESTS, FIT_FIRST | FIT_COMPLETION},
	{"__do_sys_io_destroy", SLEEP_REQUESTS, FIT_FIRST | FIT_COMPLETION},

	/* Locks with events. */
	{"futex_lock_pi", SLEEP_FUTEX, FIT_GENERAL | FIT_RT_MUTEX},
	{"futex_wait", SLEEP_FUTEX, FIT_GENERAL | FIT_RT_MUTEX},
	{"__futex_wait", SLEEP_FUTEX},
	{"btrfs_tree_lock", SLEEP_LOCK},
	{"btrfs_tree_read_lock", SLEEP_LOCK},
	{"rwsem_down_", SLEEP_LOCK},
	{"percpu_rwsem_wait", SLEEP_LOCK},
	{"__percpu_down_read", SLEEP_LOCK},
	{"__mutex_lock", SLEEP_LOCK},
	{"__ww_mutex_lock", SLEEP_LOCK},
	{"__down", SLEEP_LOCK},
	{"rt_mutex_", SLEEP_RT_MUTEX},
	{"__rt_mutex_", SLEEP_RT_MUTEX},

	/* Sleeps in state S. */
	{"anon_pipe_read", SLEEP_PIPE_EMPTY},
	{"pipe_read", SLEEP_PIPE_EMPTY},
	{"anon_pipe_write", SLEEP_PIPE_FULL},
	{"pipe_write", SLEEP_PIPE_FULL},
	{"pipe_wait", SLEEP_PIPE},
	{"do_wait_for_common", SLEEP_COMPLETION, FIT_NOTHING},
	{"do_wait", SLEEP_CHILD},
	{"do_epoll_wait", SLEEP_EVENTS},
	{"ep_poll", SLEEP_EVENTS},
	{"do_poll", SLEEP_EVENTS},
	{"do_sys_poll", SLEEP_EVENTS},
	{"do_select", SLEEP_EVENTS},
	{"sk_wait_data", SLEEP_SOCKET},
	{"unix_stream_", SLEEP_SOCKET},
	{"__skb_wait_for", SLEEP_SOCKET},
	{"sk_stream_wait", SLEEP_SOCKET},
	{"inet_csk_accept", SLEEP_SOCKET},
	{"do_nanosleep", SLEEP_ITSELF},
	{"hrtimer_nanosleep", SLEEP_ITSELF},

	/* General ones. */
	{"msleep", SLEEP_TIMER, FIT_NOTHING},
	{"usleep_range", SLEEP_TIMER, FIT_NOTHING},
	{"schedule_timeout_", SLEEP_TIMER, FIT_NOTHING},
	{"wait_for_completion", SLEEP_COMPLETION, FIT_NOTHING},
	{"__wait_for_common", SLEEP_COMPLETION, FIT_NOTHING},

	/* The scheduler's own. */
	{"schedule", SLEEP_NONE, FIT_FIRST},
	{"__schedule", SLEEP_NONE, FIT_FIRST},
	{"__switch_to", SLEEP_NONE, FIT_FIRST},
};

enum sleep_cause asleep_refine(enum sleep_cause found, const char *function)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct line *l = &lines[i];
		uint32_t fit = l->fit ? l->fit : FIT_GENERAL;
		if (sets_of[found] & fit && !strncmp(function, l->begin, strlen(l->begin)))
			return l->cause;
	}
	return found == SLEEP_NONE ? SLEEP_UNKNOWN : found;
}

const char *asleep_words(enum sleep_cause cause)
{
	return cause_words[cause];
}

enum sleep_cause asleep_cause(struct query *q, const uint64_t *frames, uint32_t n)
{
	enum sleep_cause found = SLEEP_NONE;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		found = asleep_refine(found, name ? name : "");
	}
	return found;
}

const char *asleep_for(struct query *q, const uint64_t *frames, uint32_t n)
{
	return asleep_words(asleep_cause(q, frames, n));
}
