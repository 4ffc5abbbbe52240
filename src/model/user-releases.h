/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_USER_RELEASES_H
#define KONTEND_SRC_MODEL_USER_RELEASES_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct model;
struct wait;

/*
 * The last releases of locks of programs, as records report them when a waiter runs again: until
 * then, from the one before, that thread had the lock. For locks that are waited for now, so a lock
 * has its place by its address, where another may take it over.
 */
enum { USER_RELEASES = 8, USER_RELEASES_BITS = 7, USER_PLACES = 256 };

struct user_release {
	uint64_t ns;
	int32_t pid, tid;
	uint32_t stack; /* by which it had got the lock */
};

struct user_releases_of {
	uint64_t addr, dropped_ns; /* dropped_ns: of the latest that had no room */
	uint32_t n;
	/* Of its holder, by the latest snapshot that saw one: enum blame_state, 0: not known. */
	uint32_t state, why;
	uint64_t seen_ns;
	struct user_release v[USER_RELEASES]; /* the oldest first */
};

/* Where a task was that is seen to have such locks, by a sample: profile_place(). */
struct user_place {
	uint64_t ns;
	uint32_t task, stack;
};

struct user_releases {
	struct user_releases_of locks[1 << USER_RELEASES_BITS];
	struct user_place places[USER_PLACES]; /* a ring, in the order of time */
	uint64_t n_places;		       /* so many were entered */
};

/* The state of its holder. */
void user_release_see(struct user_releases *r, uint64_t addr, uint32_t state, uint32_t why,
		      uint64_t ns);
/* The same, as of now: enum blame_state, BLAME_NOT_FOLLOWED if it is not known. */
uint32_t user_release_state(const struct model *m, uint64_t addr, uint32_t *ret_why);
/* Should the place of a sample of the task be entered? */
bool user_release_wants_place(const struct model *m, uint32_t task);
void user_release_place(struct model *m, uint32_t task, uint32_t stack);
/* The place of the last sample of @task that is not older than @since_ns; STACK_OTHER: none. */
uint32_t user_release_last_place(const struct model *m, uint32_t task, uint64_t since_ns);
/* For the folding of the model. */
void user_releases_mark(struct model *m);
/* @w has ended, as a thread has released the lock; NULL: it is not known. */
void user_release_note(struct model *m, const struct wait *w, const struct event *ev);
/* Charges those who had the lock for the part of @w, of which @ev is the end, before @until_ns. */
void user_release_charge(struct model *m, const struct wait *w, const struct event *ev,
			 uint64_t until_ns);

#endif
