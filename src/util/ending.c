// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/ending.h"

#include <stddef.h>

static bool is_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
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
