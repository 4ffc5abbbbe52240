// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/perf-event.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd =
		(int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
