/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_GAPS_H
#define KONTEND_SOURCE_DRAIN_GAPS_H

#include "kontend/drain.h"

/* Within a step, when all rings have been taken from: which had no room since the step before. */
void drain_gaps(struct drain *d);
/* The events of @r are there again: what is missing happened before now. False: no room to say it.
 */
bool drain_gap_ends(struct drain *d, const struct drain_ring *r);
/* The events are off, and the rings are read: adds the losses that no record has reported. */
void drain_gaps_end(struct drain *d);

#endif
