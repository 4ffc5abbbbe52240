/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAIT_ON_H
#define KONTEND_WAIT_ON_H

#include "kontend/waitrec.h"

#include <stdbool.h>
#include <stdint.h>

enum { WAIT_ONS_SETS = 256, WAIT_ONS_WAYS = 4 };

/*
 * On what the system calls of waits that have ended were, by lock and call chain: that on which
 * more than half of the time was waited, if there is one. Of a set that is full the one with the
 * least time is forgotten.
 */
struct wait_ons {
	struct wait_ons_one {
		uint32_t lock, stack;
		struct waitrec_on on; /* kind 0: the place is free */
		uint64_t ns;	      /* by which it has more than the others */
		bool mixed;	      /* waits of that place were on others, too */
	} all[WAIT_ONS_SETS][WAIT_ONS_WAYS];
};

void wait_ons_add(struct wait_ons *o, uint32_t lock, uint32_t stack, const struct waitrec_on *on,
		  uint64_t ns);
/* NULL: none is known. */
const struct wait_ons_one *wait_ons_get(const struct wait_ons *o, uint32_t lock, uint32_t stack);
void wait_ons_zero(struct wait_ons *o);

static inline bool wait_on_same(const struct waitrec_on *a, const struct waitrec_on *b)
{
	return a->kind == b->kind && a->dev == b->dev && a->value == b->value;
}

#endif
