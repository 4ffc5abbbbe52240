/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MEASURE_HOW_H
#define KONTEND_MEASURE_HOW_H

#include "kontend/callgraph.h"

#include <stdbool.h>
#include <stdint.h>

/* How to measure: from the options of a live source down to the attributes of its events. */
struct measure_how {
	uint32_t ring_pages;	    /* data pages of a ring, a power of two; 0: the default */
	uint32_t max_stack;	    /* frames of a call chain */
	uint32_t profile_hz;	    /* samples a second of where CPUs are; 0: no profile */
	bool profile_clock;	    /* by the CPU's clock even where cycles can be sampled */
	struct callgraph callgraph; /* of the profile, with call chains only */
	bool user_frames;	    /* call chains of waits have the part of the program */
	bool maps;     /* mappings of code are recorded, also if nothing above needs them */
	bool for_perf; /* what perf needs: addresses, and call chains also where waits end */
};

#endif
