/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SESSION_H
#define KONTEND_TESTS_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

enum stillness {
	STILL_NOT,
	STILL_STOPPED, /* as by Ctrl-S */
	STILL_UNREAD,  /* not read, and full */
};

/*
 * A program on a terminal of its own. Between us and it runs a small shell, since job control
 * needs one: the program is stopped and continued as by a user. Every wait ends with an abort after
 * a minute, so that a hang is a failure.
 */
struct session {
	int master, slave;
	int status_fd, control_fd; /* from and to the shell */
	pid_t shell, program;
	struct termios before;
	char *out; /* all output since session_forget() */
	size_t len, cap;
	enum stillness still; /* it takes nothing, and nothing is read */
};

/* Runs argv[0] on a terminal of 24 lines, 80 columns. @env: "NAME=VALUE" ..., NULL. */
void session_start(struct session *s, char *const *argv, const char *const *env);
/* The same on a terminal that takes nothing. */
void session_start_still(struct session *s, enum stillness how, char *const *argv,
			 const char *const *env);
/* The same on terminal @near, a serial line whose other end @far is ours. */
void session_start_on(struct session *s, const char *far, const char *near, char *const *argv,
		      const char *const *env);
void session_send(struct session *s, const char *keys);
/* Reads until the output holds @text. */
void session_expect(struct session *s, const char *text);
/* Takes what output there is, without waiting. */
void session_drain(struct session *s);
bool session_has(const struct session *s, const char *text);
void session_forget(struct session *s);
/* From now on it takes nothing; takes and is read again. */
void session_freeze(struct session *s, enum stillness how);
void session_thaw(struct session *s);
/* Reads at most @most bytes that are ready; returns their number. */
size_t session_read_some(struct session *s, size_t most);
/* Until the program has read all keys, has set modes of its own, has a handler for @sig. */
void session_wait_taken(struct session *s);
void session_wait_modes(struct session *s);
void session_wait_catches(struct session *s, int sig);
void session_resize(struct session *s, int rows, int columns);
/* Reads until the program stops or ends; its wait status. */
int session_wait(struct session *s);
void session_continue(struct session *s); /* as `fg` */
/* The terminal is in the modes it had at the start. */
bool session_restored(const struct session *s);
void session_end(struct session *s);

#endif
