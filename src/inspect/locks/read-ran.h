/* SPDX-License-Identifier: GPL-2.0-only */
/* Until when a task ran, and where. */
#ifndef KONTEND_INSPECT_READ_RAN_H
#define KONTEND_INSPECT_READ_RAN_H

#include "kernel/locks.h"

enum { NORMAL = 0, BATCH = 3, IDLE = 5 }; /* policies of the fair scheduler */
enum { FIFO = 1, RR = 2, DEADLINE = 6 };

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

struct rq___clocks {
	unsigned long long clock, clock_task;
} CORE;

/*
 * The same of a real-time or deadline task, about: its time was counted for the last time when it
 * went to sleep. The clock of that stands still during interrupts and while a hypervisor has the
 * CPU, where the kernel measures these: by how much it is late now is added. So the task may have
 * slept for longer, by the time that interrupts have taken since then.
 */
static __always_inline __u64 ran_by_exec_start(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;
	struct rq___clocks *rq = NULL;

	if (!bpf_core_field_exists(task->se.exec_start) ||
	    !bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(rq->clock_task) ||
	    !bpf_core_field_exists(rq->clock))
		return 0;
	rq = (void *)BPF_CORE_READ(task, se.cfs_rq, rq);
	__u64 ran = BPF_CORE_READ(task, se.exec_start);
	__u64 clock = BPF_CORE_READ(rq, clock), counted = BPF_CORE_READ(rq, clock_task);
	return ran && clock >= counted && ran <= counted ? ran + (clock - counted) : 0;
}

/* For tasks of any policy, about. */
static __always_inline __u64 sleeps_since(struct task_struct *t)
{
	__u32 policy = BPF_CORE_READ((struct task_struct___locks *)t, policy);

	return policy == FIFO || policy == RR || policy == DEADLINE ? ran_by_exec_start(t)
								    : ran_until(t);
}

static __always_inline int last_cpu(struct task_struct *t)
{
	struct task_struct___locks *task = (void *)t;

	return bpf_core_field_exists(task->thread_info.cpu)
		       ? (int)BPF_CORE_READ(task, thread_info.cpu)
		       : -1;
}

#endif
