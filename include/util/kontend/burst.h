/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BURST_H
#define KONTEND_BURST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Timing of work that costs too much to do all the time: @len_ns out of each @every_ns, at its
 * start, or with @spread at a random place in it. `= {0}` is never on. Times are of the session
 * clock.
 */
struct burst {
	uint64_t len_ns, every_ns;
	bool spread;
	/* private */
	uint64_t period_ns; /* of @spread: start of the next @every_ns; 0: none yet */
	uint64_t random;
	uint64_t next_ns; /* time of the next change; 0: at once */
	uint64_t from_ns; /* on since */
	bool on;
};

enum burst_change { BURST_STAYS, BURST_ON, BURST_OFF };

/* The change at @now_ns, if any; at BURST_OFF it was on from @from_ns to @now_ns. */
enum burst_change burst_step(struct burst *b, uint64_t now_ns, bool wanted);
/* Time of the next call of burst_step(); UINT64_MAX: never. */
uint64_t burst_next(const struct burst *b);

#endif
