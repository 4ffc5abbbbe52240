// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel knows of its events without anybody reading their records: how often each
 * happened, and how many of its records found no room. Who only passes the records on need not
 * look at them then. Of tasks there may be very many events, each to be asked: they are not.
 */
#include "perf-internal.h"
#include <errno.h>
#include <unistd.h>

void perf_counts_add(const struct perf_session *ps, size_t cpu, struct perf_counts *sum)
{
	struct {
		uint64_t count, id, lost;
	} v;

	for (int e = 0; e < PERF_EVENTS; e++) {
		if (!ps->evsels[e])
			continue;
		int fd = *perf_session_fd(ps, (enum perf_event_index)e, cpu, 0);
		if (read(fd, &v, sizeof(v)) != (ssize_t)sizeof(v))
			continue; /* of a CPU that is gone with nothing to tell */
		sum->events += e == PERF_BEGIN || e == PERF_END ? v.count : 0;
		sum->lost += v.lost;
	}
}

int perf_session_lost(const struct perf_session *ps, size_t i, uint64_t *ret)
{
	struct perf_counts sum = {0};

	if (!ps->counts)
		return -ENOTSUP;
	perf_counts_add(ps, i, &sum);
	*ret = sum.lost;
	return 0;
}

int perf_session_counts(const struct perf_session *ps, struct perf_counts *ret)
{
	if (!ps->counts)
		return -ENOTSUP;
	*ret = ps->before;
	for (size_t c = 0; c < (size_t)perf_cpu_map__nr(ps->cpus); c++)
		perf_counts_add(ps, c, ret);
	return 0;
}
