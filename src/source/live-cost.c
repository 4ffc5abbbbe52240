// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures on this machine the cost of events that kontend adds. Each figure is the least of
 * several rounds, since other tasks disturb single ones.
 *
 * mmap_locks: the time of system calls that take this process's mmap_lock, with the events on and
 * off for this thread alone. The events go into a ring that overwrites itself, since the kernel
 * writes nothing into a full one.
 *
 * Context switches: the kernel takes the time of a switch record first, then asks each event of the
 * task whether it wants such a record, and only then takes the events off the PMU. So the measured
 * duration of a switch contains a part that the record itself causes, and that grows with the
 * number of events as the rest does. The kernel asks the events in the same way when the name of a
 * task is set: so this is timed with few events and with many. They are hardware events, the ones
 * that make switches slow: some PMUs are asked about each.
 */
#include "kontend/clock.h"
#include "kontend/perf-event.h"
#include "live-internal.h"
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CALLS = 200, ROUNDS = 7, RING_PAGES = 16, ATTR_SIZE = 128 };
enum { SWITCH_EVENTS = 64, NAMINGS = 16 };

struct mmap_trial {
	int fds[PERF_MM_EVENTS];
	void *ring;
	size_t ring_len;
};

static int open_mmap_event(uint32_t id)
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

	return perf_event_open(&attr, 0, -1, 0);
}

static bool open_mmap_trial(struct mmap_trial *t, const struct tracepoint *tp)
{
	long page = sysconf(_SC_PAGESIZE);

	*t = (struct mmap_trial){.fds = {-1, -1, -1}, .ring = MAP_FAILED};
	t->ring_len = (size_t)page * (RING_PAGES + 1);
	for (int i = 0; i < PERF_MM_EVENTS; i++) {
		t->fds[i] = open_mmap_event(tp[i].id);
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

static void close_mmap_trial(struct mmap_trial *t)
{
	if (t->ring != MAP_FAILED)
		munmap(t->ring, t->ring_len);
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
}

static uint64_t count_mmap_events(const struct mmap_trial *t)
{
	uint64_t sum = 0, n;

	for (int i = 0; i < PERF_MM_EVENTS; i++)
		sum += read(t->fds[i], &n, sizeof(n)) == (ssize_t)sizeof(n) ? n : 0;
	return sum;
}

static uint64_t time_calls(void *page, size_t len)
{
	unsigned char in_core;
	uint64_t from = clock_now_ns();

	for (int i = 0; i < CALLS; i++)
		(void)mincore(page, len, &in_core);
	return clock_now_ns() - from;
}

static void switch_mmap_events(const struct mmap_trial *t, unsigned long what)
{
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		ioctl(t->fds[i], what, 0);
}

static uint32_t measure_mmap(const struct mmap_trial *t)
{
	uint64_t off = UINT64_MAX, on = UINT64_MAX, n = 0;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t ns = time_calls(t->ring, len);
		off = ns < off ? ns : off;
		switch_mmap_events(t, PERF_EVENT_IOC_ENABLE);
		n = count_mmap_events(t);
		ns = time_calls(t->ring, len);
		n = count_mmap_events(t) - n;
		switch_mmap_events(t, PERF_EVENT_IOC_DISABLE);
		on = ns < on ? ns : on;
	}
	return n >= CALLS && on > off ? (uint32_t)((on - off) / n) : 0;
}

uint32_t live_cost_mmap_ns(const struct tracepoint tp[PERF_MM_EVENTS])
{
	struct mmap_trial t;
	uint32_t ns = open_mmap_trial(&t, tp) ? measure_mmap(&t) : 0;

	close_mmap_trial(&t);
	return ns;
}

/* @comm: the event records names of tasks. */
static int open_switch_event(uint32_t type, uint64_t config, bool comm)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER5,
		.type = type,
		.config = config,
		.exclude_kernel = 1,
		.comm = comm,
	};

	return perf_event_open(&attr, 0, -1, 0);
}

/* Sets the name of this thread to @name, which it has already. */
static uint64_t time_naming(const char *name)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < NAMINGS; i++) {
		uint64_t from = clock_now_ns();
		prctl(PR_SET_NAME, name);
		uint64_t ns = clock_now_ns() - from;
		least = ns < least ? ns : least;
	}
	return least;
}

uint64_t live_cost_switch_ps(void)
{
	char name[16] = "";
	int fds[SWITCH_EVENTS],
		n = 0, comm = open_switch_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);

	if (comm < 0)
		return 0;
	prctl(PR_GET_NAME, name);
	uint64_t few = time_naming(name);
	while (n < SWITCH_EVENTS &&
	       (fds[n] = open_switch_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false)) >=
		       0)
		n++;
	uint64_t many = time_naming(name);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	close(comm);
	return n && many > few ? (many - few) * 1000 / (uint64_t)n : 0;
}
