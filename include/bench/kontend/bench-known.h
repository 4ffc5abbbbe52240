/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_KNOWN_H
#define KONTEND_BENCH_KNOWN_H

#include "kontend/error.h"

#include <stdint.h>

/*
 * Known numbers of things other than waits, caused by the calling process: they stay until it ends.
 * 0;
 * -EOPNOTSUPP, -EPERM, -EACCES: not on this machine, or not by this user; others, with @err.
 */
/* @n breakpoints of the calling task. */
int bench_known_breakpoints(uint32_t n, struct error *err);
/* A uprobe on a function of this program, and @calls calls of the function. */
int bench_known_hits(uint64_t calls, struct error *err);

/*
 * Counts the begins of spinning waits that the kernel reports, of this process and of threads that
 * it starts from now on; a descriptor for bench_known_reported(), or negative: this user may not
 * count them.
 */
int bench_known_count_spins(void);
/* The number of waits that the kernel has reported; UINT64_MAX: unknown. Closes @fd. */
uint64_t bench_known_reported(int fd);

#endif
