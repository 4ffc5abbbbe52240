/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHORTS_H
#define KONTEND_SHORTS_H

#include "kontend/locktype.h"
#include "kontend/shortsnap.h"

/*
 * Waits that were only summed up, as they were shorter than a threshold or only counted: see
 * shortsnap.h. Their sums are in cells of a lock of their own for each type, which represents all
 * locks, at this address; their tasks, CPUs and owners are not known.
 */
#define SHORTS_LOCK 1ull /* no lock of the kernel is there */

struct shorts_sum {
	uint64_t n, ns;
	uint64_t counted; /* besides, of which nothing is known but the type */
};

struct shorts_state {
	bool known;		    /* the stream has reported some, or that there are none */
	struct shortsnap_head head; /* as of the latest */
	struct shorts_sum types[LOCK_TYPES]; /* since the sums of the model began */
	/* The recording, or the part of it; 0: its beginning, its end */
	uint64_t from_ns, to_ns;
	uint64_t spent_ns[SHORTSNAP_LEVELS], n_changes;
	uint64_t estimated_ns; /* so much of it, where sums were divided by time */
};

struct model;

/*
 * A part is asked for: nothing before it and after it is in the sums. Those of its end are complete
 * when the first snapshot of @to_ns or later was taken.
 */
void shorts_range(struct model *m, uint64_t from_ns, uint64_t to_ns);

#endif
