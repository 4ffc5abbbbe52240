/* SPDX-License-Identifier: GPL-2.0-only */
/* Until when a task ran, and where. */
#ifndef KONTEND_INSPECT_READ_RAN_H
#define KONTEND_INSPECT_READ_RAN_H

#include "kernel/locks.h"

enum { NORMAL = 0, BATCH = 3, IDLE = 5 }; /* policies of the fair scheduler */

/*
 * Until when a task that does not run did so: when it came to its CPU, and how long it has run
 * since then. Both stay while it sleeps, also where its time in interrupts or a hypervisor's is not
 * counted as its own. Only the fair scheduler keeps the latter.
 */
static __always_inline __u64 ran_until(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;

	if (!bpf_core_field_exists(task->on_cpu) ||
	    !bpf_core_field_exists(task->sched_info.last_arrival) ||
	    BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu))
		return 0;
	__u32 policy = BPF_CORE_READ(task, policy);
	if (policy != NORMAL && policy != BATCH && policy != IDLE)
		return 0;
	__u64 arrived = BPF_CORE_READ(task, sched_info.last_arrival);
	__u64 all = BPF_CORE_READ(task, se.sum_exec_runtime);
	__u64 before = BPF_CORE_READ(task, se.prev_sum_exec_runtime);
	return arrived && all >= before ? arrived + all - before : 0;
}

static __always_inline int last_cpu(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;

	return bpf_core_field_exists(task->thread_info.cpu)
		       ? (int)BPF_CORE_READ(task, thread_info.cpu)
		       : -1;
}

#endif
