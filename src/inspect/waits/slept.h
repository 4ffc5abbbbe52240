/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SLEPT_H
#define KONTEND_INSPECT_WAITS_SLEPT_H

#include "kontend/error.h"
#include "kontend/map64.h"
#include "kontend/sleptsnap.h"
#include "slept-shared.h"

/* Adds sums of the programs to a snapshot. */
struct slept_fill {
	struct sleptsnap *ret;
	struct map64 rows; /* chain -> the first row that has it */
	/* Looks a chain up by its hash: 0 or a negative errno. */
	int (*chain)(void *arg, uint64_t hash, struct raw_slept_chain *ret);
	void *arg;
};

/* 0 or -ENOMEM. A chain that cannot be looked up is not known. */
int slept_fill(struct slept_fill *f, const struct raw_slept_key *key,
	       const struct raw_slept_sum *sum);
/* Of old tasks so many have storage, and not. -ENOTSUP with @err: none has. */
int slept_storage(uint64_t given, uint64_t refused, struct error *err);

#endif
