/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PROFILE_H
#define KONTEND_PROFILE_H

#include "kontend/codes.h"
#include "kontend/event.h"
#include "kontend/eventlist.h"
#include "kontend/ksyms.h"
#include "kontend/map64.h"
#include "kontend/maps.h"
#include "kontend/recent.h"
#include "kontend/stack.h"
#include <stdint.h>

struct task_table;

/*
 * Where CPUs were when they were sampled: samples by call chain, task and CPU. Chains are of frames
 * as in maps.h, innermost first, kernel before user.
 */
struct profile_cell {
	uint32_t stack, task;
	uint32_t cpu;
	uint32_t event : 8, /* number: eventlist.h */
		seen : 24;  /* by the clock of the profile: when it was sampled last */
	uint64_t n, period;
};

/* Makes frames from the user-space part of a sample, other than addresses. */
struct profile_unwinder {
	/* At most @most frames as in maps.h into @ret, a mark where they end early: how many. */
	uint32_t (*frames)(struct profile_unwinder *u, const struct map_space *space,
			   const struct event *ev, uint64_t *ret, uint32_t most);
};

/* A sample whose user part is still to come: see profile-deferred.c. */
struct profile_pending {
	uint64_t cookie, generation;
	struct profile_cell cell; /* where it was counted, with its own period */
	uint32_t next;		  /* of the same task, from 1; 0: the last one */
	bool has_kernel;
};

struct profile_deferred {
	struct profile_pending *pending;
	size_t n, cap;
	uint32_t free;	     /* list of free entries, from 1; 0: none */
	struct map64 by_tid; /* the latest entry of a task, from 1 */
	uint32_t *spares;    /* cells without samples */
	size_t n_spares, cap_spares;
};

struct profile {
	struct profile_unwinder *unwinder; /* NULL: none; borrowed, shared with copies */
	struct map_spaces spaces;
	struct ksyms ksyms; /* this and the next one: of call chains of waits, too */
	struct codes *codes;
	struct stack_table stacks;
	struct profile_cell *cells;
	size_t n, cap;
	struct map64 index; /* (stack, task, cpu) -> cell */
	uint32_t max;	    /* cells */
	uint64_t samples, period;
	uint64_t of_event[EVENTLIST_MOST]; /* samples, by number */
	uint64_t rate_n, cur_n;		   /* in the closed bucket; in the open one */
	uint32_t clock;			   /* ticks so far, and 1 */
	uint64_t shortened;    /* samples whose outer frames were dropped without room */
	uint64_t other;	       /* samples for which there was no room at all */
	uint64_t next_shorten; /* samples before which it is not tried again */
	uint64_t ended;	       /* samples in what programs had mapped that are not kept any more */
	uint64_t nameless;     /* samples of tasks that could not be kept apart: TASK_OTHER */
	uint64_t generation;   /* changes when numbers of chains may be reassigned */
	struct profile_deferred deferred;
	struct recent recent; /* samples of the last minute; none unless its `max` is set */
};

int profile_init(struct profile *p); /* 0 or -ENOMEM */
int profile_copy(struct profile *dst, const struct profile *src);
void profile_deinit(struct profile *p);
/* An EVENT_SAMPLE of @task, one of @tasks. 0 or -ENOMEM. */
int profile_sample(struct profile *p, const struct event *ev, const struct task_table *tasks,
		   uint32_t task);
/*
 * Where the task of an EVENT_SAMPLE was: the innermost frame, then the outermost ones of the
 * kernel, of which one is the system call. Their number, PROFILE_PLACE at most.
 */
enum { PROFILE_PLACE = 5 };
uint32_t profile_place(const struct profile *p, const struct event *ev, uint64_t *ret);
/* An EVENT_DEFERRED: the user part of samples before it. 0 or -ENOMEM. */
int profile_deferred(struct profile *p, const struct event *ev);
void profile_tick(struct profile *p, uint64_t begin_ns, uint64_t end_ns);
/*
 * The same profile with samples of that window alone: all but its cells, in @room for as many as
 * @p has, is borrowed from @p. @keep: of which cells, by index; NULL: of all. 0 or -ENOMEM.
 */
int profile_recent(const struct profile *p, const struct recent_window *w, const uint8_t *keep,
		   struct profile_cell *room, struct profile *ret);
/*
 * Samples of tasks that ended at @until_ns or before become those of TASK_OTHER. 0 or -ENOMEM: then
 * some samples are gone.
 */
int profile_end_tasks(struct profile *p, const struct task_table *tasks, uint64_t until_ns);
/*
 * Forgets what programs had mapped that have ended long ago, if there is much of it: frames in it
 * become the mark MAP_MARK_ENDED. *ret_keep: NULL: nothing was forgotten; or a flag for each object
 * that there was, *@ret_n of them; mem_free(). 0 or -ENOMEM, as above.
 */
int profile_end_objects(struct profile *p, uint8_t **ret_keep, size_t *ret_n);
/* Forgets the samples; mappings stay. */
void profile_zero(struct profile *p);
size_t profile_bytes(const struct profile *p);

#endif
