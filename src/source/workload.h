/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_WORKLOAD_H
#define KONTEND_SOURCE_WORKLOAD_H

#include "kontend/error.h"
#include <stdbool.h>
#include <sys/types.h>

/* The command that is measured: a child that is forked, held, and let go. pid 0 = there is none. */
struct workload {
	pid_t pid;
	int pidfd;  /* polls readable when it has ended */
	int go_fd;  /* one byte lets it go; closing it makes it vanish */
	int err_fd; /* errno of a failed exec, or end of file */
	int status; /* as of waitpid(), once reaped */
	bool reaped;
};

/*
 * Forks a child that waits for workload_go() before it becomes @argv. @apart: its standard output
 * goes where its messages go, as ours is not for reading.
 */
int workload_fork(struct workload *w, char *const argv[], bool apart, struct error *err);
/* Lets it go, and waits until it runs @argv or has failed to. */
int workload_go(struct workload *w, char *const argv[], struct error *err);
/* 1 and its wait status when it has ended, 0 = not yet, -ECHILD = there is none. */
int workload_ended(struct workload *w, int *ret_status);
/* Ends a command that still runs, and kills it if it does not end. `= {0}` is fine. */
void workload_deinit(struct workload *w);

#endif
