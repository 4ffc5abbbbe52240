/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_SWITCHES_H
#define KONTEND_SOURCE_DRAIN_SWITCHES_H

#include "kontend/drain.h"

/*
 * Within a step: switches the events of context switches on or off. True when a burst has ended,
 * at *@ret_until; its last records are in the rings still.
 */
bool drain_switches_turn(struct drain *d, uint64_t *ret_until);
/* When these were taken: what the burst was, and what it has cost. */
void drain_switches_say(struct drain *d, uint64_t until);

#endif
