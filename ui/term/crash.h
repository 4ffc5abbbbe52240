/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERM_CRASH_H
#define KONTEND_UI_TERM_CRASH_H

struct termios;

/*
 * From now on a fault (SEGV, BUS, FPE, ILL, ABRT), or a signal that ends us and is not handled,
 * gives the terminal @fd the modes @modes, and then the program dies as it would have.
 */
void term_crash_arm(int fd, const struct termios *modes);
/* The escape sequences that are written before. */
void term_crash_leave(const char *leave);
void term_crash_disarm(void);

#endif
