/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_GOVERNOR_H
#define KONTEND_INSPECT_WAITS_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Keeps the cost of kontend below a part of the CPU time of all CPUs, by fewer reports. Steps from
 * most to fewest reports: 0 is all waits, then those over thresholds that double, and the last one
 * only counts. It knows no clock and no kernel.
 */
enum { GOVERNOR_THRESHOLDS = 15, GOVERNOR_COUNTS = GOVERNOR_THRESHOLDS + 1 };

/* Sums since a fixed time. */
struct governor_look {
	uint64_t now_ns;
	uint64_t events;	  /* begins and ends of waits */
	uint64_t timed, timed_ns; /* of them: timed, and the time of these */
	uint64_t reported;	  /* of them: written as records */
	uint64_t own_ns;	  /* CPU time of kontend */
};

enum { GOVERNOR_QUICK = 3, GOVERNOR_SLOW = 16 };

struct governor_looks {
	struct governor_look v[GOVERNOR_SLOW]; /* the oldest first */
	unsigned n;
};

struct governor {
	uint32_t target_ppm; /* of the CPU time of all CPUs */
	uint32_t cpus;
	unsigned least; /* lowest step: that of a requested threshold */
	unsigned most;	/* highest step, at any cost: that of counts, or an earlier one */
	unsigned step;
	/*
	 * The whole cost, the part that depends on the number of reports, and that of the last
	 * period.
	 */
	uint32_t cost_ppm, varies_ppm, storm_ppm;
	uint32_t event_ps, reported_ps; /* cost of a begin or end, and of a record in addition */

	bool is_timed; /* the cost of an event was measured, and is not assumed */

	/* its own */
	struct governor_looks quick, slow; /* of this step */
	struct governor_look timed_from;   /* the cost of an event is measured since then */
	uint64_t stepped_ns, calm_ns;	   /* it has stepped last; it is calm since then, or 0 */
	uint64_t patience_ns;		   /* it must be calm for so long */
};

void governor_init(struct governor *g, uint32_t target_ppm, uint32_t cpus, unsigned least);
/* Call it as often as governor_period_ms() requests. True: @g->step has changed. */
bool governor_step(struct governor *g, const struct governor_look *look);
/* Sets the highest step. True: @g->step has changed. */
bool governor_bound(struct governor *g, unsigned most, const struct governor_look *look);
/* The last step on which waits of this length are reported one by one; for 0 that of counts. */
unsigned governor_step_reporting(uint64_t ns);
/* Time until its next call: longer if it reports all that it may, at hardly any cost. */
unsigned governor_period_ms(const struct governor *g);
/* 0: of all waits, and of counts. */
uint64_t governor_threshold_ns(unsigned step);
/* The first step whose threshold is not below that; 0 of 0. */
unsigned governor_step_of(uint64_t threshold_ns);

#endif
