// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether cycles can be sampled is asked by an event of its own: the least that can be asked for,
 * on the CPU that we are on. To find it out by opening all events of a session would take a tenth
 * of a second, since to close tracepoints the kernel waits for all CPUs.
 */
#include "perf-cycles.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

bool perf_lacks_cycles(void)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER5,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1u << 30,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT || errno == EOPNOTSUPP;
	close(fd);
	return false;
}
