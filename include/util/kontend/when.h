/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WHEN_H
#define KONTEND_WHEN_H

#include "kontend/error.h"
#include <stdint.h>

/*
 * Reference for moments: begin and end of a recording, and the current place in it. Session clock.
 * The end may be WHEN_UNKNOWN until it comes.
 */
#define WHEN_UNKNOWN UINT64_MAX
struct when {
	uint64_t begin_ns, end_ns, now_ns;
	/* One moment on the session clock and on CLOCK_REALTIME; wall_ns 0: not known. */
	uint64_t clock_ns, wall_ns;
};

/*
 * Parses a moment as users write it: "90s" "1:23" from the beginning, "+5m" "-10s" from now, "90%"
 * of the whole, "14:30:05" or "2026-11-20 14:30:05" on the wall clock (local time; the first such
 * time in the recording), "@1234.5" on the session clock in seconds. A number alone is on the
 * session clock if the recording has that time, and else counts from the beginning. Moments outside
 * move to the nearer end, except wall clock times, which are an error. 0, or -EINVAL with @err.
 */
int when_parse(const char *text, const struct when *w, uint64_t *ret_ns, struct error *err);
/*
 * Parses "A,B"; without A: from the beginning; without B: to the end. "+5m" as B counts from A.
 * -EINVAL, too, if B is not later than A or the range is outside; @err has the begin and end of the
 * recording. Sets the results only on success.
 */
int when_parse_range(const char *text, const struct when *w, uint64_t *ret_from_ns,
		     uint64_t *ret_to_ns, struct error *err);

/*
 * Parses a moment to come on the wall clock, local time, of CLOCK_REALTIME: "14:30", "14:30:05"
 * (the next such time of day), "2026-11-20 14:30", "2026-11-20T14:30:05.5", or "/10s": the next
 * multiple of 10 s since 1970 in UTC, the same on all machines whose clocks agree. -EINVAL with
 * @err, also for a date that is past, or for "/TIME" of less than WHEN_STEP_LEAST_NS or more than a
 * day.
 */
#define WHEN_STEP_LEAST_NS 1000000000ull
int when_parse_start(const char *text, uint64_t wall_now_ns, uint64_t *ret_wall_ns,
		     struct error *err);

/* CLOCK_REALTIME at @ns of the session clock; 0: not known. */
uint64_t when_wall_ns(const struct when *w, uint64_t ns);
/* "0:41", "1:02:03", with @digits (0, 1 or 3) after the decimal point. */
enum { WHEN_BUF = 40 };
const char *when_elapsed(char *buf, uint64_t ns, int digits);
/* "2026-11-20 14:30:05.120" of a CLOCK_REALTIME, local time, 0 or 3 digits; "" when @wall_ns is 0.
 */
const char *when_date(char *buf, uint64_t wall_ns, int digits);

#endif
