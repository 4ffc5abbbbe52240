/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which system call a task sleeps, and what its first arguments are of, if they are descriptors:
 * from the registers that it entered the kernel with. /proc/PID/syscall would take a lock that a
 * task in execve() keeps.
 */
#ifndef KONTEND_INSPECT_READ_CALL_H
#define KONTEND_INSPECT_READ_CALL_H

#include "call-shared.h"
#include "kernel/call.h"

/* The calls of 32-bit programs have other numbers. */
static __always_inline bool is_compat(struct task_struct *t)
{
	struct task_struct___call *task = (void *)t;

	if (bpf_core_field_exists(task->thread_info.status))
		return BPF_CORE_READ(task, thread_info.status) & X86_TS_COMPAT;
	return BPF_CORE_READ(task, thread_info.flags) & ARM64_TIF_32BIT;
}

static __always_inline bool read_arguments(void *regs, long long *ret_number, __u64 *ret)
{
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	if (bpf_core_field_exists(x86->orig_ax)) {
		*ret_number = (long long)BPF_CORE_READ(x86, orig_ax);
		ret[0] = BPF_CORE_READ(x86, di);
		ret[1] = BPF_CORE_READ(x86, si);
		ret[2] = BPF_CORE_READ(x86, dx);
		return true;
	}
	if (!bpf_core_field_exists(arm64->syscallno))
		return false;
	*ret_number = BPF_CORE_READ(arm64, syscallno);
	ret[0] = BPF_CORE_READ(arm64, orig_x0);
	ret[1] = BPF_CORE_READ(arm64, user_regs.regs[1]);
	ret[2] = BPF_CORE_READ(arm64, user_regs.regs[2]);
	return true;
}

static __always_inline void read_call_file(__u64 table, __u32 n, __u64 fd, struct raw_call_file *r)
{
	r->known = 0;
	r->fd = (__u32)fd;
	if (r->fd >= n)
		return;
	struct file___call *f = (void *)word_at(table + r->fd * 8ull);
	struct inode___call *inode = f ? BPF_CORE_READ(f, f_inode) : NULL;
	if (!inode)
		return;
	__u32 type = BPF_CORE_READ(inode, i_mode) & S_FORMAT;
	r->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	bpf_probe_read_kernel_str(r->fs, sizeof(r->fs), BPF_CORE_READ(inode, i_sb, s_type, name));
	BPF_CORE_READ_STR_INTO(&r->id, inode, i_sb, s_id);
	r->rdev = type == S_BLOCK ? BPF_CORE_READ(inode, i_rdev) : 0;
	r->known = 1;
}

/* Of a task that an iterator hands out, and that sleeps. */
static __always_inline void read_call(struct task_struct *t, struct raw_call *r)
{
	struct task_struct___call *task = (void *)t;
	struct files_struct *files;

	r->number = -1;
	r->args[0] = r->args[1] = r->args[2] = 0;
	/* Kernel threads, and workers of io_uring, came by no system call. */
	if (BPF_CORE_READ(task, flags) & (TASK_KTHREAD | TASK_IO_WORKER) || is_compat(t))
		return;
	void *regs = (void *)bpf_task_pt_regs(t);
	if (!regs || !read_arguments(regs, &r->number, r->args))
		return;
	files = BPF_CORE_READ((struct task_struct___files *)t, files);
	struct fdtable *table = files ? BPF_CORE_READ(files, fdt) : NULL;
	__u64 at = table ? (__u64)BPF_CORE_READ(table, fd) : 0;
	__u32 n = table ? BPF_CORE_READ(table, max_fds) : 0;
	/* One by one: the verifier of Linux 6.1 refuses a loop whose code comes before what leads
	 * to it. */
	read_call_file(at, n, r->args[0], &r->files[0]);
	read_call_file(at, n, r->args[1], &r->files[1]);
	read_call_file(at, n, r->args[2], &r->files[2]);
}

#endif
