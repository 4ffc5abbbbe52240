/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by registers.bpf.c and registers.c: registers of programs whose tasks sleep. Plain C types
 * only, and sizes that are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_REGISTERS_SHARED_H
#define KONTEND_INSPECT_LOCKS_REGISTERS_SHARED_H

#include "ns-shared.h"

enum { RAW_REGISTERS_TASKS = 256, RAW_REGISTERS = 16 };

struct raw_registers {
	int tid;	   /* asked for */
	unsigned int seen; /* the following has been read */
	/* As in PERF_SAMPLE_REGS_USER: a bit for each, and their values, the lowest number first.
	 */
	unsigned long long mask;
	unsigned long long of[RAW_REGISTERS];
};

struct raw_registers_config {
	struct ns_config ns;
};

#endif
