/* SPDX-License-Identifier: GPL-2.0-only */
/* One perf event of the kernel, as user space gets it. */
#ifndef KONTEND_INSPECT_READ_EVENT_H
#define KONTEND_INSPECT_READ_EVENT_H

#include "kernel/perf.h"
#include "read-task.h"
#include "shared.h"

enum { STATE_NEW = 0x800 }; /* TASK_NEW */

extern const volatile struct raw_config config;

/* The front of struct perf_event_attr, which no kernel may change: one read instead of ten. */
struct attr_front {
	__u32 type, size;
	__u64 config, period, sample_type, read_format;
	__u64 disabled : 1, inherit : 1, pinned : 1, exclusive : 1, excludes : 4;
	__u64 mmap : 1, comm : 1, freq : 1, between : 4, precise : 2, others : 47;
	__u32 wakeup, bp_type;
	__u64 bp_addr, bp_len;
};

static __always_inline void take_attr(struct raw_event *r, const struct attr_front *a)
{
	r->type = a->type;
	r->config = a->config;
	r->bp_type = a->bp_type;
	r->bp_addr = a->bp_addr;
	r->bp_len = a->bp_len;
	if (a->pinned)
		r->flags |= RAW_PINNED;
	if (a->inherit)
		r->flags |= RAW_INHERIT;
	if (a->exclusive)
		r->flags |= RAW_EXCLUSIVE;
	if (a->freq)
		r->flags |= RAW_FREQUENCY;
	r->flags |= a->excludes << RAW_EXCLUDES_BIT | a->precise << RAW_PRECISE_BIT;
}

static __always_inline void read_counts(struct raw_event *r, struct perf_event *e)
{
	struct perf_event *parent = BPF_CORE_READ(e, parent);

	r->id = BPF_CORE_READ(e, id);
	r->parent = (__u64)parent;
	r->parent_id = parent ? BPF_CORE_READ(parent, id) : 0;
	r->leader = (__u64)BPF_CORE_READ(e, group_leader);
	r->state = BPF_CORE_READ(e, state);
	r->cpu = BPF_CORE_READ(e, cpu);
	r->oncpu = BPF_CORE_READ(e, oncpu);
	bpf_core_read(&r->count, sizeof(r->count), &e->count);
	r->enabled_ns = BPF_CORE_READ(e, total_time_enabled);
	r->running_ns = BPF_CORE_READ(e, total_time_running);
	r->tstamp = BPF_CORE_READ(e, tstamp);
}

static __always_inline void read_context_of(struct raw_event *r, struct perf_event *e)
{
	struct perf_event_context *c = BPF_CORE_READ(e, ctx);
	int rotates = 0;

	r->ctx = (__u64)c;
	r->ctx_time = context_time(c);
	r->ctx_active = BPF_CORE_READ(c, is_active);
	r->ctx_events = BPF_CORE_READ(c, nr_events);
	if (bpf_core_field_exists(e->pmu_ctx))
		rotates = BPF_CORE_READ(e, pmu_ctx, rotate_necessary);
	else
		rotates = BPF_CORE_READ(c, rotate_necessary);
	if (rotates)
		r->flags |= RAW_ROTATES;
}

static __always_inline void read_names(struct raw_event *r, struct perf_event *e)
{
	struct trace_event_call *call = BPF_CORE_READ(e, tp_event);
	const char *name = NULL;

	bpf_probe_read_kernel_str(r->pmu, sizeof(r->pmu), BPF_CORE_READ(e, pmu, name));
	r->system[0] = r->name[0] = 0;
	if (!call)
		return;
	bpf_probe_read_kernel_str(r->system, sizeof(r->system), BPF_CORE_READ(call, class, system));
	/* TRACE_EVENT_FL_TRACEPOINT: the name is the tracepoint's. */
	if (BPF_CORE_READ(call, flags) & config.tracepoint_flag)
		name = BPF_CORE_READ(call, tp, name);
	else
		name = BPF_CORE_READ(call, name);
	bpf_probe_read_kernel_str(r->name, sizeof(r->name), name);
}

/*
 * Threads that have inherited all their events from one another exchange contexts when one of them
 * follows the other on a CPU, as this is cheaper than to switch the events: from then on an event
 * counts the task of its context, and not the one that it was opened for, which has its slot.
 */
static __always_inline void read_exchanged(struct raw_event *r, struct perf_event *e,
					   struct task_struct *target)
{
	struct task_struct *counted = some_task(BPF_CORE_READ(e, ctx, task));

	r->counted_tid = 0;
	if (!target || !counted || counted == target)
		return;
	if (BPF_CORE_READ(counted, __state) & STATE_NEW)
		r->flags |= RAW_NEWBORN;
	read_task(counted, &r->counted_pid, &r->counted_tid, r->counted_comm);
}

static __always_inline void read_tasks(struct raw_event *r, struct perf_event *e)
{
	struct task_struct *owner = BPF_CORE_READ(e, owner);
	struct task_struct *target = some_task(BPF_CORE_READ(e, hw.target));
	struct task_struct *tracer = NULL;

	if ((__s64)owner == -1)
		r->flags |= RAW_KERNEL;
	/* Before its number is read: as long as it is new, that is of the task it is a copy of. */
	if (target && BPF_CORE_READ(target, __state) & STATE_NEW)
		r->flags |= RAW_NEWBORN;
	read_task(some_task(owner), &r->owner_pid, &r->owner_tid, r->owner_comm);
	read_task(target, &r->target_pid, &r->target_tid, r->target_comm);
	/* Those of tracers are the kernel's own: no need to look for others among them. */
	if (target && r->flags & RAW_KERNEL && is_ptrace(target, e)) {
		r->flags |= RAW_PTRACE;
		if (BPF_CORE_READ(target, ptrace))
			tracer = some_task(BPF_CORE_READ(target, parent));
	}
	int tid;
	read_task(tracer, &r->tracer_pid, &tid, r->tracer_comm);
	read_exchanged(r, e, target);
}

static __always_inline void read_cgroup(struct raw_event *r, struct perf_event *e)
{
	bool has = bpf_core_field_exists(e->cgrp);
	struct perf_cgroup *cgroup = has ? BPF_CORE_READ(e, cgrp) : NULL;

	r->cgroup[0] = 0;
	if (!cgroup)
		return;
	r->flags |= RAW_CGROUP;
	r->cgroup_id = BPF_CORE_READ(cgroup, css.cgroup, kn, id);
	bpf_probe_read_kernel_str(r->cgroup, sizeof(r->cgroup),
				  BPF_CORE_READ(cgroup, css.cgroup, kn, name));
}

#endif
