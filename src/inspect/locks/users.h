/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_H
#define KONTEND_INSPECT_LOCKS_USERS_H

/* Locks of programs: shared by the parts of snapshot-users.h. */
#include "kontend/userlayout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* users-call.c */

/* The line of /proc/PID/task/TID/syscall. False: no such call, or the thread runs. */
bool users_call_parse(const char *line, struct userlock_call *ret);

/* A thread that sleeps in it: where its stack and its code are. */
struct users_thread {
	struct userlock_call call;
	uint64_t sp, ip;
};

/* The same line, all of it. */
bool users_thread_parse(const char *line, struct users_thread *ret);

/* Reads all @n bytes of the memory of a process, or returns false. */
typedef bool users_read(void *arg, uint64_t addr, void *ret, size_t n);

/* See userlock_find(). */
bool users_lock_find(const struct userlock_call *c, users_read *read, void *arg,
		     struct userlock_found *ret);

#endif
