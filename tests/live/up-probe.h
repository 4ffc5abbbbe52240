/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_UP_PROBE_H
#define KONTEND_TESTS_UP_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* workloads/up-work.c running beside a test. */
struct up_work {
	pid_t pid;
	FILE *to;
	int from; /* its answers */
	char line[1024];
	size_t n;
};

int up_work_start(struct up_work *w, const char *path);
void up_work_tell(struct up_work *w, const char *text);
/* Its next whole line; false: there is none yet. */
bool up_work_line(struct up_work *w, char *ret, size_t size);
void up_work_stop(struct up_work *w);

/* A descriptor of a uprobe in @pid, by perf's PMU; or a negative errno. */
int up_probe_perf(const char *path, uint64_t offset, bool back, pid_t pid);
/* A line into uprobe_events; and an event of it in @pid. 0 or a descriptor; or a negative errno. */
int up_probe_write(const char *tracefs, const char *line);
int up_probe_open(const char *tracefs, const char *group, const char *event, pid_t pid);
/* A BPF link of one uprobe; -EINVAL and others: the kernel has none. */
int up_probe_link(const char *path, uint64_t offset, pid_t pid);

#endif
