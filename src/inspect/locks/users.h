/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_H
#define KONTEND_INSPECT_LOCKS_USERS_H

/* Locks of programs: shared by the parts of snapshot-users.h. */
#include "kontend/userlayout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* users-call.c */

/* Reads all @n bytes of the memory of a process, or returns false. */
typedef bool users_read(void *arg, uint64_t addr, void *ret, size_t n);

/* The line of /proc/PID/task/TID/syscall. */
struct users_line {
	uint64_t number, args[6];
	uint64_t sp, ip;
};

/* False: it is in no call, or it runs. */
bool users_line_parse(const char *text, struct users_line *ret);

/* Where its stack and its code are, in whatever call it sleeps, or in none. False: it runs. */
bool users_line_place(const char *text, uint64_t *ret_sp, uint64_t *ret_ip);

/* The program whose sleep in futex(2) or its like it is. */
enum users_caller {
	USERS_NO_SLEEP, /* another call */
	USERS_64BIT,
	USERS_32BIT,
	USERS_EITHER, /* the program decides: the number is that of another call, or of both */
};

enum users_caller users_line_caller(const struct users_line *l);

/* As a call of futex(2). False: it cannot be read. */
bool users_line_call(const struct users_line *l, users_read *read, void *arg,
		     struct userlock_call *ret);

/* A thread that sleeps in it: where its stack and its code are. */
struct users_thread {
	struct userlock_call call;
	uint64_t sp, ip;
	uint64_t fp;   /* frame pointer; 0: not known */
	bool is_32bit; /* nothing else of it is known */
};

/* See userlock_find(). */
bool users_lock_find(const struct userlock_call *c, users_read *read, void *arg,
		     struct userlock_found *ret);

#endif
