/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the stack of a task that does not run ends. */
#ifndef KONTEND_INSPECT_READ_STACK_H
#define KONTEND_INSPECT_READ_STACK_H

#include "kernel/base.h"

struct cpu_context {
	unsigned long sp;
} CORE;

struct thread_struct___stack {
	unsigned long sp;		/* x86 */
	struct cpu_context cpu_context; /* arm64 */
} CORE;

struct task_struct___stack {
	struct thread_struct___stack thread;
} CORE;

/* Its stack pointer; 0: not known. */
static __always_inline __u64 stack_of(struct task_struct *t)
{
	struct task_struct___stack *task = (void *)t;

	if (bpf_core_field_exists(task->thread.sp))
		return BPF_CORE_READ(task, thread.sp);
	return bpf_core_field_exists(task->thread.cpu_context)
		       ? BPF_CORE_READ(task, thread.cpu_context.sp)
		       : 0;
}

#endif
