/* SPDX-License-Identifier: GPL-2.0-only */
/* By which files of /proc, and of others, a task gets at what a lock guards: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_READERS_H
#define KONTEND_INSPECT_KERNEL_READERS_H

#include "locks.h"
#include "walk-files.h"

struct pid___readers {
	struct hlist_head tasks[1];
} CORE;

struct task_struct___links {
	struct hlist_node pid_links[1];
} CORE;

struct seq_file___readers {
	void *private;
} CORE;

/* Of maps, smaps, smaps_rollup and numa_maps. */
struct proc_maps_private {
	struct mm_struct *mm;
	unsigned char mmap_locked; /* 6.17: is the lock taken, or that of one mapping only? */
} CORE;

/* The same since 6.18. */
struct proc_maps_locking_ctx {
	struct mm_struct *mm;
} CORE;

struct proc_maps_private___ctx {
	struct proc_maps_locking_ctx lock_ctx;
} CORE;

struct userfaultfd_ctx {
	struct mm_struct *mm;
} CORE;

struct proc_inode {
	struct pid *pid;
	struct inode vfs_inode;
} CORE;

/* Per-VMA locks: 6.4 */
struct vm_area_struct {
	int vm_lock_seq;
} CORE;

/* 6.17 */
enum madvise_lock_mode { MADVISE_VMA_READ_LOCK = 2 };

#endif
