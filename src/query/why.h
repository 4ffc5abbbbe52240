/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_WHY_H
#define KONTEND_SRC_QUERY_WHY_H

#include "chains/asleep.h"
#include "kontend/runs.h"

struct query;

/* A sleep ends by: */
enum why_end { WHY_END_TASK, WHY_END_TIMER, WHY_END_DISK, WHY_END_NETWORK, WHY_END_INTERRUPT };

/* Of call chains of the model: causes of sleeps, and what a wakeup came from. */
struct why_stacks {
	struct query *q;
	const struct runs *of;
	enum sleep_cause *causes; /* SLEEP_CAUSES: not looked up yet */
	uint8_t *ends;		  /* enum why_end, + 1; 0: not looked up yet */
};

/* After query_sync(). 0 or -ENOMEM. */
int why_stacks_init(struct why_stacks *s, struct query *q);
/* By the calls, or as the kernel accounts it; @lock: it waited for one. */
enum sleep_cause why_cause(struct why_stacks *s, uint32_t stack, uint8_t state, uint32_t lock);
/* "disk read", "kernel lock"; of a lock of a program its type: "u-mutex". */
const char *why_cause_text(struct why_stacks *s, enum sleep_cause cause, uint32_t lock);
enum why_end why_end_of(struct why_stacks *s, uint32_t waker_stack, int32_t waker_tid);
/* "worker/12", "a timer"; in the arena. */
const char *why_end_text(struct why_stacks *s, uint32_t waker_stack, const struct runs_who *waker);
/* The function that says where it sleeps; NULL: not known. */
const char *why_sleeps_in(struct why_stacks *s, uint32_t stack);
/* "data.db", "pipe:[812]": on what the system call is, by index; NULL because of *ret_why. */
const char *why_on(struct why_stacks *s, uint32_t on, const char **ret_why);

#endif
