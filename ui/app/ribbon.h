/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_RIBBON_H
#define KONTEND_UI_APP_RIBBON_H

#include "kontend/screen.h"
#include "kontend/timeline.h"

/* The whole of a timeline in one strip: wait per second, where one is, the range marked. */
struct ribbon {
	const struct timeline_bucket *buckets;
	size_t n;
	uint64_t begin_ns, end_ns, now_ns;
	uint64_t from_ns, to_ns; /* of the range; 0 = not marked */
};

void ribbon_draw(const struct ribbon *b, struct screen *s, struct rect r);
/* The time to go to for a click at column @x of the screen; false when it is beside the strip. */
bool ribbon_time_at(const struct ribbon *b, struct rect r, int x, uint64_t *ret_ns);

#endif
