// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record that a task goes off gets its time first; then the kernel goes through all events of
 * that task, asking each whether it wants such a record, and only then takes them off the PMU. So
 * the time between a task that goes off and one that comes has a part that would not be there but
 * for the record, and that grows with the number of events as what is to be measured does.
 *
 * The kernel goes through the events of a task in the same way when its name is set. So that is
 * timed with few events and with many, by the least of several times, as anything may come between.
 * They are of hardware, as those that switches are slow with: some PMUs are asked about each.
 */
#include "switch-cost.h"
#include "kontend/clock.h"
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 64, TIMES = 16 };

/* With @comm set names are of interest to it. */
static int open_event(uint32_t type, uint64_t config, bool comm)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER5,
		.type = type,
		.config = config,
		.exclude_kernel = 1,
		.comm = comm,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* To what it is. */
static uint64_t time_naming(const char *name)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TIMES; i++) {
		uint64_t from = clock_now_ns();
		prctl(PR_SET_NAME, name);
		uint64_t ns = clock_now_ns() - from;
		least = ns < least ? ns : least;
	}
	return least;
}

uint64_t switch_cost_measure(void)
{
	char name[16] = "";
	int fds[EVENTS], n = 0, comm = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);

	if (comm < 0)
		return 0;
	prctl(PR_GET_NAME, name);
	uint64_t few = time_naming(name);
	while (n < EVENTS &&
	       (fds[n] = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false)) >= 0)
		n++;
	uint64_t many = time_naming(name);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	close(comm);
	return n && many > few ? (many - few) * 1000 / (uint64_t)n : 0;
}
