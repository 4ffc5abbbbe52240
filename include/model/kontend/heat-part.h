/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HEAT_PART_H
#define KONTEND_HEAT_PART_H

#include <stdbool.h>
#include <stdint.h>

/* Waits that ended from one time to another, and were at least so long and less than that. */
struct heat_part {
	uint64_t from_ns, to_ns;     /* to_ns 0: no end */
	uint64_t lower_ns, upper_ns; /* upper_ns 0: none */
};

/* Is any bound set? */
static inline bool heat_part_any(const struct heat_part *p)
{
	return p->from_ns || p->to_ns || p->lower_ns || p->upper_ns;
}

static inline bool heat_part_has_length(const struct heat_part *p, uint64_t ns)
{
	return ns >= p->lower_ns && (!p->upper_ns || ns < p->upper_ns);
}

/* One that ended then, and was so long; alone it is not as coarse as in columns and buckets. */
static inline bool heat_part_has(const struct heat_part *p, uint64_t end_ns, uint64_t ns)
{
	return end_ns >= p->from_ns && (!p->to_ns || end_ns < p->to_ns) &&
	       heat_part_has_length(p, ns);
}

#endif
