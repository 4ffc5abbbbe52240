/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_TRIGGER_RATE_H
#define KONTEND_INCIDENTS_TRIGGER_RATE_H

#include <stdint.h>

/*
 * A sum over the last second, in steps of 10 ms: 99 that are over and the current one.
 */
enum { RATE_STEPS = 100 };
#define RATE_STEP_NS 10000000ull

struct rate {
	uint64_t steps[RATE_STEPS];
	uint64_t sum;
	uint64_t at; /* number of the current step */
};

/* Adds @n at @ns; ignored if that is more than a second before the latest time. */
void rate_add(struct rate *r, uint64_t ns, uint64_t n);
/* Something lasted from @from_ns to @to_ns: adds its ns to each step. */
void rate_add_span(struct rate *r, uint64_t from_ns, uint64_t to_ns);
/* The sum as of @ns. */
uint64_t rate_sum(struct rate *r, uint64_t ns);

#endif
