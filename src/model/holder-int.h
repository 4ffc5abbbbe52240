/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_HOLDER_INT_H
#define KONTEND_SRC_MODEL_HOLDER_INT_H

#include "kontend/model.h"

/* A wait for the lock begins, before it is counted. */
void holder_waits(struct model *m, uint32_t lock);
/* @owner (cell-owner.h) has it, as of @ns. */
void holder_tell(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns);
/* The same, where an event of exactly @ns reports it: that counts for lockqueue-steal.c, too. */
void holder_report(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns);
/* Readers have it, and it is not known which: the one that is named has exited. */
void holder_readers(struct model *m, uint32_t lock, uint64_t ns);
void holder_got(struct model *m, const struct wait *w, uint64_t ns);
void holder_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns);
/* The last holder of the lock while @w waited, which is about to end. */
uint32_t holder_last(const struct model *m, const struct wait *w);
/* @w is about to end without the lock: it is not the next one that takes it. */
void holder_gives_up(struct model *m, const struct wait *w);
/* All that is known of the lock's holder, of either mode. */
struct lock_has holder_state(const struct model *m, uint32_t lock);
/* Waits for @lock were counted for another one, of which @was is known, unless later reports are.
 */
void holder_move(struct model *m, uint32_t lock, const struct lock_has *was);
void holder_mark(struct model *m);

#endif
