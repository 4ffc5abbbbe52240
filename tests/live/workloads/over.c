// SPDX-License-Identifier: GPL-2.0-only
#include "over.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SECONDS = 15 };

bool over_is(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec >= MOST_SECONDS || poll(&p, 1, 1) != 0;
}
