/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_WAIT_USER_H
#define KONTEND_MODEL_WAIT_USER_H

#include <stdint.h>

struct event;
struct locksnap;
struct locksnap_stack;
struct locksnap_waiter;
struct model;
struct wait;

/*
 * A look has read the calls of a program while one of its tasks slept: the waits of the task that
 * are in flight since before the look get these, in place of others that end earlier.
 */
void wait_user_frames(struct model *m, const struct locksnap *s, const struct locksnap_stack *t);
/* The chain in which a look has seen a thread wait for a lock of its program; STACK_OTHER: none. */
uint32_t wait_user_calls(struct model *m, const struct locksnap *s,
			 const struct locksnap_waiter *v);
/* The calls of all tasks of a snapshot, for those that are blocked. 0 or -ENOMEM. */
int wait_user_blocked(struct model *m, const struct locksnap *s);

/*
 * A look has shown this wait before the record of its end, whose begin is @begin: it gets the calls
 * that this has, if no look has read any.
 */
void wait_user_begin(struct model *m, struct wait *w, const struct event *begin);
/* An EVENT_FRAMES: the wait for that lock that the task has just begun gets them. */
void wait_user_event(struct model *m, const struct event *ev);

#endif
