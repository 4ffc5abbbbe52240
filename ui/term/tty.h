/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERM_TTY_H
#define KONTEND_UI_TERM_TTY_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <termios.h>

/* A terminal that knows these shows what lies between them at once; others are not sent them. */
#define TTY_FRAME_BEGIN "\033[?2026h"
#define TTY_FRAME_END "\033[?2026l"

/* A terminal that may take nothing: nothing here waits for it, but tty_leave() for a moment. */
struct tty {
	int fd;		       /* of ours, which never blocks; -1: none */
	bool has_frames;       /* it knows TTY_FRAME_BEGIN */
	bool is_shared;	       /* with others, who would not like that: it blocks between writes */
	int keys_fd;	       /* whose modes are set */
	struct termios before; /* the modes that it had */
	FILE *stream;	       /* curses writes its frames here; NULL: none */
	uint8_t *bytes;	       /* from there, not yet taken by the terminal: [at, end) */
	size_t at, end, cap;
};

/* The terminal @out_fd, and the modes of @keys_fd. Its sentence is in @err. */
int tty_open(struct tty *t, int keys_fd, int out_fd, struct error *err);
/* Each key at once and unseen, lines as they are written. */
void tty_enter(struct tty *t);
/* Queues what was written to the stream, after what still waits to be sent. -ENOMEM: it is lost. */
int tty_take(struct tty *t);
/* As much as is taken without waiting. True: nothing is left. */
bool tty_send(struct tty *t);
/*
 * Sends what is left, for at most half a second, and puts the modes back. When it is not taken all
 * the same, it is dropped, as is what the kernel holds, and @leave is tried in its place. False:
 * whatever else is written there may wait for ever.
 */
bool tty_leave(struct tty *t, const char *leave);
/* The descriptors 1 and 2 that are this terminal become another file, which is not read. */
void tty_mute(const struct tty *t);
/* To @buf a capability without its padding ("$<5>"), which is not waited for while leaving. */
void tty_append(char *buf, size_t size, const char *capability);
void tty_close(struct tty *t);

struct termios;

/*
 * crash.c: from now on a fault (SEGV, BUS, FPE, ILL, ABRT), or an unhandled signal that ends the
 * program, first gives the terminal @fd the modes @modes.
 */
void term_crash_arm(int fd, const struct termios *modes);
/* The escape sequences to write before that. */
void term_crash_leave(const char *leave);
void term_crash_disarm(void);

/*
 * Makes the sequence by which a terminal sets its clipboard (OSC 52); free *@ret by mem_free().
 * 0, -E2BIG (more than DISPLAY_COPY_MAX bytes) or -ENOMEM.
 */
int tty_clipboard(const char *text, char **ret);
/*
 * Returns false if a terminal of type @term surely does not know that sequence, and would show or
 * drop it. @screen and @tmux: $STY and $TMUX, or NULL.
 */
bool tty_has_clipboard(const char *term, const char *screen, const char *tmux);

/* terminfo.c: descriptions of terminals in the program itself, for machines that have none. */
struct terminfo {
	char *before; /* value of TERMINFO; NULL: not set */
	bool is_ours; /* TERMINFO has our description */
};

/* Gives curses our description of terminal @name. Returns false if we have none. */
bool terminfo_begin(struct terminfo *t, const char *name);
void terminfo_end(struct terminfo *t); /* puts the environment back */

#endif
