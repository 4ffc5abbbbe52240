/* SPDX-License-Identifier: GPL-2.0-only */
/* By which the kernel knows of waits for locks that no event reports: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_SILENT_H
#define KONTEND_INSPECT_KERNEL_SILENT_H

#include "locks.h"

/* include/linux/rcu_sync.h: a writer waits for a grace period. include/linux/mm_types.h */
enum { GP_ENTER = 1, VMA_LOCK_OFFSET = 0x40000000 };

struct wait_queue_head {
	struct list_head head;
} CORE;

struct rcu_sync {
	int gp_state, gp_count;
	struct wait_queue_head gp_wait;
} CORE;

struct percpu_rw_semaphore___silent {
	struct rcu_sync rss;
	struct wait_queue_head waiters;
} CORE;

struct mm_struct___silent {
	struct rcuwait vma_writer_wait; /* 6.15 */
} CORE;

/* linux/wait.h: of a task that waits for a percpu-rwsem, on its stack. */
struct wait_queue_entry {
	unsigned int flags;
	void *private;
	struct list_head entry;
} CORE;

enum { WQ_FLAG_CUSTOM = 4 }; /* it waits to read */

struct vm_area_struct___silent {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	struct atomic_int vm_refcnt;
} CORE;

struct task_struct___silent {
	struct mm_struct *mm;
	unsigned long nvcsw;
} CORE;

#endif
