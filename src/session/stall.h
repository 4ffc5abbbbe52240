/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SESSION_STALL_H
#define KONTEND_SESSION_STALL_H

#include "kontend/error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Watches over a thread that reads the signals that ask for our end (INT, TERM, HUP, QUIT) between
 * two steps of its work, and may block in one of these for ever.
 */
struct stall {
	pthread_t writer, watcher;
	int signal_fd, stop_fd; /* of the watcher */
	bool runs;
	atomic_int out_fd;	   /* what the writer writes to; -1: none that could keep it */
	atomic_bool unheard;	   /* the writer has not read what the watcher passed on */
	atomic_bool again;	   /* a second signal has come: it is to give up */
	atomic_bool cut;	   /* what was being written is given up */
	atomic_bool stops;	   /* the watcher is to end */
	_Atomic uint64_t asked_ns; /* for the first time; 0: not yet */
};

/*
 * The caller is the writer, and has blocked the signals. When one waits while an output takes
 * nothing, that output becomes /dev/null and the write fails with EINTR; so does one that the
 * writer comes to later, if it does not run for a second. A second signal ends the program two
 * seconds later, if it has not ended by then.
 */
int stall_start(struct stall *s, struct error *err);
void stall_watch(struct stall *s, int out_fd);
/* The next signal that has come by @fd, the writer's signalfd, which does not block; 0: none. */
int stall_next(struct stall *s, int fd);
/*
 * `= {0}` is fine. Answers whether something was given up. Signals have their usual effect from
 * then on.
 */
bool stall_stop(struct stall *s);

#endif
