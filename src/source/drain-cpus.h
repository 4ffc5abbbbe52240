/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_CPUS_H
#define KONTEND_SOURCE_DRAIN_CPUS_H

#include "kontend/drain.h"

/* Of drain.polls: the descriptors of the caller, between those of the rings and the pidfd. */
enum { DRAIN_CALLERS = 2 };

/* Within a step: what went and what came back since the last time. True: the session is to end. */
bool drain_check_liveness(struct drain *d, uint64_t now);
/* Everything that is in @r now goes to the sink, not what comes meanwhile; false: nothing was. */
bool drain_take_ring(struct drain *d, struct drain_ring *r);

#endif
