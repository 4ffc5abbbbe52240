/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CHAINS_ASLEEP_H
#define KONTEND_QUERY_CHAINS_ASLEEP_H

#include <stdint.h>

struct query;

/* The causes of sleep that functions show. */
enum sleep_cause {
	SLEEP_NONE,    /* no function yet, or only those of the scheduler */
	SLEEP_UNKNOWN, /* functions that show no cause */
	SLEEP_IO,      /* not known for what */
	SLEEP_PAGE,
	SLEEP_FOLIO, /* of a page that another task has locked */
	SLEEP_READ,
	SLEEP_WRITE,
	SLEEP_METADATA,
	SLEEP_FLUSH,
	SLEEP_COMMAND,
	SLEEP_FULL_QUEUE,
	SLEEP_FROZEN_QUEUE,
	SLEEP_DM,
	SLEEP_MD,
	SLEEP_DIRECT,
	SLEEP_FAULT,
	SLEEP_SWAP,
	SLEEP_MIGRATION,
	SLEEP_WRITEBACK,
	SLEEP_THROTTLED,
	SLEEP_IO_LIMIT,
	SLEEP_DIRTY,
	SLEEP_JBD2_COMMIT,
	SLEEP_JBD2_SPACE,
	SLEEP_JBD2_HANDLES,
	SLEEP_JBD2,
	SLEEP_XFS,
	SLEEP_BTRFS_COMMIT,
	SLEEP_BTRFS_SPACE,
	SLEEP_BTRFS,
	SLEEP_ZFS_GROUP,
	SLEEP_ZFS,
	SLEEP_INODE,
	SLEEP_VMA,
	SLEEP_PERCPU_RCU,     /* its writer, before readers take its slow path */
	SLEEP_PERCPU_READERS, /* its writer, until they have left */
	SLEEP_RCU,
	SLEEP_WORK,
	SLEEP_KTHREAD,
	SLEEP_IRQ,
	SLEEP_STOPPER,
	SLEEP_HELPER,
	SLEEP_COMPLETION,
	SLEEP_RPC,
	SLEEP_NETWORK_FS,
	SLEEP_9P,
	SLEEP_FUSE,
	SLEEP_UFFD,
	SLEEP_RECLAIM,
	SLEEP_MEMCG,
	SLEEP_FREEZER,
	SLEEP_FROZEN_CGROUP,
	SLEEP_PTRACE,
	SLEEP_TRACEE, /* it is the tracer */
	SLEEP_STOPPED,
	SLEEP_VFORK,
	SLEEP_CORE_DUMP,
	SLEEP_THREADS,
	SLEEP_REQUESTS,
	SLEEP_FILE_LOCK,
	SLEEP_LOCK, /* of the kernel, with an event */
	SLEEP_RT_MUTEX,
	SLEEP_FUTEX,
	SLEEP_PIPE_EMPTY,
	SLEEP_PIPE_FULL,
	SLEEP_PIPE,
	SLEEP_CHILD,
	SLEEP_EVENTS,
	SLEEP_SOCKET,
	SLEEP_VIRTIO,
	SLEEP_ITSELF,
	SLEEP_TIMER,
	SLEEP_CPU_MAX, /* it does not sleep, and so no function shows it */
	SLEEP_CAUSES,
};

/*
 * The cause when the next function outwards is known, too. @found is that of the functions further
 * in; it begins with SLEEP_NONE.
 */
enum sleep_cause asleep_refine(enum sleep_cause found, const char *function);

/* "I/O", "pipe is full"; NULL: not known. */
const char *asleep_words(enum sleep_cause cause);

/* The cause that the functions of a task's calls show, innermost first. */
enum sleep_cause asleep_cause(struct query *q, const uint64_t *frames, uint32_t n);
/* The words for the functions of a task's calls, innermost first; NULL: none shows a cause. */
const char *asleep_for(struct query *q, const uint64_t *frames, uint32_t n);

#endif
