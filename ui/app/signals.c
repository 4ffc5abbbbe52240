// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals as bytes of a pipe, read by the main loop's poll. A pipe and not a signalfd: a signalfd
 * wants the signals blocked in every thread, and a thread without that mask would die of SIGTERM
 * with the terminal left raw; a handler works whichever thread the signal meets. It needs one
 * static pointer, since a handler is given nothing.
 *
 * A second signal to end means that the loop did not react: then the handler does what was set
 * before. But where signals are blocked afterwards, something is to be put back first.
 */
#include "signals.h"
#include "kontend/clock.h"
#include "kontend/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int caught[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

static const uint64_t SAME_NS = 500000000; /* one wish may come to us and to our group */

static struct signals *volatile handled;

static bool is_second(struct signals *s, size_t i)
{
	uint64_t now = clock_now_ns();

	if (!sigismember(&s->ending, caught[i]) || sigismember(&s->mask, caught[i]))
		return false;
	if (!s->asked_ns)
		s->asked_ns = now;
	return now - s->asked_ns > SAME_NS;
}

static void on_signal(int sig)
{
	unsigned char byte = (unsigned char)sig;
	struct signals *s = handled;
	int saved = errno;
	size_t i = 0;

	while (caught[i] != sig)
		i++;
	if (is_second(s, i)) {
		sigaction(sig, &s->old[i], NULL);
		raise(sig);
	}
	ssize_t n = write(s->write_fd, &byte, 1);

	(void)n; /* a full pipe already wakes the loop */
	errno = saved;
}

int signals_open(struct signals *s, const sigset_t *mask, struct error *err)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_errno(err, -errno, "Cannot make a pipe for signals");
	s->fd = fds[0];
	s->write_fd = fds[1];
	s->asked_ns = 0;
	handled = s;
	sigset_t all;
	sigprocmask(SIG_BLOCK, NULL, &s->mask);
	s->mask = mask ? *mask : s->mask;
	sigemptyset(&sa.sa_mask);
	sigemptyset(&all);
	ending_signals(&s->ending);
	for (size_t i = 0; i < SIGNALS; i++) {
		bool kept_ignored = caught[i] == SIGHUP && !sigismember(&s->ending, SIGHUP);

		sigaction(caught[i], kept_ignored ? NULL : &sa, &s->old[i]);
		sigaddset(&all, caught[i]);
	}
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	return 0;
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
	handled = NULL;
	close(s->fd);
	close(s->write_fd);
}
