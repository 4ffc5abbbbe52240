/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LONGEST_RECENT_H
#define KONTEND_LONGEST_RECENT_H

#include "kontend/wait.h"

/*
 * The longest waits that have just ended: so many of each second, by the events' clock. A screen
 * shows them below the tasks that wait now. Bounded, and copied with the model.
 */
enum { LONGEST_EACH = 16, LONGEST_SECONDS = 10 };
#define LONGEST_NS (LONGEST_SECONDS * 1000000000ull)

struct longest_recent_wait {
	struct wait wait; /* as it was when it ended: `used` says nothing */
	uint64_t end_ns;
};

struct longest_recent_second {
	uint64_t second; /* of the events' clock */
	uint32_t n, shortest;
	struct longest_recent_wait waits[LONGEST_EACH];
};

struct longest_recent {
	/* The current second, and those before it that the last 10 s reach into. */
	struct longest_recent_second seconds[LONGEST_SECONDS + 1];
	uint32_t at;
	uint64_t floor_ns; /* no shorter wait that ends before until_ns is kept */
	uint64_t until_ns;
};

static inline uint64_t longest_recent_ns(const struct longest_recent_wait *w)
{
	return wait_part_ns(&w->wait, 0, w->end_ns);
}

void longest_recent_add(struct longest_recent *p, const struct wait *w, uint64_t end_ns);

/* A wait has ended: kept if it is one of the longest of its second. */
static inline void longest_recent_note(struct longest_recent *p, const struct wait *w,
				       uint64_t end_ns)
{
	if (end_ns >= p->until_ns || wait_part_ns(w, 0, end_ns) > p->floor_ns)
		longest_recent_add(p, w, end_ns);
}

void longest_recent_clear(struct longest_recent *p);

/* The @i-th of all that are kept, in no order; NULL: there are not so many. */
struct longest_recent_wait *longest_recent_at(struct longest_recent *p, uint32_t i);
/* The waits that ended at most LONGEST_NS before @now_ns, in no order. Fills @ret, returns their
 * number. */
enum { LONGEST_MOST = LONGEST_EACH * (LONGEST_SECONDS + 1) };
uint32_t longest_recent_list(const struct longest_recent *p, uint64_t now_ns,
			     const struct longest_recent_wait *ret[LONGEST_MOST]);

#endif
