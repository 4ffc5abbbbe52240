/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STORY_FORK_H
#define KONTEND_STORY_FORK_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process with much memory of its own that forks while its threads fault in new pages: fork()
 * copies page tables with mmap_lock held for writing, and with every mapping marked as being
 * written to, so that each fault of the meantime waits for it.
 */
struct story_fork_options {
	size_t bytes;
	uint32_t threads, rounds;
	uint64_t apart_ns; /* between two rounds */
};

struct story_fork_call { /* of fork() */
	uint64_t from_ns, to_ns;
	uint64_t ran_ns, runnable_ns; /* the thread ran, and was kept off its CPU */
};

struct story_fork_stall { /* of a fault that took more than 1 ms */
	pid_t tid;
	uint64_t from_ns, to_ns;
};

struct story_fork {
	struct story_fork_call *calls;
	struct story_fork_stall *stalls; /* by thread, and by time */
	size_t n_calls, n_stalls;
};

/* 0; -ENOMEM: so much memory is not free; -EOPNOTSUPP: the kernel lacks schedstat; with @err. */
int story_fork_run(const struct story_fork_options *o, struct story_fork *ret, struct error *err);
void story_fork_deinit(struct story_fork *f);

#endif
