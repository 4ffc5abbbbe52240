/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_H
#define KONTEND_INSPECT_LOCKS_USERS_H

/* Locks of programs: shared by the parts of snapshot-users.h. */
#include "kontend/userlock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call of futex(2) in which a thread sleeps. */
struct users_call {
	uint64_t addr;
	uint32_t op, value; /* op: with its flags */
};

/* users-call.c */

/* The line of /proc/PID/task/TID/syscall. False: no such call, or the thread runs. */
bool users_call_parse(const char *line, struct users_call *ret);
bool users_call_is_private(const struct users_call *c);

/* A lock, by the words in the memory of the program. */
struct users_lock {
	enum userlock_kind kind;
	uint64_t addr;	/* of the object; for the call it may be a word within */
	uint32_t owner; /* thread number in the namespace of that process; 0: none, or readers */
	bool sure;	/* the kernel uses that word, too; else it is evidence */
	bool reads;	/* the sleeping thread waits to read */
	uint32_t readers;
};

typedef bool users_read(void *arg, uint64_t addr, void *ret, size_t n);

/*
 * Does the thread in @c wait for a lock? False: for a condition, or for something that no layout
 * says. True is not enough if there is an @owner: that thread has to exist.
 */
bool users_lock_find(const struct users_call *c, users_read *read, void *arg,
		     struct users_lock *ret);

#endif
