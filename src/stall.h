/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_STALL_H
#define KONTEND_SRC_STALL_H

#include "kontend/error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Watches over a thread that may stand in a write to somebody who does not read. */
struct stall {
	pthread_t writer, watcher;
	int signal_fd; /* signals that end us, read by the writer when it comes to it */
	int fds[2];    /* that are written to */
	int stop_fd;
	bool runs;
	atomic_bool cut; /* what was being written is given up */
};

/*
 * The caller is the writer. Signals must be blocked. When one waits while an output takes nothing,
 * that output becomes /dev/null and the write fails with EINTR.
 */
int stall_start(struct stall *s, int signal_fd, int out_fd, struct error *err);
/* `= {0}` is fine. Answers whether something was given up. */
bool stall_stop(struct stall *s);

#endif
