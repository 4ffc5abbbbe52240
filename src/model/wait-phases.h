/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_WAIT_PHASES_H
#define KONTEND_MODEL_WAIT_PHASES_H

#include "kontend/wait.h"

struct event;
struct model;

/* The wait begins with @ev, or is reported again by it. */
void wait_phases_begin(const struct model *m, struct wait *w, const struct event *ev);
/* @ev reports its next phase; its flags are those of the one before. */
void wait_phases_next(const struct model *m, struct wait *w, const struct event *ev);
/* The time it has spun in the open tick until @until_ns; each part is returned once. */
uint64_t wait_phases_take(const struct model *m, struct wait *w, uint64_t until_ns);
/* The sums begin now. */
void wait_phases_zero(struct model *m);

#endif
