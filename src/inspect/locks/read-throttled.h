/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a task that could run kept from it by the cpu.max of a cgroup? */
#ifndef KONTEND_INSPECT_READ_THROTTLED_H
#define KONTEND_INSPECT_READ_THROTTLED_H

#include "kernel/walk.h"
#include "read-ran.h"

enum { THROTTLED_DEPTH = 12 };

struct task_group___cap {
	struct cgroup_subsys_state css;
	struct sched_entity___cap **se; /* its entity on each CPU; before 7.x */
	struct task_group___cap *parent;
} CORE;

struct cfs_rq___cap {
	struct rq *rq;
	struct task_group___cap *tg;
	unsigned throttled : 1; /* an int before 6.18 */
	int throttle_count;
} CORE;

struct sched_entity___cap {
	struct cfs_rq___cap *cfs_rq;
} CORE;

/* From 7.x on the queue of a group on a CPU is beside its entity; the root's is not. */
struct cfs_tg_state {
	struct cfs_rq___cap cfs_rq;
	struct sched_entity___cap se;
} CORE;

struct task_struct___cap {
	unsigned int __state;
	struct sched_entity___cap se;
	unsigned throttled : 1; /* from 6.18 on */
} CORE;

/* The entity by which the group of a queue is in the queue above; 0: none is. */
static __always_inline __u64 entity_above(struct cfs_rq___cap *q)
{
	struct task_group___cap *tg = BPF_CORE_READ(q, tg);
	struct cfs_tg_state *s = NULL;

	if (!tg)
		return 0;
	if (bpf_core_field_exists(tg->se)) {
		__u64 entities = (__u64)BPF_CORE_READ(tg, se);
		return entities ? word_at(entities + 8ull * (__u32)BPF_CORE_READ(q, rq, cpu)) : 0;
	}
	if (!bpf_core_field_exists(s->se) || !bpf_core_field_exists(s->cfs_rq) ||
	    !bpf_core_field_exists(tg->parent) || !BPF_CORE_READ(tg, parent))
		return 0;
	return (__u64)q - bpf_core_field_offset(s->cfs_rq) + bpf_core_field_offset(s->se);
}

/* The run queue with the limit: of the task's cgroup or of one above; 0: it is not throttled. */
static __always_inline __u64 throttled_queue(struct task_struct *t)
{
	struct task_struct___cap *task = (void *)t;
	struct task_struct___locks *runs = (void *)t;
	struct cfs_rq___cap *q = NULL;

	if (BPF_CORE_READ(task, __state) || !bpf_core_field_exists(q->throttle_count))
		return 0;
	if (bpf_core_field_exists(task->throttled) &&
	    !BPF_CORE_READ_BITFIELD_PROBED(task, throttled))
		return 0;
	if (BPF_CORE_READ_BITFIELD_PROBED(runs, on_cpu))
		return 0;
	q = BPF_CORE_READ(task, se.cfs_rq);
	if (!q || BPF_CORE_READ(q, throttle_count) <= 0)
		return 0;
	for (int i = 0; q && i < THROTTLED_DEPTH; i++) {
		if (BPF_CORE_READ_BITFIELD_PROBED(q, throttled))
			return (__u64)q;
		__u64 at = entity_above(q);
		q = at ? BPF_CORE_READ((struct sched_entity___cap *)at, cfs_rq) : NULL;
	}
	return 0;
}

#endif
