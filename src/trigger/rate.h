/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_TRIGGER_RATE_H
#define KONTEND_SRC_TRIGGER_RATE_H

#include <stdint.h>

/*
 * What came together within the last second, in steps of 10 ms: those that are over and the one
 * that goes on, which are a hundred.
 */
enum { RATE_STEPS = 100 };
#define RATE_STEP_NS 10000000ull

struct rate {
	uint64_t steps[RATE_STEPS];
	uint64_t sum;
	uint64_t at; /* number of the step that goes on */
};

/* So many happened at @ns. Earlier than a second before the latest moment: nothing. */
void rate_add(struct rate *r, uint64_t ns, uint64_t n);
/* Something has lasted from @from_ns to @to_ns: its ns in each step. */
void rate_add_span(struct rate *r, uint64_t from_ns, uint64_t to_ns);
/* As of @ns. */
uint64_t rate_sum(struct rate *r, uint64_t ns);

#endif
