/* SPDX-License-Identifier: GPL-2.0-only */
/* The path of a file or a cgroup, name by name, from the kernel's caches. */
#ifndef KONTEND_INSPECT_READ_PATH_H
#define KONTEND_INSPECT_READ_PATH_H

#include "kernel/because.h"
#include "path-shared.h"

enum { TREE_DEPTH = 24 };

/* Adds a name. False: it was the last one, or there is no room. */
static __always_inline bool put_name(struct raw_path *p, const char *name)
{
	__u32 n = p->bytes;

	if (n > RAW_PATH_NAMES - RAW_NAME)
		return false;
	long len = bpf_probe_read_kernel_str(p->names + n, RAW_NAME, name);
	if (len <= 0)
		return false;
	p->bytes = n + (__u32)len;
	return true;
}

/* Adds the name of a cgroup's directory, and goes to the one above. 1: there is no more. */
static __always_inline long put_group_name(struct raw_path *p, __u64 *node)
{
	struct kernfs_node___because *k = (void *)*node;
	struct kernfs_node___because *parent = bpf_core_field_exists(k->__parent)
						       ? BPF_CORE_READ(k, __parent)
						       : BPF_CORE_READ(k, parent);

	p->whole = !parent;
	if (!parent || !put_name(p, BPF_CORE_READ(k, name)))
		return 1;
	*node = (__u64)parent;
	return 0;
}

#endif
