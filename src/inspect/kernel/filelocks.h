/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's locks of files: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_FILELOCKS_H
#define KONTEND_INSPECT_KERNEL_FILELOCKS_H

#include "files.h"
#include "pid.h"

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
	__u64 own = (__u64)BPF_CORE_READ(self, thread_pid);

	return pid_task_at(pid_find(pid_ns(own, 0), 0, host), PID_TGID);
}

#endif
