/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SHARED_H
#define KONTEND_INSPECT_WAITS_SHARED_H

/* What the program of waits tells, and whose. Included by it, too: plain C types only. */
enum { WAITS_CPUS = 8192, WAITS_IDS = 16384 };

enum waits_whose {
	WAITS_ALL,
	WAITS_TIDS,   /* of the threads in the map `ids` */
	WAITS_PIDS,   /* of the processes there, and of those that they start */
	WAITS_CGROUP, /* of those in the cgroup that is in the map `cgroups`, or below it */
};

struct waits_config {
	unsigned int by_cpu; /* only on the CPUs of the mask */
	unsigned int whose;  /* enum waits_whose */
	unsigned int waits;  /* their begin and end (waitrec.h) */
	unsigned int owners; /* who has the lock (ownerrec.h) */
	unsigned int frames; /* of a call chain, at most; 0: none */
	unsigned int pad;
	unsigned long long cpus[WAITS_CPUS / 64];
};

#endif
