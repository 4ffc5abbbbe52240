/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BURST_H
#define KONTEND_BURST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When something that costs too much to be on all the time is on: @len_ns out of each @every_ns,
 * at its begin, or with @spread anywhere in it. `= {0}` is never. Times are of the session clock.
 */
struct burst {
	uint64_t len_ns, every_ns;
	bool spread;
	/* its own */
	uint64_t period_ns; /* of @spread: when the next @every_ns begins; 0: it has not begun */
	uint64_t random;
	uint64_t next_ns; /* when it changes next; 0: at once */
	uint64_t from_ns; /* on since */
	bool on;
};

enum burst_change { BURST_STAYS, BURST_ON, BURST_OFF };

/* What is to be done now; after BURST_OFF it was on from @from_ns to @now_ns. */
enum burst_change burst_step(struct burst *b, uint64_t now_ns, bool wanted);
/* When it wants to be stepped again; UINT64_MAX: never. */
uint64_t burst_next(const struct burst *b);

#endif
