/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PROGRESS_H
#define KONTEND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* A bar on standard error for work that takes long; `= {0}` draws nothing. */
struct progress {
	const char *what; /* "reading kontend.data"; borrowed; NULL: nothing is drawn */
	uint64_t next_ns; /* drawn again from then on */
	bool shown;
};

/* Draws only when standard error is a terminal. */
void progress_begin(struct progress *p, const char *what);
/* @done of @all; @all 0: not known. May be called as often as one likes. */
void progress_update(struct progress *p, uint64_t done, uint64_t all);
/* Takes the bar away: before any other message, and at the end. */
void progress_end(struct progress *p);

#endif
