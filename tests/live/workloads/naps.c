// SPDX-License-Identifier: GPL-2.0-only
/*
 * naps MS...: sleeps in state D, one after the other, each until a child of vfork() has slept for
 * so many ms. A line for each: the task, its child, when the child saw it asleep and woke it, and
 * when it went to sleep and was back, all by the clock of the kernel.
 */
#include "asleep.h"
#include "kontend/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* By the child; shared. */
static struct seen {
	volatile uint64_t asleep_ns, woken_ns;
} * seen;

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int nap(long ms)
{
	const pid_t self = getpid();
	uint64_t from = clock_now_ns();
	pid_t child = vfork();
	int status;

	if (child == 0) {
		wait_until_asleep(self);
		seen->asleep_ns = clock_now_ns();
		sleep_ms(ms);
		seen->woken_ns = clock_now_ns();
		_exit(0);
	}
	uint64_t to = clock_now_ns();
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	printf("%d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", self, child,
	       seen->asleep_ns, seen->woken_ns, from, to);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	for (int i = 1; i < argc && !failed; i++)
		failed = nap(atol(argv[i]));
	return failed;
}
