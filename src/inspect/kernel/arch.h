/* SPDX-License-Identifier: GPL-2.0-only */
/* By what the machines that matter differ: known when the programs are loaded. */
#ifndef KONTEND_INSPECT_KERNEL_ARCH_H
#define KONTEND_INSPECT_KERNEL_ARCH_H

#include "base.h"

struct pt_regs___x86 {
	long orig_ax;
} CORE;

struct pt_regs___arm64 {
	int syscallno;
} CORE;

static __always_inline bool is_x86(void)
{
	return bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax);
}

static __always_inline bool is_arm64(void)
{
	return bpf_core_field_exists(((struct pt_regs___arm64 *)0)->syscallno);
}

#endif
