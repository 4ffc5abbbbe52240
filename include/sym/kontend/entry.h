/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENTRY_H
#define KONTEND_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* How a task came into the kernel, by the functions of its kernel stack. */
enum entry_kind {
	ENTRY_UNKNOWN, /* no function says it */
	ENTRY_SYSCALL,
	ENTRY_FAULT,	 /* a page fault, also one within a system call */
	ENTRY_INTERRUPT, /* the task was interrupted: the wait is none of its own */
	ENTRY_EXCEPTION, /* a breakpoint, say */
	ENTRY_RETURN,	 /* work on the way back to the program: a last close, a signal */
	ENTRY_IO_URING,	 /* a worker of io_uring */
	ENTRY_KTHREAD,	 /* a kernel thread */
	ENTRY_IDLE,
	ENTRY_KINDS,
};

enum { ENTRY_NAME = 48 };

struct entry {
	enum entry_kind kind;
	char name[ENTRY_NAME]; /* "flock", as in the manual; "" where the kind is no system call */
};

/* The text of a kind that is no system call: "page fault"; NULL: there is none. */
const char *entry_text(enum entry_kind kind);

/*
 * Of a kernel stack: @functions are its names from the innermost on, NULL for one without a name.
 * Where one entry is within another, as a page fault in a system call, it is the inner one.
 */
void entry_find(const char *const *functions, size_t n, struct entry *ret);

#endif
