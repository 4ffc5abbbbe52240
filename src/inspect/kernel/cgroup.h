/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_KERNEL_CGROUP_H
#define KONTEND_INSPECT_KERNEL_CGROUP_H

#include "base.h"

struct kernfs_node {
	const char *name;
	__u64 id;
} CORE;

struct cgroup {
	struct kernfs_node *kn;
} CORE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} CORE;

#endif
