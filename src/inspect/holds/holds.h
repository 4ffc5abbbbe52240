/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_HOLDS_HOLDS_H
#define KONTEND_INSPECT_HOLDS_HOLDS_H

#include "../waits/internal.h"
#include "internal.h"
#include "price.h"

#include <pthread.h>

enum {
	HOLDS_SUMS,
	HOLDS_LOCK_ROWS,
	HOLDS_READER_ROWS,
	HOLDS_TASK_ROWS,
	HOLDS_STACK_ROWS,
	HOLDS_MAPS
};
enum {
	HOLDS_CHAIN_ROWS = RAW_HOLDS_KINDS * RAW_HOLDS_STACKS,
	HOLDS_CHAIN_BYTES = HOLDS_CHAIN_ROWS * sizeof(struct raw_holds_add),
	HOLDS_CALLER_BYTES = RAW_HOLDS_STACKS * sizeof(uint64_t)
};

struct snapshot_holds {
	struct bpf_object *object;
	struct holds_programs programs;
	struct holds_symbols symbols;
	struct raw_holds_state *state;
	const struct raw_holds_add *chains;
	const uint64_t *callers;    /* by number of the chain */
	struct raw_holds_sum *sums; /* a CPU each */
	int maps[HOLDS_MAPS], word; /* descriptors */
	int n_cpus;
	const char *asked; /* borrowed */
	uint64_t addr;	   /* 0: all locks of the kinds */
	uint32_t kinds, placed;
	bool no_chains, has_words, sees_tasks;
	uint64_t from_ns, before_ns;
	uint64_t acquired[RAW_HOLDS_KINDS]; /* as of the snapshot before */
	uint64_t stale;			    /* readers that were found to be gone */
	/* Of the thread that governs, and those below: */
	struct bpf_thread thread;
	pthread_mutex_t lock;
	struct holds_price price;
	unsigned step;
	uint64_t price_ns, runs, run_ns, off_ns;
	int no_price; /* errno: the price is not known */
};

/* holds.c: with the lock; removes programs that cannot be at this lock. */
void holds_narrow(struct snapshot_holds *h, const struct holdsnap *s);

#endif
