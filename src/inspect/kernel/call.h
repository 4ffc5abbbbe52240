/* SPDX-License-Identifier: GPL-2.0-only */
/* Structures that give the system call of a task: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_CALL_H
#define KONTEND_INSPECT_KERNEL_CALL_H

#include "task-flags.h"
#include "walk-files.h"

enum { S_FORMAT = 0170000, S_BLOCK = 0060000 };

struct pt_regs___x86 {
	unsigned long di, si, dx, orig_ax;
} CORE;

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp, pc;
} CORE;

struct pt_regs___arm64 {
	struct user_pt_regs user_regs;
	__u64 orig_x0;
	int syscallno;
} CORE;

struct thread_info___call {
	unsigned long flags;
	unsigned int status;
} CORE;

struct task_struct___call {
	struct thread_info___call thread_info;
	unsigned int flags;
} CORE;

struct file_system_type___call {
	const char *name;
} CORE;

struct super_block___call {
	unsigned int s_dev;
	char s_id[32];
	struct file_system_type___call *s_type;
} CORE;

struct inode___call {
	unsigned short i_mode;
	unsigned int i_rdev;
	struct super_block___call *i_sb;
} CORE;

struct file___call {
	struct inode___call *f_inode;
} CORE;

#endif
