/* SPDX-License-Identifier: GPL-2.0-only */
/* How a task is found by its number in a PID namespace: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_PID_H
#define KONTEND_INSPECT_KERNEL_PID_H

#include "ns.h"

struct xarray {
	void *xa_head;
} CORE;

struct xa_node {
	unsigned char shift;
	void *slots[64];
} CORE;

struct idr {
	struct xarray idr_rt;
} CORE;

struct pid_namespace___idr {
	struct idr idr;
} CORE;

struct pid___tasks {
	struct hlist_head tasks[4];
} CORE;

struct task_struct___pid_links {
	struct hlist_node pid_links[4];
} CORE;

enum { PID_DEPTH = 6 };
enum { PID_THREAD, PID_TGID }; /* enum pid_type */

/* The address of the struct upid of @pid, a struct pid, for its namespace of that level. */
static __always_inline __u64 pid_upid(__u64 pid, __u32 level)
{
	struct pid *p = (void *)pid;

	return pid + bpf_core_field_offset(p->numbers) +
	       level * (__u64)bpf_core_type_size(struct upid);
}

static __always_inline __u64 pid_ns(__u64 pid, __u32 level)
{
	__u64 ns = 0;

	bpf_probe_read_kernel(
		&ns, sizeof(ns),
		(void *)(pid_upid(pid, level) + bpf_core_field_offset(((struct upid *)0)->ns)));
	return ns;
}

/* The struct pid of number @nr in the namespace @at, which is of that level; 0: there is none. */
static __always_inline __u64 pid_find(__u64 at, __u32 level, __u32 nr)
{
	struct pid_namespace___idr *ns = (void *)at;
	const __u32 mask = 63;
	int known = 0;

	at = (__u64)BPF_CORE_READ(ns, idr.idr_rt.xa_head);
	for (int i = 0; i < PID_DEPTH && (at & 3) == 2; i++) {
		struct xa_node *node = (void *)(at - 2);
		__u32 slot = nr >> (BPF_CORE_READ(node, shift) & 31) & mask;
		bpf_probe_read_kernel(&at, sizeof(at),
				      (char *)node + bpf_core_field_offset(node->slots) +
					      slot * sizeof(at));
	}
	if (!at || at & 3)
		return 0;
	bpf_probe_read_kernel(
		&known, sizeof(known),
		(void *)(pid_upid(at, level) + bpf_core_field_offset(((struct upid *)0)->nr)));
	/* Numbers are reused, and trees shrink. */
	return (__u32)known == nr ? at : 0;
}

/* The task of a struct pid; @type PID_TGID: the leader of its process. 0: there is none. */
static __always_inline __u64 pid_task_at(__u64 pid, __u32 type)
{
	__u64 first = 0;

	if (!pid)
		return 0;
	bpf_probe_read_kernel(&first, sizeof(first),
			      (char *)pid +
				      bpf_core_field_offset(((struct pid___tasks *)0)->tasks) +
				      type * sizeof(first));
	if (!first)
		return 0;
	return first - bpf_core_field_offset(((struct task_struct___pid_links *)0)->pid_links) -
	       type * bpf_core_type_size(struct hlist_node);
}

#endif
