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

/* Sums since some moment. */
struct governor_look {
	uint64_t now_ns;
	uint64_t events;	  /* begins and ends of waits, */
	uint64_t timed, timed_ns; /* of which so many took so long, */
	uint64_t told;		  /* and so many became records */
	uint64_t own_ns;	  /* CPU time of our process */
};

enum { GOVERNOR_QUICK = 3, GOVERNOR_SLOW = 16 };

struct governor_looks {
	struct governor_look v[GOVERNOR_SLOW]; /* the oldest first */
	unsigned n;
};

struct governor {
	uint32_t target_ppm; /* of the CPU time of all CPUs */
	uint32_t cpus;
	unsigned least; /* step that it does not go below: a threshold that was asked for */
	unsigned most; /* that it does not go beyond, whatever it costs: one of counts, or before */
	unsigned step;
	/* The whole cost, the part that depends on the number of reports, and the last moment's. */
	uint32_t cost_ppm, varies_ppm, storm_ppm;
	uint32_t event_ps, told_ps; /* what a begin or end costs, and a record besides */

	bool is_timed; /* what an event costs was measured, and is not assumed */

	/* its own */
	struct governor_looks quick, slow; /* of this step */
	struct governor_look timed_from;   /* what an event costs is measured since then */
	uint64_t stepped_ns, calm_ns;	   /* it has stepped last; it is calm since then, or 0 */
	uint64_t patience_ns;		   /* for which it must be calm */
};

void governor_init(struct governor *g, uint32_t target_ppm, uint32_t cpus, unsigned least);
/* As often as governor_period_ms() says. True: @g->step is another one now. */
bool governor_step(struct governor *g, const struct governor_look *look);
/* From now on it does not go beyond that step. True: @g->step is another one now. */
bool governor_bound(struct governor *g, unsigned most, const struct governor_look *look);
/* The last step on which waits of so long are reported one by one; that of counts for 0. */
unsigned governor_step_telling(uint64_t ns);
/* Period until its next look: longer where it reports all that it may, at hardly any cost. */
unsigned governor_period_ms(const struct governor *g);
/* 0: of all waits, and of counts. */
uint64_t governor_threshold_ns(unsigned step);
/* The first step whose threshold is not below that; 0 of 0. */
unsigned governor_step_of(uint64_t threshold_ns);

#endif
