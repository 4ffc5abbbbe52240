/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYSINFO_H
#define KONTEND_SYSINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Small facts about the running system, read again at each call. None fails: each has a documented
 * answer for a file that cannot be read.
 */

/* A file's text without a trailing newline, cut to @size; the length, or a negative errno. */
int sysinfo_read(const char *path, char *buf, size_t size);
/* The number in a file, or @otherwise. */
int64_t sysinfo_number(const char *path, int64_t otherwise);

/* The word in brackets of /sys/kernel/security/lockdown; "" = unknown. */
const char *sysinfo_lockdown(char *buf, size_t size);
/* Our own executable, for a setcap line; "kontend" when unknown. */
const char *sysinfo_exe(char *buf, size_t size);
/* Does the calling thread have capability @cap in its effective set? */
bool sysinfo_capable(unsigned int cap);

/* A number that changes each time the CPU was offline; 0 = unknown. */
uint64_t sysinfo_cpu_epoch(uint32_t cpu);
/* The NUMA node of a CPU, from its folder in sysfs; -1: not known. */
int sysinfo_cpu_node(uint32_t cpu);
/* Switches of tasks on all CPUs since boot; 0: not known. */
uint64_t sysinfo_switches(void);
/* Bytes of memory of the machine, or of the container that kontend runs in. */
uint64_t sysinfo_memory(void);
/* Bytes that this process has in memory; 0: not known. */
uint64_t sysinfo_resident(void);

/*
 * The most open files that measuring needs: programs, maps and events of BPF and perf, and files
 * that it reads meanwhile. 145 were seen with two CPUs.
 */
uint64_t sysinfo_files(void);
/* Raises the limit of open files to @need, or as far as this user may. Returns the new limit. */
uint64_t sysinfo_raise_files(uint64_t need);

#endif
