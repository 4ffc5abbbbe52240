/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SAMPLER_H
#define KONTEND_RECORD_SAMPLER_H

#include "kontend/queue.h"

#include <stdbool.h>
#include <sys/uio.h>

/*
 * Copies a part of the recorded stream for the thread that names functions: everything but samples,
 * and a limited number of bytes of samples per second, so that the cost is low however many there
 * are. Of snapshots those of locks are copied, from the first on that has a lock of a program, or
 * all.
 */
struct record_sampler {
	struct queue *to;   /* NULL: no receiver */
	uint64_t credit_ns; /* time of the last update of `credit` */
	int64_t credit;	    /* bytes of samples that may still be copied; negative: too many were */
	bool closed;	    /* no samples until the next round */
	uint32_t ring;	    /* of the last run */
	bool only_locks;    /* no functions are wanted, but names of locks of programs */
	bool has_locks;	    /* there are such locks */
	bool all_locks;	    /* all snapshots of locks are copied: the names that are known */
	uint64_t taken;	    /* bytes of its samples since the round or since another ring's turn */
};

enum { RECORD_SAMPLER_CREDIT = 1 << 20 }; /* at the start, and the maximum */

/* Copies the parts of a record that are needed. @now_ns: session clock. */
void record_sampler_put(struct record_sampler *s, const struct record *r, uint64_t now_ns);
/* A run of whole records in @n pieces, which may end within records. */
void record_sampler_run(struct record_sampler *s, uint32_t ring, const struct iovec *pieces, int n);
/*
 * The data so far are all of a file, up to @now_ns. Rounds lag behind the drained data, so this
 * inserts one. The next file starts with full credit.
 */
void record_sampler_cut(struct record_sampler *s, uint64_t now_ns);

#endif
