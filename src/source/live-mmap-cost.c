// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event of mmap_locks on this machine: the time of calls that take our own
 * mmap_lock, with the events on and off for this thread alone. They go into a ring that overwrites
 * itself, as a full one would be cheaper. Other tasks disturb single rounds, so the shortest count.
 */
#include "kontend/clock.h"
#include "kontend/perf-attr.h"
#include "live-mmap.h"
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS = 200, ROUNDS = 7, RING_PAGES = 16, ATTR_SIZE = 128 };

struct trial {
	int fds[PERF_MM_EVENTS];
	void *ring;
	size_t ring_len;
};

static int open_event(uint32_t id)
{
	struct perf_event_attr attr = {
		.size = ATTR_SIZE,
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.disabled = 1,
		.write_backward = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_trial(struct trial *t, const struct tracepoint *tp)
{
	long page = sysconf(_SC_PAGESIZE);

	*t = (struct trial){.fds = {-1, -1, -1}, .ring = MAP_FAILED};
	t->ring_len = (size_t)page * (RING_PAGES + 1);
	for (int i = 0; i < PERF_MM_EVENTS; i++) {
		t->fds[i] = open_event(tp[i].id);
		if (t->fds[i] < 0)
			return false;
		if (i && ioctl(t->fds[i], PERF_EVENT_IOC_SET_OUTPUT, t->fds[0]) < 0)
			return false;
		if (i == 0)
			t->ring = mmap(NULL, t->ring_len, PROT_READ, MAP_SHARED, t->fds[0], 0);
		if (t->ring == MAP_FAILED)
			return false;
	}
	return true;
}

static void close_trial(struct trial *t)
{
	if (t->ring != MAP_FAILED)
		munmap(t->ring, t->ring_len);
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
}

static uint64_t events_of(const struct trial *t)
{
	uint64_t sum = 0, n;

	for (int i = 0; i < PERF_MM_EVENTS; i++)
		sum += read(t->fds[i], &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : 0;
	return sum;
}

static uint64_t round_ns(void *page, size_t len)
{
	unsigned char in_core;
	uint64_t from = clock_now_ns();

	for (int i = 0; i < CALLS; i++)
		(void)mincore(page, len, &in_core);
	return clock_now_ns() - from;
}

static void switch_all(const struct trial *t, unsigned long what)
{
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		ioctl(t->fds[i], what, 0);
}

static uint32_t measure(const struct trial *t)
{
	uint64_t off = UINT64_MAX, on = UINT64_MAX, n = 0;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ns = round_ns(t->ring, len);
		off = ns < off ? ns : off;
		switch_all(t, PERF_EVENT_IOC_ENABLE);
		n = events_of(t);
		ns = round_ns(t->ring, len);
		n = events_of(t) - n;
		switch_all(t, PERF_EVENT_IOC_DISABLE);
		on = ns < on ? ns : on;
	}
	return n >= CALLS && on > off ? (uint32_t)((on - off) / n) : 0;
}

uint32_t live_mmap_cost(const struct tracepoint tp[PERF_MM_EVENTS])
{
	struct trial t;
	uint32_t ns = open_trial(&t, tp) ? measure(&t) : 0;

	close_trial(&t);
	return ns;
}
