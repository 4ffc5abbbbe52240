/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_SIGNALS_H
#define KONTEND_UI_APP_SIGNALS_H

#include "kontend/error.h"
#include <signal.h>
#include <stdint.h>

enum { SIGNALS = 7 };

/*
 * While open, INT, TERM, HUP, QUIT, TSTP, CONT and WINCH arrive as bytes of a pipe. The second of
 * those that ask for our end has the effect that it had before. One at a time.
 */
struct signals {
	int fd; /* readable when one waits */
	int write_fd;
	sigset_t ending;   /* those that ask for our end: ending.h */
	uint64_t asked_ns; /* for our end, for the first time; 0: not yet */
	struct sigaction old[SIGNALS];
	sigset_t mask; /* afterwards: none of them is blocked meanwhile */
};

/* @mask: after signals_close(), or NULL: as before. One that it blocks does not end us. */
int signals_open(struct signals *s, const sigset_t *mask, struct error *err);
int signals_next(struct signals *s); /* 0: none waits */
void signals_close(struct signals *s);

#endif
