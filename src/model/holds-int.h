/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_HOLDS_INT_H
#define KONTEND_SRC_MODEL_HOLDS_INT_H

#include "internal.h"
#include "kontend/model.h"

struct cell;
struct hold;
struct holds;
struct lock_has;
struct wait;

/* From now on @n more (or fewer, if negative) sure waits for the lock are in flight. */
void holds_waits(struct model *m, uint32_t lock, int n);
/*
 * The wait is over and has got its lock at @ns. Only where that is followed, that is where
 * `held` has room for cells.
 */
void holds_got(struct model *m, const struct wait *w, uint64_t ns);
/*
 * An event reports that @owner has the lock since @ns at the latest, or that it is free; @was has
 * the report before.
 */
void holds_seen(struct model *m, uint32_t lock, const struct lock_has *was, uint32_t owner,
		uint64_t ns);
/* The holder of the lock is not known any more. */
void holds_forget(struct model *m, uint32_t lock);
/* Charges the holder with the time waited since the last charge. Returns that time. */
uint64_t holds_charge(struct model *m, uint32_t lock);
/* The call chain by which @task, which has the lock, got it; STACK_OTHER: not known. */
uint32_t holds_stack(const struct model *m, uint32_t lock, uint32_t task);
/*
 * A wait that is known now that it is over: @ns of it were because of @task, which had got the lock
 * by @stack.
 */
void holds_give(struct model *m, uint32_t lock, uint32_t task, uint32_t stack, uint64_t ns);
/* @task, a reader of the lock or of that of the other mode, has it no more since @ns at the latest.
 */
void holds_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns);
/* @task holds the lock no more; false: it is not known that it did. */
bool holds_take_out(struct model *m, uint32_t lock, uint32_t task, struct hold *ret);
/* The task held it from h->got_ns to @end_ns, exactly (@exact) or at most. */
void holds_count(struct model *m, const struct hold *h, uint32_t lock, uint64_t end_ns, bool exact);
/* Marks what cells and holders name; holders of a lock that is not marked are forgotten. */
void holds_mark(struct model *m);
void holds_zero(struct model *m);
int holds_copy(struct holds *dst, const struct holds *src); /* 0 or -ENOMEM */

/* The reported holder while @w waited; TASK_OTHER: none, or two. */
uint32_t holds_reported(const struct wait *w);

/*
 * holds-undo.c: notes the charge of @h, a hold of a lock of @c, and takes charges back when the end
 * of a wait was lost.
 */
void holds_note(struct model *m, const struct hold *h, const struct cell *c, uint64_t end_ns);
void holds_take_back(struct model *m, const struct wait *w);
void holds_prune(struct model *m);	 /* drops notes in which no wait in flight has a part */
void holds_done_forget(struct model *m); /* charges until now stay as they are */
/* The begin of the oldest wait in flight with a part in the charges; now, if there is none. */
uint64_t holds_oldest(const struct model *m);

/* blame-undo.c: undoes charges, as the end of @w was lost; call blame_over() for @w next. */
void blame_gone(struct model *m, const struct wait *w);
void blame_take_back(struct model *m);

#endif
