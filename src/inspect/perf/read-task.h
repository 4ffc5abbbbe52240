/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks in the kernel, and the breakpoints that their tracers set in them. */
#ifndef KONTEND_INSPECT_READ_TASK_H
#define KONTEND_INSPECT_READ_TASK_H

#include "kernel/ns.h"
#include "shared.h"

extern const volatile struct raw_config config;

/* A task of the kernel's, or NULL; error pointers and the mark of dead owners are none. */
static __always_inline struct task_struct *some_task(struct task_struct *t)
{
	return (__s64)t < -4096 ? t : NULL;
}

static __always_inline void read_task(struct task_struct *t, int *pid, int *tid, char *comm)
{
	*pid = *tid = 0;
	comm[0] = 0;
	if (!t)
		return;
	*pid = ns_pid(t, &config.ns);
	*tid = ns_tid(t, &config.ns);
	BPF_CORE_READ_STR_INTO((char(*)[16])comm, t, comm);
}

/* Loops of this kind are unrolled: whether 6.1 takes one depends on how the compiler lays it out.
 */
enum { PTRACE_MOST = 32 };

/* How many breakpoints a tracer can set in a task, and the one at @i. */
static __always_inline int ptrace_slots(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread.ptrace_bps))
		return 4;
	return bpf_core_field_exists(t->thread.debug.hbp_break) ? 32 : 0;
}

static __always_inline __u64 ptrace_event(struct task_struct *t, int i)
{
	__u64 at = (__u64)t, event = 0;

	if (bpf_core_field_exists(t->thread.ptrace_bps))
		at += bpf_core_field_offset(t->thread.ptrace_bps);
	else if (bpf_core_field_exists(t->thread.debug.hbp_break))
		at += bpf_core_field_offset(t->thread.debug.hbp_break); /* hbp_watch[] follows */
	if (bpf_probe_read_kernel(&event, sizeof(event), (void *)(at + (__u64)i * 8)))
		return 0;
	return event;
}

/* Is @e among the breakpoints that a tracer set in @t? */
static __always_inline bool is_ptrace(struct task_struct *t, struct perf_event *e)
{
	int n = ptrace_slots(t);

#pragma unroll
	for (int i = 0; i < PTRACE_MOST; i++)
		if (i < n && ptrace_event(t, i) == (__u64)e)
			return true;
	return false;
}

#endif
