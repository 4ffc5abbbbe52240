/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_WAIT_LOST_H
#define KONTEND_MODEL_WAIT_LOST_H

#include "kontend/wait.h"

struct event;
struct model;

/* The clock of idle CPUs in full, as a record of that time shows it; 0: not known. */
uint64_t wait_lost_clock(struct model *m, uint32_t shown, uint64_t time_ns);
/* The cost of kontend (struct record_cost) as of a tick, which has the clock, too. */
void wait_lost_tick(struct model *m, const void *payload, size_t len, uint64_t tick_ns);
/* @w begins with @ev. */
void wait_lost_begin(struct model *m, struct wait *w, const struct event *ev);
/* The time that it has lost until @until_ns, a tick; each part is returned once. */
uint64_t wait_lost_take(struct model *m, struct wait *w, uint64_t until_ns);
/* The same where it ends with @ev. False: it is not known what the wait has lost. */
bool wait_lost_end(struct model *m, struct wait *w, const struct event *ev, uint64_t *ret_ns);
/* How long other threads of the process ran in @w, together. False: it is not known. */
bool wait_par_end(const struct model *m, const struct wait *w, const struct event *ev,
		  uint64_t *ret_ns);
/* The sums begin now. */
void wait_lost_zero(struct model *m);

#endif
