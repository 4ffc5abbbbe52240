// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/ending.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

static bool is_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

const char *ending_text(int sig)
{
	switch (sig) {
	case SIGINT:
		return "ended by SIGINT, as Ctrl-C sends it";
	case SIGTERM:
		return "ended by SIGTERM";
	case SIGHUP:
		return "ended by SIGHUP: the terminal is gone";
	case SIGQUIT:
		return "ended by SIGQUIT";
	default:
		return "ended by a signal";
	}
}

void ending_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGQUIT);
	if (!is_ignored(SIGHUP))
		sigaddset(ret, SIGHUP);
}

bool ending_is_pending(void)
{
	sigset_t ending, pending, both;

	ending_signals(&ending);
	sigpending(&pending);
	sigandset(&both, &ending, &pending);
	return !sigisemptyset(&both);
}

int ending_open(int *ret_fd, const int *more, struct error *err)
{
	sigset_t set, blocked;

	ending_signals(&set);
	for (; *more; more++)
		sigaddset(&set, *more);
	blocked = set;
	/* A recording does not react to these, and must not lose its data by them. */
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGALRM);
	sigaddset(&blocked, SIGVTALRM);
	sigaddset(&blocked, SIGPROF);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? error_errno(err, -errno, "Cannot make a descriptor for signals") : 0;
}

int ending_thread(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = -pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}
