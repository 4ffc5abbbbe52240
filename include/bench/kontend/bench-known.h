/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_KNOWN_H
#define KONTEND_BENCH_KNOWN_H

#include "kontend/error.h"

#include <stdint.h>

/*
 * Known numbers of things other than waits, by the calling process: they stay until it ends. 0;
 * -EOPNOTSUPP, -EPERM, -EACCES: not on this machine, or not by this user; others, with @err.
 */
/* So many breakpoints of the calling task. */
int bench_known_breakpoints(uint32_t n, struct error *err);
/* A uprobe on a function of this program, and so many calls of that. */
int bench_known_hits(uint64_t calls, struct error *err);

/*
 * Counts the begins of waits that spin, of this process and threads it starts from now on, as the
 * kernel tells of them; a descriptor for bench_known_told(), or negative: nobody may count.
 */
int bench_known_count_spins(void);
/* How many the kernel has told; UINT64_MAX: not known. Closes @fd. */
uint64_t bench_known_told(int fd);

#endif
