/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SLEPT_PRICE_H
#define KONTEND_INSPECT_WAITS_SLEPT_PRICE_H

#include "slept-shared.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Keeps the measurement of sleeps within its budget: what the programs spend on sleeps, divided
 * among all switches of the machine. If that is too much, call chains of short sleeps are left out,
 * then the whole measurement; after a while it is tried again, each time after a longer one.
 */
struct slept_price {
	uint32_t limit_ppm; /* a lower cost, of all CPUs, leaves nothing out */
	unsigned level;	    /* enum raw_slept_level */
	uint64_t switch_ps; /* cost of a switch between the last two looks, on average */
	uint64_t off_ns;    /* how long nothing was measured */
	/* Of the last look; time_ns 0: there was none. */
	uint64_t time_ns, busy_ns, switches;
	uint64_t since_ns;    /* the level was set */
	uint64_t patience_ns; /* until it is lowered */
	unsigned dear;	      /* looks in a row that were above the budget */
};

struct slept_look {
	uint64_t time_ns;
	uint64_t busy_ns, switches; /* since any time; switches 0: not known */
	long cpus;		    /* of the machine */
};

/* Returns the level from now on. */
unsigned slept_price_look(struct slept_price *p, const struct slept_look *look);

#endif
