// SPDX-License-Identifier: GPL-2.0-only
/* Signals of `kontend record`, read from a descriptor between two steps of its work. */
#include "signals.h"
#include "kontend/ending.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

int record_signals_open(int *ret_fd, struct error *err)
{
	static const int more[] = {SIGUSR2, 0};

	return record_signals_open_more(ret_fd, more, err);
}

int record_signals_open_more(int *ret_fd, const int *more, struct error *err)
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
