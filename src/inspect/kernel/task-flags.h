/* SPDX-License-Identifier: GPL-2.0-only */
/* Flags of tasks: see base.h. */
#ifndef KONTEND_INSPECT_KERNEL_TASK_FLAGS_H
#define KONTEND_INSPECT_KERNEL_TASK_FLAGS_H

enum { /* task_struct.flags */
       TASK_KTHREAD = 0x00200000,
       TASK_IO_WORKER = 0x10,
};

enum { /* thread_info, of a call of a 32-bit program */
       X86_TS_COMPAT = 2,
       ARM64_TIF_32BIT = 1 << 22,
};

#endif
