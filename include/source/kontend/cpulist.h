/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CPULIST_H
#define KONTEND_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPULIST_MAX = 1 << 16 }; /* CPU numbers are below it */

/*
 * Parses "0,2-5" (as in /sys/devices/system/cpu/online) into an ascending array without repeats,
 * from util/mem. 0, -EINVAL or -ENOMEM.
 */
int cpulist_parse(const char *list, uint32_t **ret, size_t *ret_n);
/* The CPUs of /sys/devices/system/cpu/@which ("online", "possible"). 0 or negative errno. */
int cpulist_read(const char *which, uint32_t **ret, size_t *ret_n);
/* "0-3,5" into @buf, cut to @size. */
const char *cpulist_format(const uint32_t *cpus, size_t n, char *buf, size_t size);
/* Is @cpu in the ascending array? */
int cpulist_has(const uint32_t *cpus, size_t n, uint32_t cpu);

/* The CPUs that are online: a small file that stays open, and its text at the last call. */
struct cpu_watch {
	int fd; /* -1: it cannot be read, and no change is ever seen */
	size_t len;
	char text[4096];
};

void cpu_watch_open(struct cpu_watch *w, const char *path);
void cpu_watch_close(struct cpu_watch *w);
/* Has the text changed since the last call, or since it was opened? */
bool cpu_watch_look(struct cpu_watch *w);
/* The CPUs of the text, as from cpulist_parse(). */
int cpu_watch_list(const struct cpu_watch *w, uint32_t **ret, size_t *ret_n);

#endif
