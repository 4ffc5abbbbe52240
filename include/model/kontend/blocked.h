/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BLOCKED_H
#define KONTEND_BLOCKED_H

#include "kontend/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct locksnap;
struct task_table;

enum {
	BLOCKED_CELLS = 2048,
	BLOCKED_STACKS = 1024,
	BLOCKED_FRAMES = 24,  /* of one chain */
	BLOCKED_PARTS = 8192, /* for windows of time */
	BLOCKED_GROUPS = 512, /* cgroups */
};

/* A call chain: what is beyond BLOCKED_STACKS has number 0, which is empty. */
struct blocked_stack {
	uint32_t n;
	uint64_t frames[BLOCKED_FRAMES]; /* of the kernel, innermost first */
};

/* The path of a cgroup: what is beyond BLOCKED_GROUPS has number 0, which is "". */
struct blocked_group {
	char path[128]; /* of longer ones the end */
};

/*
 * Blocked tasks of one process that sleep in the same call chain and state. Snapshots show them, so
 * a time is the sum over snapshots of the tasks that are in one, each times the time since the one
 * before it: an estimate, as a sleep between two snapshots is in neither.
 */
struct blocked_cell {
	int32_t pid;	/* 0: of several processes, beyond BLOCKED_CELLS */
	uint32_t stack; /* index */
	uint32_t group; /* index of its cgroup */
	uint8_t state;	/* enum locksnap_blocked_state */
	bool io, kthread;
	bool lock;		 /* a wait for a lock is known of it */
	char comm[16];		 /* of the process */
	char device[32];	 /* "vda1"; "" where it is not known */
	char fs[16];		 /* "fuse"; "" where it is not known */
	uint32_t now;		 /* tasks in the latest snapshot */
	uint64_t now_longest_ns; /* of these */
	uint64_t task_ns;
	uint64_t longest_ns; /* that one was seen to be blocked; 0: not known */
};

/* The same of one snapshot. */
struct blocked_part {
	uint64_t end_ns;
	uint32_t cell;
	uint64_t task_ns, longest_ns;
};

/* The calls in its program that led a task of the latest snapshot to where it sleeps. */
struct blocked_user {
	int32_t tid;
	uint32_t n;
	uint64_t frames[BLOCKED_FRAMES]; /* as in maps.h */
};

struct blocked {
	struct blocked_cell *cells; /* [0] is none */
	struct blocked_stack *stacks;
	struct blocked_group *groups;
	size_t cap_cells, cap_stacks, cap_groups;
	uint32_t n_cells, n_stacks, n_groups;
	struct map64 by_key, by_chain, by_path; /* hashes -> index */
	struct blocked_part *parts;		/* a ring; NULL: none are kept */
	uint32_t n_parts, next_part;
	struct blocked_user *users;
	size_t n_users, cap_users;
	uint64_t dropped_ns;		/* end of the latest part without room; 0: none */
	uint64_t seen_ns;		/* time of the latest snapshot; 0: none */
	uint64_t snapshots, covered_ns; /* of them; the time that they stand for */
	uint64_t dropped;		/* tasks that the snapshots had no room for */
};

/*
 * Adds a snapshot. @tasks: with their waits for locks; @recent: keep its part for windows of time.
 * 0 or -ENOMEM: then it is not in the sums.
 */
int blocked_take(struct blocked *b, const struct locksnap *s, const struct task_table *tasks,
		 bool recent);
/* Room for the calls of one more task of the latest snapshot; NULL: no memory. */
struct blocked_user *blocked_add_user(struct blocked *b, int32_t tid);
/* NULL: they were not read. */
const struct blocked_user *blocked_user(const struct blocked *b, int32_t tid);
/* map_frames_forget() of these. */
void blocked_forget_objects(struct blocked *b, const uint8_t *keep, size_t n);
void blocked_zero(struct blocked *b); /* sums begin again; cells and parts go */
int blocked_copy(struct blocked *dst, const struct blocked *src); /* 0 or -ENOMEM */
void blocked_deinit(struct blocked *b);
size_t blocked_bytes(const struct blocked *b);
/* The path of its cgroup; "" where it is not known. */
const char *blocked_cgroup(const struct blocked *b, const struct blocked_cell *c);

#endif
