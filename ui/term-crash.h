/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERM_CRASH_H
#define KONTEND_UI_TERM_CRASH_H

struct termios;

/*
 * From now on SEGV, BUS, FPE, ILL and ABRT write @leave (escape sequences) to @fd, give the
 * terminal the modes @modes, and then die as they would have.
 */
void term_crash_arm(int fd, const struct termios *modes, const char *leave);
void term_crash_disarm(void);

#endif
