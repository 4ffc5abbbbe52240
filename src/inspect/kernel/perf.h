/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's perf events as far as they are read here: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_PERF_H
#define KONTEND_INSPECT_KERNEL_PERF_H

#include "cgroup.h"

/* Enums must have the kernel's name for their members to be relocated. */
enum perf_event_state {
	STATE_EXIT = -3, /* and below: its task has exited, or it is closed */
};

struct perf_event_attr {
	__u32 type;
	__u64 config;
	__u64 disabled : 1, inherit : 1, pinned : 1, exclusive : 1;
	__u32 bp_type;
	__u64 bp_addr;
	__u64 bp_len;
} CORE;

struct pmu {
	struct list_head events; /* 6.15 */
	const char *name;
} CORE;

struct hw_perf_event {
	struct task_struct *target;
} CORE;

struct trace_event_class {
	const char *system;
} CORE;

struct tracepoint {
	const char *name;
} CORE;

struct trace_event_call {
	struct trace_event_class *class;
	union {
		const char *name;
		struct tracepoint *tp;
	};
	int flags;
} CORE;

struct perf_event_pmu_context { /* 6.2 */
	int rotate_necessary;
} CORE;

struct perf_event_context {
	struct list_head event_list;
	int nr_events;
	int is_active;
	int rotate_necessary; /* before 6.2 */
	__u64 time;	      /* in 7.3 in a structure */
	struct task_struct *task;
} CORE;

struct perf_time_ctx {
	__u64 time;
} CORE;

struct perf_event_context___7 {
	struct perf_time_ctx time;
} CORE;

static __always_inline __u64 context_time(struct perf_event_context *c)
{
	struct perf_event_context___7 *newer = (void *)c;

	return bpf_core_field_exists(newer->time.time) ? BPF_CORE_READ(newer, time.time)
						       : BPF_CORE_READ(c, time);
}

struct perf_cgroup {
	struct cgroup_subsys_state css;
} CORE;

/* Counters of 8 bytes; what is in them differs between architectures. */
struct local64 {
	long a;
} CORE;

struct perf_event {
	struct list_head event_entry;
	struct list_head pmu_list; /* 6.15 */
	struct perf_event *group_leader;
	struct pmu *pmu;
	enum perf_event_state state;
	struct local64 count;
	__u64 total_time_enabled, total_time_running;
	__u64 tstamp;
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	struct perf_event_context *ctx;
	struct perf_event_pmu_context *pmu_ctx; /* 6.2 */
	struct perf_event *parent;
	int oncpu, cpu;
	struct task_struct *owner;
	__u64 id;
	struct trace_event_call *tp_event;
	struct perf_cgroup *cgrp; /* CONFIG_CGROUP_PERF */
} CORE;

#endif
