/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PERF_EVENT_H
#define KONTEND_PERF_EVENT_H

#include <linux/perf_event.h>
#include <sys/types.h>

/*
 * perf_event_open(2), for which the C library has no function: an event of its own group, closed on
 * exec. @flags: PERF_FLAG_PID_CGROUP, with the descriptor of a cgroup's directory as @pid; else 0.
 * The descriptor, or -errno.
 */
int perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);

#endif
