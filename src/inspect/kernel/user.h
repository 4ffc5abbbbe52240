/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which call of futex(2) a task is, or of epoll_wait(2), in which programs wait for locks that
 * they make themselves; by the registers that it entered the kernel with. Programs at tracepoints
 * load them directly. See base.h.
 */
#ifndef KONTEND_INSPECT_KERNEL_USER_H
#define KONTEND_INSPECT_KERNEL_USER_H

#include "futex-numbers.h"
#include "pid.h"
#include "task-flags.h"

enum {
	USER_VM_SHARED = 0x80, /* VM_MAYSHARE, which is 's' in /proc/PID/maps */
	USER_PAGE_SHIFT = 12,
	USER_TICK_NS = 10000000, /* of /proc/PID/stat */
};

/* Other calls in which threads wait for locks, or wake threads. */
enum {
	X86_EPOLL_WAIT = 232,
	X86_EPOLL_PWAIT = 281,
	X86_KILL = 62,
	ARM64_EPOLL_PWAIT = 22,
	ARM64_KILL = 129,
	EPOLL_PWAIT2 = 441,
};

struct mm_struct___user {
	unsigned long start_stack;
} CORE;

struct thread_info___user {
	unsigned long flags;
	unsigned int status;
} CORE;

struct signal_struct___user {
	int nr_threads;
} CORE;

struct sched_entity___user {
	unsigned long long sum_exec_runtime;
} CORE;

struct task_struct___user {
	struct thread_info___user thread_info;
	unsigned int __state, flags;
	int on_cpu, on_rq, pid, tgid;
	struct sched_entity___user se;
	struct signal_struct___user *signal;
	struct task_struct___user *group_leader;
	struct mm_struct___user *mm;
	unsigned long long start_boottime;
	char comm[16];
} CORE;

struct pt_regs___user_x86 {
	unsigned long di, si, dx, r10, r8, orig_ax, bp, ip, sp;
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
	__u64 args[5]; /* of futex(2): address, command, value, time, second address */
	__u64 pc, sp, fp;
	__u32 number;	 /* X86_FUTEX and ARM64_FUTEX: 0 */
	bool is_foreign; /* of a 32-bit program */
	bool is_epoll;	 /* without arguments, as for kill(2): */
	bool is_kill;
};

/* Does it wake threads? These have no command. */
static __always_inline bool user_call_wakes(const struct user_call *c)
{
	return c->number == FUTEX2_WAKE || c->number == FUTEX2_REQUEUE;
}

static __always_inline bool user_is_32bit(struct task_struct___user *t)
{
	if (bpf_core_field_exists(t->thread_info.status))
		return t->thread_info.status & X86_TS_COMPAT;
	return t->thread_info.flags & ARM64_TIF_32BIT;
}

/* Has it registers with which it entered the kernel, of a program of this width? */
static __always_inline bool user_is_program(struct task_struct___user *t)
{
	return t->mm && !(t->flags & (TASK_KTHREAD | TASK_IO_WORKER)) && !user_is_32bit(t);
}

/* Numbers of this machine. */
struct user_numbers {
	__u64 futex, epoll, epoll2, kill;
};

/* @number: of the call that @t is in. False: it is in no such call. */
static __always_inline bool user_call_is(struct task_struct___user *t, __u64 number,
					 struct user_numbers n, struct user_call *ret)
{
	bool is_32bit = false;

	ret->number = (__u32)number;
	ret->is_epoll = number == n.epoll || number == n.epoll2 || number == EPOLL_PWAIT2;
	ret->is_kill = number == n.kill;
	if (number == n.futex)
		ret->number = 0;
	else if (number == I386_FUTEX || number == I386_FUTEX_TIME64)
		is_32bit = true;
	else if (number == FUTEX2_WAITV || number - FUTEX2_WAKE <= FUTEX2_REQUEUE - FUTEX2_WAKE)
		is_32bit = user_is_32bit(t);
	else if (!ret->is_epoll && !ret->is_kill)
		return false;
	ret->is_foreign = is_32bit;
	return is_32bit == user_is_32bit(t);
}

static __always_inline bool user_call_x86(struct task_struct___user *t, struct user_call *ret)
{
	struct pt_regs___user_x86 *r = (void *)bpf_task_pt_regs((void *)t);

	const struct user_numbers n = {X86_FUTEX, X86_EPOLL_WAIT, X86_EPOLL_PWAIT, X86_KILL};

	if (!user_call_is(t, r->orig_ax & ~(__u64)X32_BIT, n, ret))
		return false;
	ret->is_foreign |= (r->orig_ax & X32_BIT) != 0;
	ret->args[0] = r->di;
	ret->args[1] = r->si;
	ret->args[2] = r->dx;
	ret->args[3] = r->r10;
	ret->args[4] = r->r8;
	ret->pc = r->ip;
	ret->sp = r->sp;
	ret->fp = r->bp;
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
	ret->args[3] = r->user_regs.regs[3];
	ret->args[4] = r->user_regs.regs[4];
	ret->pc = r->user_regs.pc;
	ret->sp = r->user_regs.sp;
	ret->fp = r->user_regs.regs[29];
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
