/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_MMAP_H
#define KONTEND_SOURCE_DRAIN_MMAP_H

#include "kontend/drain.h"

/* Within a step: switches the events of mmap_locks on or off, as @d->mmaps wants it. */
void drain_mmaps(struct drain *d);
/* All events are off since @now: ends a burst that was on, and reports the counts. */
void drain_mmaps_end(struct drain *d, uint64_t now);

#endif
