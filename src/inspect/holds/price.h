/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_HOLDS_PRICE_H
#define KONTEND_INSPECT_HOLDS_PRICE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Keeps the measurement of holds within a part of the CPU time of all CPUs. Steps: all; no call
 * chains; one of 8, 64 and 512 acquisitions; nothing, for good. It knows no clock and no kernel.
 */
enum {
	HOLDS_STEP_ALL,
	HOLDS_STEP_NO_CHAINS,
	HOLDS_STEP_8,
	HOLDS_STEP_64,
	HOLDS_STEP_512,
	HOLDS_STEP_OFF
};

struct holds_price {
	uint32_t target_ppm; /* of all CPUs; 0: any price */
	uint32_t cpus;
	unsigned step;
	unsigned dear, cheap; /* looks in a row that were above the target, or far below */
	unsigned patience;    /* looks before a step down */
};

/* The programs took @run_ns of @span_ns. Returns the step from now on. */
unsigned holds_price_look(struct holds_price *p, uint64_t span_ns, uint64_t run_ns);
/* Of so many acquisitions one is measured. */
uint32_t holds_price_every(unsigned step);

#endif
