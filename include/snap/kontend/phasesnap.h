/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PHASESNAP_H
#define KONTEND_PHASESNAP_H

#include "kontend/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sums from kernel probes since the measurement began: the two phases of each rotation, and
 * switches between tasks of different cgroups. The payload of SNAPSHOT_PHASES. Each snapshot is
 * self-contained.
 */
enum { PHASESNAP_VERSION = 1, PHASESNAP_BUCKETS = 256 };

enum phasesnap_missing {
	PHASESNAP_NO_ROTATION = 1 << 0, /* see reason */
	PHASESNAP_NO_CGROUPS = 1 << 1,	/* see cgroup_reason */
};

struct phasesnap_head {
	uint64_t time_ns, from_ns;	/* now, and start of the sums */
	uint32_t missing;		/* enum phasesnap_missing */
	uint32_t turn;			/* text: the function where the two phases meet */
	uint32_t reason, cgroup_reason; /* texts */
	uint64_t dropped;		/* switches between pairs without room */
};

/* Of one CPU with rotations or switches. */
struct phasesnap_cpu {
	uint32_t cpu, pad;
	uint64_t n, unturned;	/* timer expiries that rotated events, and those that did not */
	uint64_t out_ns, in_ns; /* sums; before and after the rotation point */
	uint64_t out_max_ns, in_max_ns;
	/* Switches to another cgroup, and those within one, which perf handles as well. */
	uint64_t switches, same;
	uint64_t switch_ns, switch_max_ns;
	uint32_t out[PHASESNAP_BUCKETS], in[PHASESNAP_BUCKETS];
};

/* Switches from a task of one cgroup to one of another. */
struct phasesnap_pair {
	uint64_t from, to; /* ids */
	uint64_t n, ns;
	uint32_t from_path, to_path; /* texts; "": not known */
};

struct phasesnap {
	struct phasesnap_head head;
	struct phasesnap_cpu *cpus;
	struct phasesnap_pair *pairs;
	char *strings;
	size_t n_cpus, n_pairs, n_strings;
	size_t cap_cpus, cap_pairs, cap_strings;
};

SECTIONS_FUNCTIONS(phasesnap)
SECTIONS_ADD(phasesnap, cpu, cpus, struct phasesnap_cpu)
SECTIONS_ADD(phasesnap, pair, pairs, struct phasesnap_pair)
SECTIONS_ADD_TEXT(phasesnap)

/* The middle of a bucket: eight buckets per octave. */
uint64_t phasesnap_bucket_ns(uint32_t bucket);
/* Percentile from buckets, within 6 %; at most @max_ns. 0: buckets are empty. */
uint64_t phasesnap_percentile(const uint32_t *buckets, unsigned pct, uint64_t max_ns);

#endif
