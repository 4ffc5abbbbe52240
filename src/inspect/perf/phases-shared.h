/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two phases of rotation, and switches between cgroups, as the programs sum them up: a row a
 * CPU, which that CPU alone writes, and a row a pair of cgroups. Included by both sides: plain C
 * types only.
 */
#ifndef KONTEND_INSPECT_PHASES_SHARED_H
#define KONTEND_INSPECT_PHASES_SHARED_H

enum { PHASES_CPUS = 1024, PHASES_BUCKETS = 256, PHASES_PAIRS = 2048 };

/* Constant for the programs. */
struct phases_config {
	unsigned int subsys; /* perf_event_cgrp_id */
};

struct phases_state {
	unsigned int on; /* nothing is summed up before */
};

struct phases_cpu {
	/* Of the current expiry; 0: none, or the events have not been turned yet. */
	unsigned long long began, turned;
	unsigned long long n;	     /* expiries that turned events */
	unsigned long long unturned; /* and those that did not */
	unsigned long long out_ns, in_ns, out_max, in_max;
	/* Of the current switch; 0: none that changes the cgroup. */
	unsigned long long switch_began, from, to;
	unsigned long long switches, same, switch_ns, switch_max;
	unsigned long long dropped; /* of pairs that had no room */
	unsigned int out[PHASES_BUCKETS], in[PHASES_BUCKETS];
};

struct phases_pair {
	unsigned long long from, to; /* ids of cgroups */
};

struct phases_sum {
	unsigned long long n, ns;
};

/* Eight to an octave; what takes longer than 4 s is in bucket 239, and so the last one used. */
static inline unsigned int phases_bucket(unsigned long long ns)
{
	unsigned int v = ns > 0xffffffffull ? 0xffffffffu : (unsigned int)ns, log = 0;

	if (v < 8)
		return v;
	for (unsigned int step = 16; step; step >>= 1) {
		if (v >> (log + step))
			log += step;
	}
	return (log - 2) * 8 + (v >> (log - 3) & 7);
}

#endif
