/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DEMO_H
#define KONTEND_DEMO_H

#include "kontend/error.h"
#include <stddef.h>
#include <stdint.h>

/*
 * The contending workload of `kontend demo`: a small, harmless storm, so that there is contention
 * to look at, and with all kinds also a breakpoint and a uprobe in its own process. It has bursts
 * every few seconds and sleeps in between, which keeps it below about 60 % of one core.
 */
enum demo_kind {
	DEMO_MMAP = 1,	 /* rwsem R and W: mmap_lock, with a slow holder now and then */
	DEMO_INODE = 2,	 /* rwsem W: i_rwsem of one file that several threads write to */
	DEMO_PIPE = 4,	 /* mutex of one pipe */
	DEMO_DIR = 8,	 /* rwsem R and W: i_rwsem of one directory, listed and filled at once */
	DEMO_FUTEX = 16, /* spinlock of one futex bucket */
	DEMO_CHAIN = 32, /* mutex of a pipe whose holder waits for the i_rwsem of another file */
	DEMO_ALL = 63,
};

struct demo_options {
	uint64_t duration_ns; /* 0 = until SIGTERM, SIGINT or the parent's end */
	unsigned kinds;	      /* enum demo_kind, or-ed; 0 = DEMO_ALL */
	unsigned threads;     /* per kind; 0 = default (4); at most 64 */
	int (*ready)(void);   /* everything is open, no thread has been started; NULL: nothing to
			       * do */
	/* Gets the error if there is no breakpoint or no uprobe; NULL: ignore it. */
	void (*missing)(const struct error *err);
};

/* "mmap,inode,pipe" or "all": 0, or -EINVAL with @err naming the word that is wrong. */
int demo_kinds_parse(const char *list, unsigned *ret, struct error *err);

/*
 * Runs the workload in the calling process, which must not have other threads, until the duration
 * is over or SIGTERM, SIGINT or SIGHUP arrives. It asks the kernel for SIGTERM when the parent
 * ends. Files lie in a tmpfs that is mounted nowhere, or without the right to make one in a
 * directory below $TMPDIR, /dev/shm or /tmp, removed before it returns. 0, or a negative errno
 * with @err.
 */
int demo_run(const struct demo_options *o, struct error *err);

#endif
