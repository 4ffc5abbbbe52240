/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FUTEXCLASS_H
#define KONTEND_FUTEXCLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * For what a thread sleeps in futex(2): a lock, which another one holds, or something that is no
 * contention. The kernel sees the same call for both; the functions of the program say it, by the
 * table of those that are known (futexclass.c).
 */
enum futexclass {
	FUTEXCLASS_UNKNOWN, /* no known function, or one that programs use for both */
	FUTEXCLASS_LOCK,
	FUTEXCLASS_WAIT, /* for a condition, work, a thread that ends, the time */
	FUTEXCLASSES,
};

/* The kind of its object, for locks and what may be one. */
enum futexclass_kind {
	FUTEXCLASS_OTHER,
	FUTEXCLASS_MUTEX,  /* pthread_mutex_t */
	FUTEXCLASS_RWLOCK, /* pthread_rwlock_t */
	FUTEXCLASS_SEM,	   /* its word is a count */
};

/* A call: its function as in sleepstack.h, NULL if it has no name, and the path of its file. */
struct futexclass_frame {
	const char *function, *object;
};

struct futexclass_found {
	enum futexclass class;
	enum futexclass_kind kind;
	const char *what;  /* "mutex", "condition variable", "GIL"; "": no known function */
	bool can_lock_too; /* a wait that takes a mutex again at its end */
	bool by_condition; /* its word is of a condition variable, */
	bool own_word;	   /* or the thread's own: not of the lock */
	bool of_library;   /* a lock that the C library has for itself */
	size_t depth;	   /* calls of the library that waits; the next one is the program's */
};

/* As @op: futex_waitv(2) with several words. */
enum { FUTEXCLASS_WAITV = 64 };

/* @op, @value: of the call, op with its flags. @frames: innermost first. */
struct futexclass_found futexclass_find(uint32_t op, uint32_t value,
					const struct futexclass_frame *frames, size_t n);
bool futexclass_is_c_library(const char *object); /* by the name of its file */
const char *futexclass_name(enum futexclass c);	  /* "lock", "wait", "unknown" */

#endif
