/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_RUNS_LIMIT_H
#define KONTEND_INSPECT_LOCKS_RUNS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { RUNS_GROUP = 512 };

/* The limit of CPU time of a task: of its cgroup, or of the nearest one above that has one. */
struct runs_limit {
	char group[RUNS_GROUP];
	uint64_t quota_ns, period_ns;
	uint64_t throttled_ns; /* so far */
};

/* By the files of cgroups, of version 2 or 1. False: it has none, or that is not known. */
bool runs_limit_read(const char *proc, int32_t tid, struct runs_limit *ret);

#endif
