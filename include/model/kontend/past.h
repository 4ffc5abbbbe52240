/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PAST_H
#define KONTEND_PAST_H

#include "kontend/wait.h"

/*
 * The longest waits that have just ended: of each second, by the events' clock, so many. What a
 * screen shows below the tasks that wait now. Bounded, and copied with the model.
 */
enum { PAST_EACH = 16, PAST_SECONDS = 10 };
#define PAST_NS (PAST_SECONDS * 1000000000ull)

struct past_wait {
	struct wait wait; /* as it was when it ended: `used` says nothing */
	uint64_t end_ns;
};

struct past_second {
	uint64_t second; /* of the events' clock */
	uint32_t n, shortest;
	struct past_wait waits[PAST_EACH];
};

struct past {
	/* The second that goes on, and those before it that the last 10 s reach into. */
	struct past_second seconds[PAST_SECONDS + 1];
	uint32_t at;
	uint64_t floor_ns; /* no shorter wait that ends before until_ns is kept */
	uint64_t until_ns;
};

static inline uint64_t past_ns(const struct past_wait *w)
{
	return wait_part_ns(&w->wait, 0, w->end_ns);
}

void past_add(struct past *p, const struct wait *w, uint64_t end_ns);

/* A wait has ended: kept if it is one of the longest of its second. */
static inline void past_note(struct past *p, const struct wait *w, uint64_t end_ns)
{
	if (end_ns >= p->until_ns || wait_part_ns(w, 0, end_ns) > p->floor_ns)
		past_add(p, w, end_ns);
}

void past_clear(struct past *p);

/* The @i-th of all that are kept, in no order; NULL: there are not so many. */
struct past_wait *past_at(struct past *p, uint32_t i);
/* Those that ended at most PAST_NS before @now_ns, in no order. Fills @ret, returns how many. */
enum { PAST_MOST = PAST_EACH * (PAST_SECONDS + 1) };
uint32_t past_list(const struct past *p, uint64_t now_ns, const struct past_wait *ret[PAST_MOST]);

#endif
