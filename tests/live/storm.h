/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_STORM_H
#define KONTEND_TESTS_STORM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A child whose threads contend, and counters (not samples) of its contention events: the truth
 * that a tool must find. Each thread waits in every eighth round at least, some on CPU 0, whatever
 * the scheduler does. Any failure aborts.
 */
struct storm {
	pid_t pid;
	int go_fd;	    /* 'g' starts it, 'e' or closing ends it */
	_Atomic bool *done; /* shared: all threads have done their rounds and sleep */
	int *fds;	    /* counters: begin and end by turns, one pair a CPU */
	int n_fds;
	uint64_t begins, ends; /* filled in by storm_finished() */
};

/* The child waits for storm_go(), then makes @threads threads of @rounds rounds each.
 */
void storm_fork(struct storm *s, int threads, int rounds);
void storm_go(struct storm *s);
/*
 * Have all rounds been done? Then the counters are read, once. The threads stay, doing nothing: a
 * task that exits contends once more after its counters are gone.
 */
bool storm_finished(struct storm *s);
/* Lets the child exit and reaps it: its wait status (it exits with 7). */
int storm_end(struct storm *s);
/* The same work in the calling process, which then should exit. */
void storm_run(int threads, int rounds);

#endif
