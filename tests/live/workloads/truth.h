/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_TRUTH_H
#define KONTEND_TESTS_TRUTH_H

#include "slow-page.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRUTH_MAX_WAITERS = 32, TRUTH_MAX_ROUNDS = 256, TRUTH_SKIP = 77 };

/*
 * The times of one waiter in one round. CLOCK_MONOTONIC. It began to wait between enter_ns and
 * asleep_ns, when the controller saw it asleep, and ended between the release and leave_ns.
 */
struct truth_wait {
	uint64_t enter_ns, asleep_ns, leave_ns;
};

/* Shared by the process that contends and the one that controls it. */
struct truth {
	int hold_ms, n_readers, n_writers, n_rounds, busy;
	const char *out;
	const char *steps; /* a file whose length is the number of steps allowed so far */
	const struct truth_kind *kind;
	struct slow_page page;
	int fds[2];
	pid_t pid;
	_Atomic pid_t tids[TRUTH_MAX_WAITERS];
	_Atomic int go[TRUTH_MAX_WAITERS]; /* rounds that waiter k may begin */
	_Atomic int holder_go, released, done, failed;
	uint64_t released_ns[TRUTH_MAX_ROUNDS];
	struct truth_wait waits[TRUTH_MAX_ROUNDS][TRUTH_MAX_WAITERS];
};

/* A lock and the ways to hold it asleep and to wait for it. */
struct truth_kind {
	const char *name;
	const char *type;		 /* as kontend names it */
	int modes;			 /* 1: R and W differ */
	int (*prepare)(struct truth *t); /* in both processes' ancestor */
	int (*start)(struct truth *t);	 /* in the contending process, the controller being there */
	int (*hold)(struct truth *t, int round);
	int (*read)(struct truth *t, int round, int waiter);
	int (*write)(struct truth *t, int round, int waiter);
};

extern const struct truth_kind truth_mm, truth_dir, truth_pipe;

uint64_t truth_now(void);

#endif
