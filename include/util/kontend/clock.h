/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CLOCK_H
#define KONTEND_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/*
 * Times of the system clocks in nanoseconds. These clocks always exist, so the calls cannot fail.
 */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t = {0};

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock of event time stamps. */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Sleeps for @ns at least: a signal that has a handler does not end it early. */
static inline void clock_sleep_ns(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* One moment on the event clock and on the wall clock. */
struct clock_pair {
	uint64_t now_ns, wall_ns;
};

/* The task may be preempted between two clock reads: takes the closest pair of several tries. */
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
