/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of the kernel's memory, by its address; 0: it cannot be read. */
#ifndef KONTEND_INSPECT_KERNEL_WORDS_H
#define KONTEND_INSPECT_KERNEL_WORDS_H

#include "base.h"

static __always_inline __u64 word_at(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline int number_at(__u64 addr)
{
	int v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

#endif
