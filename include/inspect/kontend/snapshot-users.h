/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_USERS_H
#define KONTEND_SNAPSHOT_USERS_H

#include "kontend/locksnap.h"
#include "kontend/usersite.h"

/*
 * Adds to snapshots of locks the locks of programs that threads sleep for, with waiters and owners,
 * from /proc and the memory of the programs: also of waits that began long before. It uses no
 * probe and stops no thread; it needs the right to read that memory (ptrace). For one thread.
 */
struct snapshot_users;
struct target;

/* A lock that events report, and that has no name yet. */
struct snapshot_users_lock {
	uint64_t lock, addr; /* userlock_addr(), and where it is in the process */
	uint64_t number;     /* of the runtime of the process, by usersite_path.info; 0: none */
	int32_t pid;
	bool shared; /* by processes: it is in a file */
};

enum { SNAPSHOT_USERS_NEW = 256, SNAPSHOT_USERS_STACKS = 32 };

/* The answer to a stack. */
struct snapshot_users_path {
	uint64_t key; /* usersite_key() */
	struct usersite_path path;
};

/* @proc: "/proc", or a tree that a test made; borrowed. @keep: symbols of programs, in files. NULL:
 * no memory. */
struct snapshot_users *snapshot_users_new(const char *proc, bool keep);
/*
 * @ret: a snapshot of locks; where it has counted the tasks that sleep in a futex, only their
 * processes are searched. @target: whose waits are measured; NULL: all. 0 or -ENOMEM.
 */
int snapshot_users_add(struct snapshot_users *u, const struct target *target, struct locksnap *ret);
/* Locks that the next call of snapshot_users_add() names; @n is at most SNAPSHOT_USERS_NEW. */
void snapshot_users_name(struct snapshot_users *u, const struct snapshot_users_lock *locks,
			 size_t n);
/*
 * Stacks of sleeps of which events report nothing, as their paths are not known: the next call of
 * snapshot_users_add() finds those; copied, @n is at most snapshot_users_room(). One that needs
 * symbols that are still being read is kept for the call after that.
 */
size_t snapshot_users_room(const struct snapshot_users *u);
void snapshot_users_ask(struct snapshot_users *u, const struct usersite_stack *stacks, size_t n);
/* The paths that the last call has found; until the next one. */
const struct snapshot_users_path *snapshot_users_paths(const struct snapshot_users *u,
						       size_t *ret_n);
void snapshot_users_free(struct snapshot_users *u); /* NULL is fine */

#endif
