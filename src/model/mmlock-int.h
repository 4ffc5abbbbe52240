/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_MMLOCK_INT_H
#define KONTEND_MODEL_MMLOCK_INT_H

#include "kontend/mem.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"

/* mmlock-mm.c: the address space of an event; the first entry when there is no room. NULL: no
 * memory. */
struct mmlock_mm *mmlock_mm_of(struct mmlocks *l, const struct event *ev, struct strpool *names);
/* The locks of the process, which was called @comm, end. */
void mmlock_end_mm(struct mmlocks *l, int32_t pid, const char *comm);

#endif
