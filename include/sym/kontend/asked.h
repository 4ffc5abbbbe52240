/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ASKED_H
#define KONTEND_ASKED_H

#include <signal.h>
#include <stdbool.h>

/*
 * Has somebody asked us to end, by a signal that waits because it is blocked? Whoever waits long
 * for what can be done without looks here now and then.
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
