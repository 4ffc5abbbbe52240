/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_OBSERVER_H
#define KONTEND_BENCH_OBSERVER_H

#include "child.h"
#include "kontend/opts.h"

struct run;

/* A session of kontend that measures in a process of its own, while its parent works. */
struct bench_observer {
	struct bench_child child;
	size_t size; /* of the answer */
};

struct bench_observer_job {
	const struct opts *opts; /* how it measures */
	size_t size;		 /* of the answer: a struct without pointers to other memory */
	/* In that process, when all events have come: fills in @answer, which is zeroed, from @run.
	 */
	int (*take)(void *ctx, struct run *run, void *answer, struct error *err);
	void *ctx;
};

/* It measures when this returns. 0, or negative with @err. */
int bench_observer_start(struct bench_observer *o, const struct bench_observer_job *job,
			 struct error *err);
/*
 * Ends the measurement, and the process. 0 with the answer, which @ret has room for, or negative
 * with @err.
 */
int bench_observer_stop(struct bench_observer *o, void *ret, struct error *err);

#endif
