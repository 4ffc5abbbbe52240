/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ASKED_H
#define KONTEND_ASKED_H

#include <signal.h>
#include <stdbool.h>

/*
 * True if a signal that ends the program is pending: such signals are blocked in this thread. Code
 * that waits long for something dispensable checks this now and then and gives up.
 */
static inline bool asked_to_end(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	if (sigpending(&set) < 0)
		return false;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigismember(&set, signals[i]) == 1)
			return true;
	return false;
}

#endif
