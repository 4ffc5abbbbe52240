/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_SEEN_H
#define KONTEND_BENCH_SEEN_H

#include "kontend/bench-figures.h"
#include "observer.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Measures breakpoints while a benchmark runs: a session of its own, in a process of its own, as a
 * session gives up rights that the benchmark needs.
 */
enum {
	BENCH_SEEN_LOCKS = 8,
	BENCH_SEEN_HOT = 8,
	BENCH_SEEN_NAME = 48,
	BENCH_SEEN_PUBLISHED = 5, /* functions, see seen.c */
};

struct bench_seen_lock {
	char name[BENCH_SEEN_NAME], type[16];
	uint64_t contended, total_ns, max_ns;
};

struct bench_seen_hot {
	char name[BENCH_SEEN_NAME];
	double pct; /* of the samples of the benchmark's processes */
};

struct bench_seen {
	uint64_t ns;	     /* measured for so long */
	int32_t slots, most; /* of a CPU, and most that any look saw taken on one; -1: not known */
	uint64_t samples;    /* of the benchmark's processes in the kernel and in programs */
	struct bench_seen_lock locks[BENCH_SEEN_LOCKS];
	struct bench_seen_hot hot[BENCH_SEEN_HOT];
	size_t n_locks, n_hot;
	double published_pct[BENCH_SEEN_PUBLISHED];
};

struct bench_seen_session {
	struct bench_observer observer;
	uint64_t from_ns; /* when it began to measure */
};

/* It measures when this returns. 0 or negative, with @err. */
int bench_seen_start(struct bench_seen_session *s, struct error *err);
/* Ends it. 0 or negative, with @err. */
int bench_seen_stop(struct bench_seen_session *s, struct bench_seen *ret, struct error *err);
void bench_seen_print(const struct bench_seen *s, FILE *out);
/* The same figures whatever was seen; NULL: nothing could be. */
void bench_seen_put(const struct bench_seen *s, struct bench_figures *f);

#endif
