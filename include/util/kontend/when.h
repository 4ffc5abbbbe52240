/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WHEN_H
#define KONTEND_WHEN_H

#include "kontend/error.h"
#include <stdint.h>

/*
 * What a moment can be told by: the ends of a recording, and where one is in it. Session clock. The
 * end may be WHEN_UNKNOWN, as long as it has not come.
 */
#define WHEN_UNKNOWN UINT64_MAX
struct when {
	uint64_t begin_ns, end_ns, now_ns;
	/* One moment by the session clock and by CLOCK_REALTIME; wall_ns 0: not known. */
	uint64_t clock_ns, wall_ns;
};

/*
 * A moment as people say it, onto the session clock: "90s" "1:23" from the beginning, "+5m" "-10s"
 * from now, "90%" of the whole, "14:30:05" or "2026-11-20 14:30:05" by the clock on the wall (local
 * time; the first such time in the recording), "@1234.5" by the session clock in seconds; a number
 * alone is the latter where the recording has that time, and else counts from the beginning. What
 * lies outside is moved to the nearer end, but for a time on the wall, which names something that
 * is not there. 0, or -EINVAL with @err.
 */
int when_parse(const char *text, const struct when *w, uint64_t *ret_ns, struct error *err);
/*
 * "A,B", one of which may be left out: the beginning, the end. "+5m" as B counts from A. -EINVAL,
 * too, when B is not behind A or all of it lies outside; @err says where the recording begins and
 * ends. Filled in at success only.
 */
int when_parse_range(const char *text, const struct when *w, uint64_t *ret_from_ns,
		     uint64_t *ret_to_ns, struct error *err);

/* CLOCK_REALTIME at @ns of the session clock; 0 when it is not known. */
uint64_t when_wall_ns(const struct when *w, uint64_t ns);
/* "0:41", "1:02:03", with @digits (0, 1 or 3) after the second's point. */
enum { WHEN_BUF = 40 };
const char *when_elapsed(char *buf, uint64_t ns, int digits);
/* "2026-11-20 14:30:05.120" of a CLOCK_REALTIME, local time, 0 or 3 digits; "" when @wall_ns is 0.
 */
const char *when_date(char *buf, uint64_t wall_ns, int digits);

#endif
