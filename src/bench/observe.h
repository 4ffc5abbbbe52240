/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_OBSERVE_H
#define KONTEND_BENCH_OBSERVE_H

#include "kontend/error.h"
#include "kontend/locktype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_OBSERVE_WHY = 200 };

struct bench_observed_type {
	uint64_t waits, total_ns; /* for the lock that was waited for most */
	uint64_t all;		  /* waits for any lock */
};

/* Figures of kontend about a process. */
struct bench_observed {
	struct bench_observed_type types[LOCK_TYPES];
	uint64_t breakpoints; /* that it has open at the end */
	uint64_t hits;	      /* of its uprobes */
	uint64_t lost;	      /* events, records and looks that are missing */
	bool unseen;	      /* nothing can be measured here by this user */
	char no_slots[BENCH_OBSERVE_WHY], no_probes[BENCH_OBSERVE_WHY]; /* why, or "" */
};

struct bench_observe_work {
	/* The work to observe, in a process of its own: 0, or negative with @err. */
	int (*run)(void *ctx, struct error *err);
	void *ctx; /* is in memory that processes share: bench_observe_memory() */
	const char *comm;
};

/* Memory that child processes write to; NULL: there is none. */
void *bench_observe_memory(size_t size);
void bench_observe_forget(void *memory, size_t size);

/*
 * Runs @w while kontend measures it, each in a process of its own. 0; what the work answered; or
 * what measuring failed with.
 */
int bench_observe(const struct bench_observe_work *w, struct bench_observed *ret,
		  struct error *err);

#endif
