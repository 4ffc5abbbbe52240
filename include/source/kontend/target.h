/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TARGET_H
#define KONTEND_TARGET_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind { TARGET_SYSTEM, TARGET_PIDS, TARGET_TIDS, TARGET_CGROUP, TARGET_COMMAND };

/* The measured threads, processes, cgroups or CPUs. `= {0}` is the whole system, all CPUs. */
struct target {
	enum target_kind kind;
	uint32_t *cpus; /* -C; NULL = all online */
	size_t n_cpus;
	pid_t *ids; /* pids or tids */
	size_t n_ids;
	char *cgroup;	     /* path below the cgroup2 mount, or absolute */
	char **command;	     /* argv, NULL-terminated, borrowed from main's */
	_Atomic pid_t child; /* that runs the command; 0: not yet */
	bool output_apart;   /* its standard output goes to standard error: kontend writes for a
				program */
};

/* "0,2-5": -EINVAL with @err if it is no list, -ENODEV for a CPU that is not online. */
int target_parse_cpus(struct target *t, const char *list, struct error *err);
/* "812,900"; processes also by name: "812,postgres". -EINVAL; -ESRCH: there is none. */
int target_parse_ids(struct target *t, enum target_kind kind, const char *list, struct error *err);
int target_set_cgroup(struct target *t, const char *path, struct error *err);
/* "all CPUs", "cpu 0-1", "pid 812", "tid 5", "cgroup /x", "make -j5" into @buf. */
const char *target_describe(const struct target *t, char *buf, size_t size);
/*
 * Are the waits of this task, which ran on @cpu last (-1: not known), surely measured? @in_cgroup:
 * it is in the target's cgroup, or in one below that. Of a command all processes are that /proc
 * shows as its descendants.
 */
bool target_has(const struct target *t, pid_t pid, pid_t tid, bool in_cgroup, int cpu);
void target_deinit(struct target *t);

#endif
