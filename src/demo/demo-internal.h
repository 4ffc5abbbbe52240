/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DEMO_DEMO_INTERNAL_H
#define KONTEND_DEMO_DEMO_INTERNAL_H

#include "kontend/demo.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { DEMO_KINDS = 6, DEMO_MAX_THREADS = 64, DEMO_PAGE = 4096, DEMO_PERIOD_MS = 100 };

/*
 * A page of a userfaultfd: the kernel sleeps in a copy from or to it, with the lock that protects
 * the copy, until the page is given. fd < 0: the kernel does not permit it, so there are no long
 * holds.
 */
struct demo_slow {
	int fd;
	char *page;
	uint64_t release_ns; /* 0: no thread sleeps in it */
};

struct demo {
	unsigned kinds, threads;
	uint64_t start_ns;
	atomic_bool stop;
	atomic_bool joined; /* only the thread that gives pages is left */
	atomic_uint scale;  /* percent of the planned share, lowered when it takes too much CPU */
	char dir[256];	    /* of dir_fd, "" if it has no name */
	int dir_fd, file_fd, pipe_fd[2];
	int log_fd, feed_fd[2]; /* for the chain: a file, and the pipe that feeds it */
	uint32_t futex_word;
	int breakpoint_fd, uprobe_fd; /* -1: not placed */
	struct demo_slow slow[DEMO_KINDS];
};

struct demo_kind_ops {
	const char *name;
	/* A few microseconds of work on the shared lock, by worker @thread. */
	void (*step)(struct demo *d, unsigned thread, uint64_t round);
	/* Takes the lock and touches @slow while holding it; NULL: none. */
	void (*hold)(struct demo *d, char *slow);
};

extern const struct demo_kind_ops demo_kinds[DEMO_KINDS];

uint64_t demo_now(void);
/* Burst of kind @kind in the 100 ms period @period: length in us. */
unsigned demo_burst_us(const struct demo *d, unsigned kind, uint64_t period);

int demo_slow_init(struct demo_slow *s);
void demo_slow_deinit(struct demo_slow *s);
/* Places a breakpoint and a uprobe for the calling thread; @missing, or NULL, gets the error if one
 * fails. */
void demo_probes_place(struct demo *d, void (*missing)(const struct error *err));
void demo_probes_hit(const struct demo *d);
void demo_probes_remove(struct demo *d);
/* Thread that lets sleepers continue after their time; @arg is the demo. */
void *demo_slow_main(void *arg);

#endif
