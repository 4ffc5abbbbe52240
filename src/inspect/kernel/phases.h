/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of a kernel probe, and the cgroup of a task that perf uses: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_PHASES_H
#define KONTEND_INSPECT_KERNEL_PHASES_H

#include "arch.h"
#include "cgroup.h"

/* The argument of a probe. */
struct pt_regs___di {
	unsigned long di;
} CORE;

struct pt_regs___x0 {
	__u64 regs[31];
} CORE;

struct css_set {
	struct cgroup_subsys_state *subsys[16];
} CORE;

struct task_struct___cgroups {
	struct css_set *cgroups;
} CORE;

#endif
