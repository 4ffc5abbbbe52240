/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_SIGNALS_H
#define KONTEND_UI_SIGNALS_H

#include "kontend/error.h"
#include <signal.h>
#include <stdbool.h>

enum { SIGNALS = 7 };

/* While open, INT, TERM, HUP, QUIT, TSTP, CONT and WINCH arrive as bytes of a pipe. One at a time.
 */
struct signals {
	int fd; /* readable when one waits */
	int write_fd;
	struct sigaction old[SIGNALS];
	sigset_t mask; /* before: none of them is blocked meanwhile */
};

int signals_open(struct signals *s, struct error *err);
int signals_next(struct signals *s); /* 0: none waits */
/* One that ends us came since signals_open(); from any thread. */
bool signals_ending(void);
void signals_close(struct signals *s);

#endif
