/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_WORKLOAD_H
#define KONTEND_SOURCE_WORKLOAD_H

#include "kontend/error.h"
#include <stdbool.h>
#include <sys/types.h>

/* The measured command: a child that is forked, waits, and then runs it. pid 0: there is none. */
struct workload {
	pid_t pid;
	int pidfd;  /* polls readable when it has ended */
	int go_fd;  /* one byte starts it; closing it makes the child exit */
	int err_fd; /* errno of a failed exec, or end of file */
	int status; /* as of waitpid(), once reaped */
	bool reaped;
};

/*
 * Forks a child that waits for workload_go() before it executes @argv. @apart: its standard output
 * goes to standard error, since a program reads that of kontend.
 */
int workload_fork(struct workload *w, char *const argv[], bool apart, struct error *err);
/* Starts it, and waits until it has executed @argv or has failed to. */
int workload_go(struct workload *w, char *const argv[], struct error *err);
/* 1 and its wait status when it has ended, 0 = not yet, -ECHILD = there is none. */
int workload_ended(struct workload *w, int *ret_status);
/* Ends a command that still runs, and kills it if it does not end. `= {0}` is fine. */
void workload_deinit(struct workload *w);

#endif
