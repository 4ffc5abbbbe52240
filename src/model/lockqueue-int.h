/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_LOCKQUEUE_INT_H
#define KONTEND_SRC_MODEL_LOCKQUEUE_INT_H

#include "internal.h"
#include "kontend/lockqueue.h"

/* lockqueue-alone.c: a wait for a lock without a queue is over at @ns, and has got it or not. */
void lockqueue_alone_end(struct model *m, const struct wait *w, uint64_t ns, bool got);
/* The lock has queue @q from now on, which begins with the sums of all before. */
void lockqueue_alone_take(struct model *m, uint32_t lock, struct lockqueue *q);
void lockqueue_alone_zero(struct model *m);
/* lockqueue-steal.c: */
/* An event of @ns reports that @owner (cell-owner.h) has the lock. */
void lockqueue_seen(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns);
/* A task got the lock at @addr, or gave up, after a wait of which no begin is known. */
void lockqueue_seen_unreported(struct model *m, uint64_t addr);
/* A task that waited has got the lock. */
void lockqueue_seen_got(const struct model *m, struct lockqueue *q, const struct wait *w,
			uint64_t ns);

#endif
