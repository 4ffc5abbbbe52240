/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a task measured? A program that includes this has a config with an `ns`. */
#ifndef KONTEND_INSPECT_READ_ASKED_H
#define KONTEND_INSPECT_READ_ASKED_H

#include "asked-shared.h"
#include "kernel/ns.h"
#include "read-cgroup.h"
#include "read-ran.h"

enum { ASKED_ANCESTORS = 8 };

struct raw_asked asked SEC(".data.asked") = {0};

ARRAY(asked_cpus, __u64, RAW_ASKED_CPUS);

/* Processes or threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_ASKED_IDS);
	__type(key, __u32);
	__type(value, __u32);
} asked_ids SEC(".maps");

struct task_struct___asked {
	struct task_struct *group_leader, *real_parent;
	unsigned long long start_time;
} CORE;

/* A process, or one that it has started since, as long as those in between live. */
static __always_inline bool is_of_processes(struct task_struct *t,
					    const volatile struct ns_config *c)
{
	struct task_struct___asked *task = (void *)t;
	struct task_struct___asked *leader = (void *)BPF_CORE_READ(task, group_leader);
	__u32 pid = (__u32)ns_pid(t, c);

	if (bpf_map_lookup_elem(&asked_ids, &pid))
		return true;
	if (!leader || BPF_CORE_READ(leader, start_time) < asked.since_ns)
		return false;
	for (int i = 0; task && i < ASKED_ANCESTORS; i++) {
		task = (void *)BPF_CORE_READ(task, real_parent);
		pid = task ? (__u32)ns_pid((void *)task, c) : 0;
		if (pid && bpf_map_lookup_elem(&asked_ids, &pid))
			return true;
	}
	return false;
}

static __always_inline bool is_asked_for(struct task_struct *t, const volatile struct ns_config *c)
{
	__u32 cpu = (__u32)last_cpu(t), tid;

	if (asked.by_cpu) {
		__u64 *wanted = bpf_map_lookup_elem(&asked_cpus, &cpu);
		if (!wanted || !*wanted)
			return false;
	}
	switch (asked.scope) {
	case RAW_SCOPE_PIDS:
		return is_of_processes(t, c);
	case RAW_SCOPE_TIDS:
		tid = (__u32)ns_tid(t, c);
		return bpf_map_lookup_elem(&asked_ids, &tid);
	case RAW_SCOPE_CGROUP:
		return is_in_cgroup(t, asked.cgroup);
	default:
		return true;
	}
}

#endif
