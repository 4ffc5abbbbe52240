/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENDING_H
#define KONTEND_ENDING_H

#include "kontend/error.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * The signals that ask a program to end: INT, TERM, HUP and QUIT. HUP is left out if it was ignored
 * when the program started: nohup(1) does that, so that logging out ends nothing.
 */
void ending_signals(sigset_t *ret);
/* "ended by SIGTERM", for one of these. */
const char *ending_text(int sig);
/* True if one of them is pending, blocked. */
bool ending_is_pending(void);
/*
 * For recordings: blocks these signals, those of @more (ended by 0), and all others that would end
 * the process by default but that a user may send by mistake. *ret_fd reports the first two
 * (stall.h). 0 or -errno.
 */
int ending_open(int *ret_fd, const int *more, struct error *err);
/*
 * Starts a thread that takes no signals, so that those of the process reach the main thread. 0 or
 * -errno.
 */
int ending_thread(pthread_t *ret, void *(*run)(void *arg), void *arg);

#endif
