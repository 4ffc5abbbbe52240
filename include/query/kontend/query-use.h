/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_USE_H
#define KONTEND_QUERY_USE_H

#include "kontend/query.h"

/*
 * The use of a lock by tasks that are known: those that had it while others waited, and those that
 * waited for it. It is about no other time: a lock for which no task waits has no events.
 */
struct query_use_task {
	uint32_t lock, task; /* of the model; of both modes one lock */
	uint64_t held_ns, waited_ns;
	double held_pct; /* of the time that these tasks had the lock while others waited */
	double cpu_pct;	 /* of the CPU time of these tasks, by samples */
};

struct query_use {
	struct query_use_task *v; /* with most of held_ns first */
	uint32_t n;
	uint64_t held_ns, others_ns; /* by these tasks; by holders that are not known by name */
	/*
	 * Jain's index of held_ns over the tasks: (sum of x)^2 / (n * sum of x^2), from 1/n, where
	 * one task has all of it, to 1, where all have the same. 0: no holder is known.
	 */
	double jain;
	bool has_cpu;
	const char *no_cpu; /* why not */
};

/* Of all locks, or of the lock with that index of the model: by lock and task. */
struct query_uses {
	struct query_use_task *v;
	size_t n;
	const uint64_t *cpu; /* CPU time of each task of the model, by samples; NULL: not known */
	const char *no_cpu;  /* why not */
};

/* @only: UINT32_MAX: all. Empty where blame is not known. 0 or -ENOMEM, as all here. */
int query_use_all(struct query *q, uint32_t only, struct query_uses *ret);
int query_use_of(struct query *q, const struct query_uses *all, uint32_t lock,
		 struct query_use *ret);
/* Of the lock with that id in the dimension BY_LOCK. */
int query_use_lock(struct query *q, uint64_t id, struct query_use *ret);
/* Of task @i: "mysqld/812 77.4%, CPU 9.0%", the latter if it is known. NULL: no memory. */
const char *query_use_text(struct query *q, const struct query_use *u, uint32_t i);
/* 0: the sum is 0. */
double query_use_jain(const uint64_t *ns, size_t n);

#endif
