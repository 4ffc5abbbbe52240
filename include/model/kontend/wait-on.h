/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAIT_ON_H
#define KONTEND_WAIT_ON_H

#include "kontend/waitrec.h"

#include <stdbool.h>
#include <stdint.h>

/* The object on which more than half of some time was waited, if there is one. */
struct wait_on_most {
	struct waitrec_on on; /* kind 0: none yet */
	uint64_t ns;	      /* by which it has more than the others */
	bool mixed;	      /* some of the time is of others */
};

void wait_on_add(struct wait_on_most *m, const struct waitrec_on *on, uint64_t ns);

enum { WAIT_ONS_SETS = 256, WAIT_ONS_WAYS = 4 };

/*
 * On what the system calls of waits that have ended were, by lock and call chain. Of a set that is
 * full the one with the least time is forgotten.
 */
struct wait_ons {
	struct wait_ons_one {
		uint32_t lock, stack;
		struct wait_on_most most; /* of none: the place is free */
	} all[WAIT_ONS_SETS][WAIT_ONS_WAYS];
};

void wait_ons_add(struct wait_ons *o, uint32_t lock, uint32_t stack, const struct waitrec_on *on,
		  uint64_t ns);
/* NULL: none is known. */
const struct wait_ons_one *wait_ons_get(const struct wait_ons *o, uint32_t lock, uint32_t stack);
void wait_ons_zero(struct wait_ons *o);

#endif
