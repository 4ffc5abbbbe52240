/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_HOLDS_H
#define KONTEND_SNAPSHOT_HOLDS_H

#include "kontend/error.h"
#include "kontend/holdsnap.h"

#include <stdbool.h>
#include <stdint.h>

struct kerntypes;

struct snapshot_holds_options {
	const char *lock;    /* for holdsnap_parse() */
	uint32_t target_ppm; /* of all CPUs, that the programs may cost; 0: any */
	bool no_chains;
	struct kerntypes *types; /* may be NULL, and may be freed after the call */
};

/*
 * BPF programs at the kernel's functions that take and release mutexes and rwsems, for as long as
 * it lives. Each acquisition of the machine pays for them, so it is done on request only.
 */
struct snapshot_holds;

/* 0, or negative with @err: one sentence that says why holds cannot be measured here. */
int snapshot_holds_new(struct snapshot_holds **ret, const struct snapshot_holds_options *o,
		       struct error *err);
/* The sums so far, into @ret, which is cleared first. 0 or -ENOMEM. */
int snapshot_holds_take(struct snapshot_holds *h, struct holdsnap *ret);
void snapshot_holds_free(struct snapshot_holds *h); /* NULL is fine */

#endif
