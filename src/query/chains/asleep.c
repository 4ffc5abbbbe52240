// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cause of a sleep. The kernel does not record it, but the call chain of the sleeping task
 * shows it: the innermost function of the table below names the cause. Causes that are "general"
 * (I/O, a completion, a timer) count only if no other function of the chain names one, because a
 * caller says more: io_schedule() below jbd2_log_wait_commit() is "jbd2 commit". The functions are
 * those of Linux 5.19 to 6.18.
 */
#include "list.h"

#include <string.h>

/* Functions whose names begin with @begin. The first line that fits a name counts. */
static const struct cause {
	const char *begin, *what;
	bool general;
} causes[] = {
	{"io_schedule", "I/O", true},
	{"folio_wait_", "I/O of a page"},
	{"__folio_lock", "folio lock"},
	{"folio_lock", "folio lock"},
	{"wait_on_page_", "I/O of a page"},
	{"__wait_on_buffer", "I/O of a buffer"},
	{"submit_bio_wait", "I/O", true},
	{"blk_mq_get_tag", "request queue is full"},
	{"wbt_wait", "writeback is throttled"},
	{"rq_qos_wait", "writeback is throttled"},
	{"balance_dirty_pages", "too many dirty pages"},
	{"jbd2_log_wait_commit", "jbd2 commit"},
	{"jbd2_journal_", "jbd2 journal"},
	{"wait_transaction_locked", "jbd2 commit"},
	{"xlog_", "XFS log"},
	{"xfs_log_", "XFS log"},
	{"btrfs_wait_", "btrfs"},
	{"rpc_wait", "RPC, as of NFS"},
	{"nfs_wait", "RPC, as of NFS"},
	{"handle_userfault", "userfaultfd"},
	{"request_wait_answer", "FUSE daemon"},
	{"fuse_wait", "FUSE daemon"},
	{"p9_client_rpc", "9p server"},
	{"anon_pipe_read", "pipe is empty"},
	{"pipe_read", "pipe is empty"},
	{"anon_pipe_write", "pipe is full"},
	{"pipe_write", "pipe is full"},
	{"pipe_wait", "pipe"},
	{"futex_wait", "futex"},
	{"__futex_wait", "futex"},
	{"futex_lock_pi", "futex"},
	{"synchronize_rcu", "RCU grace period"},
	{"synchronize_srcu", "RCU grace period"},
	{"__wait_rcu_gp", "RCU grace period"},
	{"wait_rcu_exp_gp", "RCU grace period"},
	{"__flush_work", "work of a kworker"},
	{"flush_work", "work of a kworker"},
	{"kthread_stop", "kernel thread"},
	{"do_wait", "child process"},
	{"do_epoll_wait", "events of descriptors"},
	{"ep_poll", "events of descriptors"},
	{"do_poll", "events of descriptors"},
	{"do_sys_poll", "events of descriptors"},
	{"do_select", "events of descriptors"},
	{"sk_wait_data", "socket"},
	{"unix_stream_", "socket"},
	{"__skb_wait_for", "socket"},
	{"sk_stream_wait", "socket"},
	{"inet_csk_accept", "socket"},
	{"virtqueue_", "virtio device"},
	{"do_signal_stop", "stopped by a signal"},
	{"ptrace_stop", "stopped by a debugger"},
	{"do_freezer_trap", "frozen cgroup"},
	{"__refrigerator", "frozen"},
	{"mem_cgroup_handle_over_high", "memory limit of its cgroup"},
	{"try_to_free_", "free memory"},
	{"shrink_", "free memory"},
	{"do_nanosleep", "sleeps by itself"},
	{"hrtimer_nanosleep", "sleeps by itself"},
	{"msleep", "timer", true},
	{"usleep_range", "timer", true},
	{"rwsem_down_", "another lock"},
	{"__mutex_lock", "another lock"},
	{"__down", "another lock"},
	{"wait_for_completion", "completion", true},
	{"__wait_for_common", "completion", true},
};

static const struct cause *find_cause(const char *function)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (!strncmp(function, causes[i].begin, strlen(causes[i].begin)))
			return &causes[i];
	return NULL;
}

const char *asleep_for(struct query *q, const uint64_t *frames, uint32_t n)
{
	const char *general = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		const struct cause *c = name ? find_cause(name) : NULL;
		if (c && !c->general)
			return c->what;
		if (c && !general)
			general = c->what;
	}
	return general;
}
