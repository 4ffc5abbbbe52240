/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PROCFS_H
#define KONTEND_PROCFS_H

#include "kontend/sideband.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Tasks as /proc shows them. @root is "/proc", or a tree that a test made. Tasks start and end
 * while it is read: those that have vanished are left out, without an error.
 */

/* Appends the tids of process @pid to *tids (from util/mem). 0, -ESRCH or another errno. */
int procfs_tids(const char *root, pid_t pid, pid_t **tids, size_t *n, size_t *cap);
/*
 * Appends the pids of all processes with the name @name of @len bytes, except this one and those
 * that have ended. The kernel keeps 15 bytes of a name: the rest of @name is not compared. 0 or
 * negative errno.
 */
int procfs_named(const char *root, const char *name, size_t len, pid_t **pids, size_t *n,
		 size_t *cap);

/* Appends the pids of all processes. 0 or negative errno when @root cannot be read. */
int procfs_pids(const char *root, pid_t **pids, size_t *n, size_t *cap);

/* Appends a COMM record for each task of process @pid. 0 or -ENOMEM. */
int procfs_comms(const char *root, pid_t pid, struct sideband *s);
/* For thread @tid of any process. */
int procfs_comm_of(const char *root, pid_t tid, struct sideband *s);
/* For each task of the system. 0 or negative errno when @root cannot be read. */
int procfs_comms_all(const char *root, struct sideband *s);

/*
 * Appends an MMAP2 record for each mapping of code (or data) in these processes. *ret_left: how
 * many of them are left out, as what they read waits for the kernel, or would. 0 or -ENOMEM.
 */
int procfs_maps(const char *root, const pid_t *pids, size_t n, struct sideband *s,
		size_t *ret_left);
/* Of all processes. 0 or negative errno when @root cannot be read. */
int procfs_maps_all(const char *root, struct sideband *s, size_t *ret_left);
enum { PROCFS_NOTE = 300 };
/* The body of a RECORD_NOTE about processes that were left out; its length. */
size_t procfs_maps_note(size_t left, char ret[PROCFS_NOTE]);

/* The identity of a pid or tid: the same number with another start is another task. */
struct procfs_task {
	pid_t id;
	pid_t tgid;	/* the process it belongs to */
	pid_t parent;	/* of that process */
	uint64_t start; /* in ticks since boot */
	bool ended;	/* a zombie, or being torn down */
};

/* 0 or -ESRCH. */
int procfs_identify(const char *root, pid_t id, struct procfs_task *ret);
/* Does it still exist, with the same start time, and is it no zombie? */
bool procfs_alive(const char *root, const struct procfs_task *task);

#endif
