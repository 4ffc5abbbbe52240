/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_STACKS_PASS_H
#define KONTEND_INSPECT_LOCKS_STACKS_PASS_H

/* The reading of stacks, in a thread of its own: stacks.c makes it. */
#include "kontend/locksnap.h"
#include "kontend/snapshot-locks.h"
#include "left.h"

struct runtimes;
struct users_classes;

/* A task that waits. */
struct stacks_task {
	int32_t pid, tid;
	uint64_t runs;	 /* how often it has had a CPU; 0: not known */
	uint64_t ran_ns; /* as in locksnap_waiter */
};

struct stacks_pass {
	struct left_work work; /* first member: stacks_read() gets it */
	const char *proc;
	struct users_classes *classes;
	struct runtimes *runtimes;
	struct stacks_task *tasks;	      /* by process */
	struct snapshot_registers *registers; /* of each */
	size_t n;
	struct locksnap found; /* its stacks, calls and texts */
	int code;
};

/* How often a task has had a CPU; 0: not known. */
uint64_t stacks_runs(const char *proc, int32_t pid, int32_t tid);
/* Adds @t of @from with its calls and texts. 0 or -ENOMEM. */
int stacks_copy(const struct locksnap *from, const struct locksnap_stack *t, struct locksnap *to);
/* Reads all tasks of a pass: those that sleep, and sleep still. */
void stacks_read(struct left_work *work);

#endif
