// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates breakpoints that live for microseconds, has AT-ONCE of them at a time, asks for more than
 * there are slots, and starts threads that inherit. Prints what it did:
 *
 *     bp-create SHORT AT-ONCE REFUSED THREADS
 *     opened 1003 inherited 12 refused 5 most 3
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS_MOST = 32 };

static volatile long watched[SLOTS_MOST];

/* Counts of the work done. */
static unsigned long opened, inherited, refused, most, now;

static void die(const char *what)
{
	fprintf(stderr, "bp-create: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A descriptor, or -1 where there is no slot. */
static int open_one(unsigned i, int inherit)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&watched[i],
		.bp_len = sizeof(watched[i]),
		.inherit = inherit ? 1 : 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == ENOSPC) {
		refused++;
		return -1;
	}
	if (fd < 0)
		die("perf_event_open");
	opened++;
	now++;
	most = now > most ? now : most;
	return fd;
}

static void close_one(int fd)
{
	if (fd < 0)
		return;
	close(fd);
	now--;
}

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long n[4];
	int fds[SLOTS_MOST + 1], extra;
	pthread_t t;

	if (argc != 5)
		return 2;
	for (int i = 0; i < 4; i++)
		n[i] = strtoul(argv[i + 1], NULL, 10);
	if (n[1] > SLOTS_MOST)
		return 2;
	for (unsigned long i = 0; i < n[0]; i++)
		close_one(open_one(0, 0));
	for (unsigned i = 0; i < n[1]; i++)
		fds[i] = open_one(i, 1);
	for (unsigned long i = 0; i < n[3]; i++) {
		if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
			die("pthread_create");
		inherited += now;
	}
	/* As many as there are beside them, then so many more that there is no room for. */
	int more[SLOTS_MOST + 1];
	unsigned n_more = 0;
	while (n[2] && n_more < SLOTS_MOST) {
		extra = open_one(n_more % SLOTS_MOST, 0);
		if (extra < 0)
			break;
		more[n_more++] = extra;
	}
	for (unsigned long i = 1; i < n[2]; i++)
		close_one(open_one(0, 0));
	while (n_more)
		close_one(more[--n_more]);
	for (unsigned i = 0; i < n[1]; i++)
		close_one(fds[i]);
	printf("opened %lu inherited %lu refused %lu most %lu\n", opened, inherited, refused, most);
	return 0;
}
