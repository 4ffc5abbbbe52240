/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CPULIST_H
#define KONTEND_CPULIST_H

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
/* Of an ascending array. */
int cpulist_has(const uint32_t *cpus, size_t n, uint32_t cpu);

#endif
