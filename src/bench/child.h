/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_CHILD_H
#define KONTEND_BENCH_CHILD_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A child process of a benchmark, connected to it by a socket. It is killed when its parent ends.
 * `= BENCH_CHILD_NONE` is a valid one that does not run.
 */
struct bench_child {
	pid_t pid;
	int fd;
};

#define BENCH_CHILD_NONE ((struct bench_child){.fd = -1})

/*
 * Starts a process that calls @run with @ctx and its end of the socket, and exits with 0 if @run
 * returned 0, or else with 1. 0 or negative with @err.
 */
int bench_child_start(struct bench_child *c, int (*run)(void *ctx, int fd), void *ctx,
		      struct error *err);
/* All of it, on either end: 0, or -errno; -EPIPE: the other process has ended. */
int bench_child_send(int fd, const void *data, size_t size);
/*
 * All of it: 0, -ECHILD if the other process has ended before, or -ETIMEDOUT if it is not there at
 * @until_ns (0: wait without limit).
 */
int bench_child_receive(int fd, void *ret, size_t size, uint64_t until_ns);
/* Closes the socket and waits for the end of the process: its wait status. */
int bench_child_end(struct bench_child *c);

#endif
