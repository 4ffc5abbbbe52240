// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals as bytes of a pipe, read by the main loop's poll. A pipe and not a signalfd: a signalfd
 * wants the signals blocked in every thread, and a thread that somebody forgot would die of SIGTERM
 * with the terminal left raw; a handler works whichever thread the signal meets. It needs one
 * static descriptor, since a handler is given nothing, and a mark for whoever cannot read the pipe.
 */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

static const int caught[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

static volatile sig_atomic_t handler_fd = -1, ending;

static void on_signal(int sig)
{
	unsigned char byte = (unsigned char)sig;
	int saved = errno;
	ssize_t n = write((int)handler_fd, &byte, 1);

	(void)n; /* a full pipe already wakes the loop */
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
		ending = 1;
	errno = saved;
}

int signals_open(struct signals *s, struct error *err)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_errno(err, -errno, "Cannot make a pipe for signals");
	s->fd = fds[0];
	s->write_fd = fds[1];
	handler_fd = fds[1];
	ending = 0;
	sigset_t all;
	sigemptyset(&sa.sa_mask);
	sigemptyset(&all);
	for (size_t i = 0; i < SIGNALS; i++) {
		sigaction(caught[i], &sa, &s->old[i]);
		sigaddset(&all, caught[i]);
	}
	sigprocmask(SIG_UNBLOCK, &all, &s->mask);
	return 0;
}

bool signals_ending(void)
{
	return ending != 0;
}

int signals_next(struct signals *s)
{
	unsigned char byte;

	return read(s->fd, &byte, 1) == 1 ? byte : 0;
}

void signals_close(struct signals *s)
{
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(caught[i], &s->old[i], NULL);
	handler_fd = -1;
	close(s->fd);
	close(s->write_fd);
}
