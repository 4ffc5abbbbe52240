// SPDX-License-Identifier: GPL-2.0-only
/*
 * More perf events than the programs' arrays have room for: each of them is in the snapshot, once,
 * with its descriptor, and the snapshot reports nothing as missing.
 */
#include "kontend/inspect.h"
#include "kontend/map64.h"
#include "live.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 20000, TRIES = 10, SPARE = 64 };

struct opened {
	uint64_t id;
	int fd, pid;
};

static int open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.size = sizeof(attr),
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A process with @n events, the limit of its descriptors; writes a byte when they are open. */
static void hold(struct opened *o, int n, int reported)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < n; i++) {
		o[i].pid = getpid();
		o[i].fd = open_event();
		if (o[i].fd < 0 || ioctl(o[i].fd, PERF_EVENT_IOC_ID, &o[i].id) < 0) {
			printf("skipped: event %d of a process: %s\n", i, strerror(errno));
			_exit(1);
		}
	}
	if (write(reported, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static int open_all(struct opened *o)
{
	struct rlimit files;
	int reported[2], n = 0;
	char byte;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || pipe(reported) < 0)
		exit(1);
	int each = files.rlim_cur < 2 * SPARE ? SPARE : (int)files.rlim_cur - SPARE;
	for (int first = 0; first < EVENTS; first += each, n++) {
		int rest = EVENTS - first;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			close(reported[0]);
			hold(o + first, rest < each ? rest : each, reported[1]);
		}
		if (pid < 0)
			exit(1);
	}
	close(reported[1]);
	for (int i = 0; i < n; i++)
		if (read(reported[0], &byte, 1) != 1)
			exit(LIVE_SKIP);
	close(reported[0]);
	return n;
}

/* How many of the events are there once, with their descriptor. */
static int count_right(const struct opened *o, const struct perfsnap *s)
{
	struct map64 at = {0};
	int right = 0, fds = 0;

	for (int i = 0; i < EVENTS; i++)
		map64_put(&at, o[i].id, (uint32_t)i);
	for (size_t i = 0; i < s->n_holders; i++) {
		const struct snap_holder *h = &s->holders[i];
		const uint32_t *k = map64_get(&at, s->events[h->event - 1].id);
		fds += k && o[*k].fd == h->fd && h->pid == o[*k].pid;
	}
	for (size_t i = 0; i < s->n_events; i++) {
		right += map64_get(&at, s->events[i].id) != NULL;
		map64_del(&at, s->events[i].id); /* another one of it would not count */
	}
	map64_deinit(&at);
	return right < fds ? right : fds;
}

int main(void)
{
	struct inspect_options o = {0};
	struct inspect *inspect;
	struct error err = {0};
	struct perfsnap s = {0};
	int right = 0, lacks = 1;

	live_need_root();
	if (inspect_bpf_new(&inspect, &o, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return LIVE_SKIP;
	}
	struct opened *opened = mmap(NULL, EVENTS * sizeof(*opened), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (opened == MAP_FAILED)
		return 1;
	int n = open_all(opened);
	/* Lists that others change all the time may not be whole the first time. */
	for (int i = 0; i < TRIES && (right < EVENTS || lacks); i++) {
		if (inspect_take(inspect, INSPECT_ALL, &s, &err) < 0) {
			printf("FAIL %s\n", err.text);
			return 1;
		}
		right = count_right(opened, &s);
		lacks = s.head.dropped || s.head.incomplete;
	}
	printf("%d of %d events, %zu in all, %u dropped, %u lists incomplete, %d processes\n",
	       right, EVENTS, s.n_events, s.head.dropped, s.head.incomplete, n);
	inspect_free(inspect);
	perfsnap_deinit(&s);
	return right != EVENTS || lacks;
}
