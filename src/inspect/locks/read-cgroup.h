/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a task in a cgroup, or below it? */
#ifndef KONTEND_INSPECT_READ_CGROUP_H
#define KONTEND_INSPECT_READ_CGROUP_H

#include "kernel/cgroup.h"

enum { CGROUP_DEPTH = 16 };

struct cgroup_subsys_state___tree {
	struct cgroup *cgroup;
	struct cgroup_subsys_state___tree *parent;
} CORE;

struct css_set___tree {
	struct cgroup_subsys_state___tree *subsys[1];
} CORE;

enum cgroup_subsys_id { perf_event_cgrp_id = 1 };

struct task_struct___cgroup {
	struct css_set___tree *cgroups;
} CORE;

/* Its cgroup in the hierarchy by which perf knows cgroups. */
static __always_inline struct cgroup_subsys_state___tree *perf_css_of(void *t)
{
	__u32 nth = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	struct task_struct___cgroup *task = t;
	struct css_set___tree *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state___tree *css = NULL;

	if (set)
		bpf_probe_read_kernel(&css, sizeof(css),
				      (void *)((__u64)set + bpf_core_field_offset(set->subsys) +
					       nth * sizeof(void *)));
	return css;
}

/* The number of the directory of that cgroup; 0: not known. */
static __always_inline __u64 cgroup_of(void *t)
{
	struct cgroup_subsys_state___tree *css = perf_css_of(t);

	return css ? BPF_CORE_READ(css, cgroup, kn, id) : 0;
}

/* @id: the number of the directory of the cgroup. */
static __always_inline bool is_in_cgroup(void *t, __u64 id)
{
	struct cgroup_subsys_state___tree *css = perf_css_of(t);

	for (int i = 0; css && i < CGROUP_DEPTH; i++) {
		if (BPF_CORE_READ(css, cgroup, kn, id) == id)
			return true;
		css = BPF_CORE_READ(css, parent);
	}
	return false;
}

#endif
