/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which call of futex(2) a task is, or of epoll_wait(2), in which programs wait for locks that
 * they make themselves; by the registers that it entered the kernel with. Programs at tracepoints
 * load them directly. See base.h.
 */
#ifndef KONTEND_INSPECT_KERNEL_USER_H
#define KONTEND_INSPECT_KERNEL_USER_H

#include "pid.h"
#include "task-flags.h"

enum {
	USER_VM_SHARED = 0x80, /* VM_MAYSHARE, which is 's' in /proc/PID/maps */
	USER_PAGE_SHIFT = 12,
	USER_TICK_NS = 10000000, /* of /proc/PID/stat */
};

/* Numbers of system calls. */
enum {
	X86_FUTEX = 202,
	X86_EPOLL_WAIT = 232,
	X86_EPOLL_PWAIT = 281,
	X86_KILL = 62,
	ARM64_FUTEX = 98,
	ARM64_EPOLL_PWAIT = 22,
	ARM64_KILL = 129,
	EPOLL_PWAIT2 = 441,
	I386_FUTEX = 240,
	I386_FUTEX_TIME64 = 422,
	FUTEX2_WAITV = 449,
	FUTEX2_WAKE = 454,
	FUTEX2_WAIT = 455,
};

struct mm_struct___user {
	unsigned long start_stack;
} CORE;

struct thread_info___user {
	unsigned long flags;
	unsigned int status;
} CORE;

struct task_struct___user {
	struct thread_info___user thread_info;
	unsigned int __state, flags;
	int on_cpu, on_rq, pid;
	struct task_struct___user *group_leader;
	struct mm_struct___user *mm;
	unsigned long long start_boottime;
	char comm[16];
} CORE;

struct pt_regs___user_x86 {
	unsigned long di, si, dx, r10, r8, orig_ax, ip, sp;
} CORE;

struct user_pt_regs___user {
	__u64 regs[31], sp, pc;
} CORE;

struct pt_regs___user_arm64 {
	struct user_pt_regs___user user_regs;
	__u64 orig_x0;
	int syscallno;
} CORE;

struct super_block___user {
	unsigned int s_dev;
} CORE;

struct inode___user {
	unsigned long i_ino;
	struct super_block___user *i_sb;
} CORE;

struct file___user {
	struct inode___user *f_inode;
} CORE;

struct vm_area_struct;

struct vm_area_struct___user {
	unsigned long vm_start, vm_flags, vm_pgoff;
	struct file___user *vm_file;
} CORE;

struct user_call {
	__u64 args[4]; /* address, command, value, second address */
	__u64 pc, sp;
	bool is_foreign; /* of a 32-bit program */
	bool is_wake;	 /* futex_wake(2), which has no command */
	bool is_epoll;	 /* without arguments, as for kill(2): */
	bool is_kill;
};

static __always_inline bool user_is_32bit(struct task_struct___user *t)
{
	if (bpf_core_field_exists(t->thread_info.status))
		return t->thread_info.status & X86_TS_COMPAT;
	return t->thread_info.flags & ARM64_TIF_32BIT;
}

/* Numbers of this machine. */
struct user_numbers {
	__u64 futex, epoll, epoll2, kill;
};

/* @number: of the call that @t is in. False: it is in no such call. */
static __always_inline bool user_call_is(struct task_struct___user *t, __u64 number,
					 struct user_numbers n, struct user_call *ret)
{
	ret->is_epoll = number == n.epoll || number == n.epoll2 || number == EPOLL_PWAIT2;
	ret->is_kill = number == n.kill;
	ret->is_foreign = ret->is_wake = false;
	if (ret->is_epoll || ret->is_kill)
		return !user_is_32bit(t);
	if (number != n.futex && number != FUTEX2_WAKE && number != I386_FUTEX &&
	    number != I386_FUTEX_TIME64)
		return false;
	ret->is_foreign = number == I386_FUTEX || number == I386_FUTEX_TIME64;
	ret->is_wake = number == FUTEX2_WAKE;
	return ret->is_foreign == user_is_32bit(t);
}

static __always_inline bool user_call_x86(struct task_struct___user *t, struct user_call *ret)
{
	struct pt_regs___user_x86 *r = (void *)bpf_task_pt_regs((void *)t);

	const struct user_numbers n = {X86_FUTEX, X86_EPOLL_WAIT, X86_EPOLL_PWAIT, X86_KILL};

	if (!user_call_is(t, r->orig_ax, n, ret))
		return false;
	ret->args[0] = r->di;
	ret->args[1] = r->si;
	ret->args[2] = r->dx;
	ret->args[3] = r->r8;
	ret->pc = r->ip;
	ret->sp = r->sp;
	return true;
}

static __always_inline bool user_call_arm64(struct task_struct___user *t, struct user_call *ret)
{
	struct pt_regs___user_arm64 *r = (void *)bpf_task_pt_regs((void *)t);

	const struct user_numbers n = {ARM64_FUTEX, ARM64_EPOLL_PWAIT, ARM64_EPOLL_PWAIT,
				       ARM64_KILL};

	if (!user_call_is(t, (__u64)r->syscallno, n, ret))
		return false;
	ret->args[0] = r->orig_x0;
	ret->args[1] = r->user_regs.regs[1];
	ret->args[2] = r->user_regs.regs[2];
	ret->args[3] = r->user_regs.regs[4];
	ret->pc = r->user_regs.pc;
	ret->sp = r->user_regs.sp;
	return true;
}

/* @t is the current task, or one that a tracepoint hands out. False: it is in no such call. */
static __always_inline bool user_call_read(struct task_struct___user *t, struct user_call *ret)
{
	if (bpf_core_field_exists(((struct pt_regs___user_x86 *)0)->orig_ax))
		return user_call_x86(t, ret);
	return bpf_core_field_exists(((struct pt_regs___user_arm64 *)0)->syscallno) &&
	       user_call_arm64(t, ret);
}

#endif
