/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STORY_WORK_H
#define KONTEND_STORY_WORK_H

#include "kontend/story.h"

#include <stdint.h>

/* Workloads that are no benchmarks, each a round of some seconds. 0, or negative with @err. */
int story_work_fork(struct bench_figures *ret, struct error *err);
int story_work_flock(struct bench_figures *ret, struct error *err);
int story_work_cgroup(struct bench_figures *ret, struct error *err);
int story_work_java(struct bench_figures *ret, struct error *err);

/* The cgroups of the workload whose guard is this process. */
void story_cgroup_remove(pid_t guard);
/* The folder of the lock file. */
void story_flock_remove(pid_t guard);
/* Can they be made? 0, or negative with @err. */
int story_cgroup_check(struct error *err);
/* Is there a `java` to run? */
int story_java_check(struct error *err);

static inline void story_work_add(uint64_t *most, uint64_t *sum, uint64_t ns)
{
	*sum += ns;
	if (ns > *most)
		*most = ns;
}

#endif
