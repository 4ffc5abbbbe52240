/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENOSPC_H
#define KONTEND_ENOSPC_H

#include "kontend/error.h"
#include "kontend/perfsnap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Would the kernel accept one more breakpoint? By its own rules (kernel/events/hw_breakpoint.c): on
 * every CPU where it would count, the breakpoints of that CPU and those of the task (for a CPU's
 * own breakpoint: of the task with the most there) must leave a slot free.
 */
struct enospc_ask {
	uint64_t addr, len;
	bool has_addr;
	uint32_t rwx;	      /* HW_BREAKPOINT_R | _W | _X */
	const uint32_t *cpus; /* where; none: all CPUs of the snapshot */
	size_t n_cpus;
	const int32_t *tids; /* one breakpoint for each thread; none: for the CPUs */
	size_t n_tids;
	/* If the snapshot has no events: slots of those threads, if counted. */
	const struct enospc_count {
		int32_t tid;
		uint32_t cpu;
		int32_t own;
	} * counts;
	size_t n_counts;
};

/* Checks of a breakpoint before slots are counted depend on the machine. */
struct enospc_machine {
	enum enospc_arch { ENOSPC_X86, ENOSPC_ARM64, ENOSPC_OTHER } arch;
	bool any_power; /* AMD's BPEXT: lengths above that of a register */
	bool admin;	/* CAP_SYS_ADMIN */
};

struct enospc_machine enospc_machine(void); /* this machine and user */

/*
 * 0, or the error that perf_event_open() would return for such a breakpoint even with free slots:
 * -EINVAL, -EOPNOTSUPP or -EPERM, with a message.
 */
int enospc_check(const struct enospc_ask *ask, const struct enospc_machine *m, struct error *err);

/* One CPU, with one more breakpoint. */
struct enospc_row {
	uint32_t cpu, type; /* of snap_slots */
	int32_t slots, cpu_pinned;
	int32_t task_pinned; /* -1: not known */
	int32_t tid;	     /* thread with the most slots; 0: none, or not known */
	uint32_t tied;	     /* threads with the same number */
	bool known, fits;
};

struct enospc {
	bool known; /* the answer is known */
	bool fits;  /* everywhere */
	struct enospc_row *rows;
	size_t n_rows;
	uint32_t *holders; /* events that take the slots where it does not fit */
	size_t n_holders;
	uint32_t *closes; /* events to close so that it fits, as few as were found */
	size_t n_closes;
	bool helpless; /* for some CPU no event is known whose closing would help */
};

/* @ret's indices refer to events of @s. 0 or -ENOMEM. */
int enospc_judge(struct enospc *ret, const struct perfsnap *s, const struct enospc_ask *ask);
void enospc_deinit(struct enospc *e);

#endif
