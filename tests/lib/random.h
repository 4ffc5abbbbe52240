/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_RANDOM_H
#define KONTEND_TESTS_RANDOM_H

#include "rig.h"

enum { RANDOM_CPUS = 4 };

struct random_plan {
	unsigned events, locks;
	uint32_t seed;
	bool has_tail;	 /* events after the last tick */
	uint32_t rarity; /* of rounds and ticks; 0: 300 */
};

/* rig_init() and the stream, which begins at 10 ms. */
void random_stream(struct rig *r, const struct random_plan *p);

/* rig_dump(), and what screens show besides: mem_free() it. */
char *random_state(const struct model *m);

/* @inner, but its marks lie further back than need be, as those of a compressed file. */
struct source *random_coarse(struct source *inner);

#endif
