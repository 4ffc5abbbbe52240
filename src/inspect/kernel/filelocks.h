/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's locks of files, and how a process is found by its number: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_FILELOCKS_H
#define KONTEND_INSPECT_KERNEL_FILELOCKS_H

#include "files.h"
#include "ns.h"

/* From 6.9 on what locks and leases have in common, and begin with; before, both are this: */
struct file_lock_core {
	struct file_lock_core *flc_blocker;
	unsigned int flc_flags;
	unsigned char flc_type;
	int flc_pid;
} CORE;

struct file_lock___before {
	struct file_lock___before *fl_blocker;
	unsigned int fl_flags;
	unsigned char fl_type;
	unsigned int fl_pid;
} CORE;

/* The bytes that a process locks: fl_end is the last one. */
struct file_lock___bytes {
	long long fl_start, fl_end;
} CORE;

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

enum { FILELOCK_PID_DEPTH = 6, FILELOCK_PIDTYPE_TGID = 1 };

/* A lock, or a request for one. */
struct filelock_view {
	__u64 blocker; /* the lock that it waits for, which may wait as well; 0: it does not wait */
	__u32 how;     /* flags */
	__u32 type;    /* enum filelock_type */
	__u32 pid; /* of the process that took it, in the initial namespace. It may have passed it
		      on */
	__u32 pad;
};

/*
 * Functions of their own: inlined, the compiler moved the offset of a member that this kernel does
 * not have out of a loop, before the test whether it has it.
 */
static __noinline int filelock_read_core(struct filelock_view *v, __u64 at)
{
	struct file_lock_core *l = (void *)at;

	v->blocker = (__u64)BPF_CORE_READ(l, flc_blocker);
	v->how = BPF_CORE_READ(l, flc_flags);
	v->type = BPF_CORE_READ(l, flc_type);
	v->pid = (__u32)BPF_CORE_READ(l, flc_pid);
	return 0;
}

static __noinline int filelock_read_before(struct filelock_view *v, __u64 at)
{
	struct file_lock___before *l = (void *)at;

	v->blocker = (__u64)BPF_CORE_READ(l, fl_blocker);
	v->how = BPF_CORE_READ(l, fl_flags);
	v->type = BPF_CORE_READ(l, fl_type);
	v->pid = BPF_CORE_READ(l, fl_pid);
	return 0;
}

static __always_inline void filelock_read(struct filelock_view *v, __u64 at)
{
	if (bpf_core_type_exists(struct file_lock_core))
		filelock_read_core(v, at);
	else
		filelock_read_before(v, at);
}

/* Of the lock at @at alone. */
static __always_inline __u32 filelock_type(__u64 at)
{
	if (bpf_core_type_exists(struct file_lock_core))
		return BPF_CORE_READ((struct file_lock_core *)at, flc_type);
	return BPF_CORE_READ((struct file_lock___before *)at, fl_type);
}

/* The leader of process @host (its number in the initial namespace); 0: there is none. */
static __always_inline __u64 filelock_task(__u32 host)
{
	struct task_struct___ns *self = (void *)bpf_get_current_task();
	struct pid *own = BPF_CORE_READ(self, thread_pid);
	struct pid_namespace___idr *ns = (void *)BPF_CORE_READ(own, numbers[0].ns);
	__u64 at = (__u64)BPF_CORE_READ(ns, idr.idr_rt.xa_head), first = 0;
	const __u32 mask = 63;

	for (int i = 0; i < FILELOCK_PID_DEPTH && (at & 3) == 2; i++) {
		struct xa_node *node = (void *)(at - 2);
		__u32 slot = host >> (BPF_CORE_READ(node, shift) & 31) & mask;
		bpf_probe_read_kernel(&at, sizeof(at),
				      (char *)node + bpf_core_field_offset(node->slots) +
					      slot * sizeof(at));
	}
	if (!at || at & 3)
		return 0;
	bpf_probe_read_kernel(&first, sizeof(first),
			      (char *)at + bpf_core_field_offset(((struct pid___tasks *)0)->tasks) +
				      FILELOCK_PIDTYPE_TGID * sizeof(first));
	first = !first ? 0
		       : first -
				 bpf_core_field_offset(
					 ((struct task_struct___pid_links *)0)->pid_links) -
				 FILELOCK_PIDTYPE_TGID * bpf_core_type_size(struct hlist_node);
	/* Numbers are reused, and trees shrink. */
	return first && (__u32)BPF_CORE_READ((struct task_struct___ns *)first, tgid) == host ? first
											     : 0;
}

#endif
