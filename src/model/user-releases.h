/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_USER_RELEASES_H
#define KONTEND_SRC_MODEL_USER_RELEASES_H

#include <stdint.h>

struct event;
struct model;
struct wait;

/*
 * The last releases of locks of programs, as records report them when a waiter runs again: until
 * then, from the one before, that thread had the lock. For locks that are waited for now, so a lock
 * has its place by its address, where another may take it over.
 */
enum { USER_RELEASES = 8, USER_RELEASES_BITS = 7 };

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

struct user_releases {
	struct user_releases_of locks[1 << USER_RELEASES_BITS];
};

/* The state of its holder. */
void user_release_see(struct user_releases *r, uint64_t addr, uint32_t state, uint32_t why,
		      uint64_t ns);
/* The same, as of now: enum blame_state, BLAME_NOT_FOLLOWED if it is not known. */
uint32_t user_release_state(const struct model *m, uint64_t addr, uint32_t *ret_why);
/* For the folding of the model. */
void user_releases_mark(struct model *m);
/* @w has ended, as a thread has released the lock; NULL: it is not known. */
void user_release_note(struct model *m, const struct wait *w, const struct event *ev);
/* Charges those who had the lock for the part of @w, of which @ev is the end, before @until_ns. */
void user_release_charge(struct model *m, const struct wait *w, const struct event *ev,
			 uint64_t until_ns);

#endif
