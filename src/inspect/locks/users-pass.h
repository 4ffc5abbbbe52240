/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_PASS_H
#define KONTEND_INSPECT_LOCKS_USERS_PASS_H

/* A pass through threads that sleep in futex(2): users.c makes it, users-fill.c fills in snapshots.
 */
#include "kontend/locksnap.h"
#include "kontend/snapshot-users.h"
#include "left.h"
#include "users-class.h"

struct files_clocks;
struct target;
struct runtimes;

struct users_wait {
	uint64_t addr;
	uint64_t ran_ns; /* scheduler's clock; 0: not known */
	struct userlock_found lock;
	int32_t pid, tid, owner_pid, owner_tid;
	/* The file or area of memory in which it is, and where; of a file its identity. */
	uint32_t in, dev; /* in: text of the pass */
	uint64_t at, ino;
	bool shared;
	bool named;	   /* in: what the runtime of the program calls it, and no place */
	int32_t named_pid; /* the process to which that name belongs; 0: pid */
	/* Its calls: into frames of the pass, and the first that is the program's own. */
	uint32_t frame, n_frames, site, what; /* what: text of the pass, "mutex" */
};

/* Threads of a process that sleep in futex(2) for anything else. */
struct users_sum {
	int32_t pid;
	enum futexclass class;
	uint32_t what, tasks; /* what: text of the pass */
};

/* A thread to be read; tid 0: all of the process. */
struct users_wanted {
	int32_t pid, tid;
	bool unnamed; /* its functions have no names yet */
};

/* The work of one thread. */
struct users_pass {
	struct left_work work; /* first member: read_wanted() gets it */
	const char *proc;
	struct users_wanted *wanted;
	size_t n_wanted;
	struct users_wait *waits;
	size_t n, cap;
	struct users_sum *sums;
	size_t n_sums, cap_sums;
	struct users_wanted *pending; /* to be read again soon */
	size_t n_pending, cap_pending;
	/* Locks without waits, in this order, and what was found of them. */
	struct snapshot_users_lock *named;
	struct users_wait *names;
	size_t n_named;
	/* Stacks of sleeps, and the paths that were found; the others are pending. */
	struct usersite_stack *stacks;
	struct snapshot_users_path *paths;
	size_t n_stacks, n_paths, cap_paths;
	struct users_classes *classes;
	struct runtimes *runtimes;
	bool searches;
	struct locksnap texts; /* and frames */
	int code;
};

/*
 * Adds to @to what the pass found, whose waits it sorts. @target: whose waits are measured; NULL:
 * all. 0 or -ENOMEM.
 */
int users_fill(struct users_pass *r, const struct target *target, struct files_clocks *clocks,
	       struct locksnap *to);

struct users_process;
struct runtime_lock;

/* As runtimes read it. */
struct runtime_process users_runtime_process(struct users_process *p);
/* Of locks in the memory that has the address @where; *ret_shared: processes share it. */
uint64_t users_runtime_space(struct users_process *p, uint64_t where, bool *ret_shared);
/* The lock that the runtime of @p names. */
void users_take_runtime(struct users_pass *r, struct users_process *p, const struct runtime_lock *l,
			struct users_wait *w);
/* The lock of @c, which has the class of a lock. False: only its layout could say which. */
bool users_take_class(struct users_pass *r, struct users_process *p, const struct userlock_call *c,
		      const struct futexclass_found *f, struct users_wait *w);
/*
 * Adds the path of @s, and its lock to those that have a name; @s->key becomes 0 unless symbols are
 * still being read. 0 or -ENOMEM.
 */
int users_path_find(struct users_pass *r, struct users_process *p, struct usersite_stack *s);

/* Adds that of sleeps in epoll_wait(2), if the process says which locks these are for. */
int users_path_epoll(struct users_pass *r, struct users_process *p);

#endif
