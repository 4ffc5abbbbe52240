/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BPF_MEMORY_H
#define KONTEND_BPF_MEMORY_H

#include <stdint.h>

/*
 * Kernel memory of BPF maps, in bytes: of all programs that this process has loaded so far, and of
 * those that a measurement without options loads. The memory of each CPU comes on top:
 * waitfeed_cpu_bytes(). 0 without BPF.
 */
uint64_t bpf_memory_loaded(void);
uint64_t bpf_memory_wanted(void);

#endif
