/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_RUNTIMES_H
#define KONTEND_INSPECT_RUNTIMES_H

/*
 * Locks that the runtime of a program makes itself, where their words have no layout that
 * users-call.c recognises, but where the memory of the program says which lock a thread waits for:
 * PostgreSQL, Python, Java. Each runtime is recognised by symbols that it exports, and its data are
 * believed only as far as they prove each other: a process may have anything in its memory.
 */
#include "../locks/users.h"
#include "kontend/futexclass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNTIME_SYMBOLS = 12, RUNTIME_NAME = 128, RUNTIME_TEXT = 255 };

/* A process that is read. */
struct runtime_process {
	const char *proc;
	int32_t pid;
	uint64_t space; /* another one for each program that ran in the process */
	users_read *read;
	/* Its mappings: lines that end with a NUL. NULL: they cannot be read. */
	const char *(*maps)(void *arg, size_t *ret_len);
	/* The number of a thread in the namespace of the process; 0: not known. */
	uint32_t (*number)(void *arg, int32_t tid);
	void *arg; /* of all */
};

/* A thread of it that sleeps. */
struct runtime_thread {
	int32_t tid;
	/* In futex(2), and what its functions say; NULL: it is in another call, or not known. */
	const struct userlock_call *call;
	const struct futexclass_found *found;
};

/* The lock that a thread waits for, or what else. */
struct runtime_lock {
	enum futexclass class;	 /* a lock; else only the name counts */
	char name[RUNTIME_NAME]; /* "LWLock:WALWrite" */
	int32_t pid;		 /* the process to which the name belongs */
	uint64_t at;		 /* which lock, within the memory that has it */
	uint64_t where;		 /* an address in that memory, which processes may share */
	int32_t owner_pid;	 /* a process of one thread; 0: see owner */
	uint32_t owner; /* thread number in the namespace of the process; 0: none, or not known */
};

/* Where a process says which lock its thread sleeps for, before it does: see usersite_path. */
struct runtime_info {
	uint64_t at, where; /* where: an address in the memory that has the locks */
	uint64_t bits, mask, class;
	uint64_t epoll_class; /* of locks for which it sleeps in epoll_wait(2); 0: of none */
};

/* A function that an interpreter runs for a thread. */
struct runtime_call {
	char function[RUNTIME_TEXT + 1], file[RUNTIME_TEXT + 1];
	uint32_t line; /* 0: not known */
	bool is_entry; /* machine code has called it: what it calls may be of the interpreter */
};

/* Runtimes of all processes, as far as they were read. For any thread. */
struct runtimes;

struct runtimes *runtimes_new(void); /* NULL: no memory; with one reference */
struct runtimes *runtimes_ref(struct runtimes *r);
void runtimes_unref(struct runtimes *r); /* NULL is fine */
/* Finds the lock for which a thread of @p waits, or what else. False: nothing that is known. */
bool runtimes_find(struct runtimes *r, const struct runtime_process *p,
		   const struct runtime_thread *thread, struct runtime_lock *ret);
/*
 * Names a lock of the C library, whose word is at @addr, and fills in `owner`. False: it is none.
 */
bool runtimes_name(struct runtimes *r, const struct runtime_process *p, uint64_t addr,
		   struct runtime_lock *ret);
/* Does the word on which a thread sleeps say which lock it is, at any time? */
bool runtimes_by_word(struct runtimes *r, const struct runtime_process *p);
/* @thread: which sleeps for a lock, as its functions say. False: the process says it nowhere. */
bool runtimes_info(struct runtimes *r, const struct runtime_process *p,
		   const struct runtime_thread *thread, struct runtime_info *ret);
/* The lock that has @number there. */
bool runtimes_by_number(struct runtimes *r, const struct runtime_process *p, uint64_t number,
			struct runtime_lock *ret);
/*
 * The functions that the interpreter of @p runs for a thread that sleeps, innermost first, @most at
 * most; machine code from *@ret_code on, of so many bytes, runs them. 0: it has no interpreter that
 * is known.
 */
size_t runtimes_calls(struct runtimes *r, const struct runtime_process *p, int32_t tid,
		      struct runtime_call *ret, size_t most, uint64_t *ret_code,
		      uint64_t *ret_code_size);
/* How long it took since the last call to read what is read once for each process and file. */
uint64_t runtimes_take_once_ns(struct runtimes *r);
/* May a thread of that process wait for one outside of futex(2)? */
bool runtimes_sleep_elsewhere(const char *proc, int32_t pid);

#endif
