/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_IDLE_SHARED_H
#define KONTEND_INSPECT_WAITS_IDLE_SHARED_H

/* Shared by idle.bpf.c and idle.c: see there. Plain C types only. */
enum { IDLE_GROUP = 16, IDLE_GROUPS = 512 };

/* The CPUs of a group, in a cache line of their own. */
struct idle_group {
	unsigned long long n; /* of them are idle: */
	unsigned char idle[IDLE_GROUP];
	unsigned long long pad[5];
};

struct idle_state {
	/* Groups with an idle CPU. While there are, the clock is `sum` and the present time. */
	unsigned long long groups;
	unsigned long long sum;
	/* Set by user space: before it began, once all CPUs are known; 0: not yet. CPUs online. */
	unsigned long long since_ns;
	unsigned int n_online;
	unsigned int broken; /* by the programs: a CPU was not counted */
	unsigned long long pad[4];
	struct idle_group group[IDLE_GROUPS];
};

enum idle_look { IDLE_LOOK_HERE, IDLE_LOOK_GONE }; /* what look_idle is run for */

#endif
