/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_DRAIN_LOOKS_H
#define KONTEND_SOURCE_DRAIN_LOOKS_H

#include "kontend/drain.h"

/* Starts the thread and requests the first snapshots. *@ret_fd: readable when some are ready. */
int drain_looks_begin(struct drain *d, int *ret_fd, struct error *err);
/* Within a step: takes what is ready, and asks for the looks of a tick that is due. */
void drain_looks(struct drain *d, uint64_t now);
/* Does a tick that is due wait for its looks? */
bool drain_looks_hold(const struct drain *d, uint64_t now);
/* And until when at most. */
uint64_t drain_looks_held_until(const struct drain *d);
/* The last looks, at the end of measuring, however long they take. */
void drain_looks_end(struct drain *d, uint64_t now);
/* CPU time that they have taken so far. */
uint64_t drain_looks_cost_ns(const struct drain *d);
void drain_looks_free(struct drain *d);

#endif
