/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_BIND_H
#define KONTEND_BENCH_BIND_H

#include <sched.h>
#include <stdint.h>

/*
 * Binds the calling thread to @cpu. Where the kernel refuses (a cpuset, a CPU that went offline)
 * the thread runs on another CPU: its work is the same, so the refusal is no error.
 */
static inline void bind_to_cpu(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

#endif
