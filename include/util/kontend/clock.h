/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CLOCK_H
#define KONTEND_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Times of the system's clocks in nanoseconds. These clocks are always there, so none can fail. */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock that events are stamped by. */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* One moment by the clock of events and by the one on the wall. */
struct clock_pair {
	uint64_t now_ns, wall_ns;
};

/* Another task may have the CPU between two clocks: of some tries the closest one is it. */
static inline struct clock_pair clock_pair(void)
{
	struct clock_pair ret = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_now_ns(), wall = clock_ns(CLOCK_REALTIME);
		uint64_t took = clock_now_ns() - before;
		if (took >= least)
			continue;
		least = took;
		ret = (struct clock_pair){before + took / 2, wall};
	}
	return ret;
}

#endif
