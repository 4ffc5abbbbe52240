// SPDX-License-Identifier: GPL-2.0-only
/* Clock, thread ids and output of a program that prints what it did. */
#include "tell.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tell_fail(const char *what)
{
	perror(what);
	_exit(1);
}

void tell_skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	_exit(TELL_SKIP);
}

pid_t tell_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t tell_now(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

/* How long it ran schedstat does not count up to now, but to the last tick. */
struct tell_sched tell_sched(void)
{
	struct tell_sched s = {0};
	char buf[128];
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (n <= 0)
		tell_skip("the kernel does not say how long a thread was kept off its CPU");
	close(fd);
	buf[n] = '\0';
	if (sscanf(buf, "%*u %" SCNu64, &s.runnable_ns) != 1)
		tell_fail(buf);
	s.ran_ns = ns_of(CLOCK_THREAD_CPUTIME_ID);
	return s;
}

uint64_t tell_asleep(uint64_t from, uint64_t to, struct tell_sched before, struct tell_sched after)
{
	uint64_t awake = after.ran_ns - before.ran_ns + after.runnable_ns - before.runnable_ns;

	return to - from > awake ? to - from - awake : 0;
}

void tell_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tell_fail("sched_setaffinity");
}

pthread_t tell_thread(void *(*run)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, arg))
		tell_fail("pthread_create");
	return t;
}
