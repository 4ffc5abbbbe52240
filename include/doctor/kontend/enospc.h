/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENOSPC_H
#define KONTEND_ENOSPC_H

#include "kontend/error.h"
#include "kontend/perfsnap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Would the kernel take one breakpoint more? By its own arithmetic
 * (kernel/events/hw_breakpoint.c): on every CPU where it would count, the breakpoints of that CPU
 * and those of the task (of the task that has most there, when it is for the CPU itself) must leave
 * a slot free.
 */
struct enospc_ask {
	uint64_t addr, len;
	bool has_addr;
	uint32_t rwx;	      /* HW_BREAKPOINT_R | _W | _X */
	const uint32_t *cpus; /* where; none: every CPU of the snapshot */
	size_t n_cpus;
	const int32_t *tids; /* for which threads, one breakpoint each; none: for the CPUs */
	size_t n_tids;
	/* Without events in the snapshot: what those threads have, as far as it was counted. */
	const struct enospc_count {
		int32_t tid;
		uint32_t cpu;
		int32_t own;
	} * counts;
	size_t n_counts;
};

/* What is checked of a breakpoint before it comes to slots differs between machines. */
struct enospc_machine {
	enum enospc_arch { ENOSPC_X86, ENOSPC_ARM64, ENOSPC_OTHER } arch;
	bool any_power; /* AMD's BPEXT: lengths of more than a register */
	bool admin;	/* CAP_SYS_ADMIN */
};

struct enospc_machine enospc_machine(void); /* this one, and this user */

/*
 * 0, or what perf_event_open() would say of such a breakpoint however many slots are free: -EINVAL,
 * -EOPNOTSUPP or -EPERM, with the sentence.
 */
int enospc_check(const struct enospc_ask *ask, const struct enospc_machine *m, struct error *err);

/* One CPU, with one breakpoint more. */
struct enospc_row {
	uint32_t cpu, type; /* of snap_slots */
	int32_t slots, cpu_pinned;
	int32_t task_pinned; /* -1: not known */
	int32_t tid;	     /* whose they are: the thread with most; 0: nobody's, or not known */
	uint32_t tied;	     /* threads that have as many */
	bool known, fits;
};

struct enospc {
	bool known; /* whether it fits can be told */
	bool fits;  /* everywhere */
	struct enospc_row *rows;
	size_t n_rows;
	uint32_t *holders; /* events that take the slots where it does not fit */
	size_t n_holders;
	uint32_t *closes; /* events whose end makes it fit, as few as were found */
	size_t n_closes;
	bool helpless; /* somewhere nothing can be named whose end would help */
};

/* From @s, whose events @ret's indices refer to. 0 or -ENOMEM. */
int enospc_judge(struct enospc *ret, const struct perfsnap *s, const struct enospc_ask *ask);
void enospc_deinit(struct enospc *e);

#endif
