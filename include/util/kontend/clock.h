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

#endif
