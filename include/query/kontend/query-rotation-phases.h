/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ROTATION_PHASES_H
#define KONTEND_QUERY_ROTATION_PHASES_H

#include "kontend/query.h"

/* The two phases of the rotations of one CPU, and its switches between cgroups, by --phases. */
struct query_rotation_phase {
	uint32_t cpu;
	uint64_t n, unturned; /* expiries that turned events, and those that did not */
	uint64_t out_avg_ns, out_p50_ns, out_p99_ns, out_max_ns; /* until they are turned */
	uint64_t in_avg_ns, in_p50_ns, in_p99_ns, in_max_ns;	 /* from there to the end */
	uint64_t switches, same; /* to another cgroup, and within one */
	uint64_t switch_avg_ns, switch_max_ns;
};

/* Events of one cgroup, and what switches to its tasks and from them take. */
struct query_rotation_cgroup {
	const char *path; /* NULL: not known, as it is gone */
	uint64_t id;	  /* 0: it has events, and no switch was measured */
	uint32_t events;
	uint64_t to_n, to_ns, to_avg_ns, from_n, from_ns, from_avg_ns;
};

struct query_rotation_phases {
	bool asked;	  /* the stream has them */
	const char *turn; /* the function where the phases meet; NULL: not measured */
	/* "" or why phases, or switches of cgroups, are not measured. */
	const char *reason, *cgroup_reason;
	uint64_t seen_ns, dropped; /* switches of pairs of cgroups that had no room */
	struct query_rotation_phase *cpus;
	size_t n_cpus;
	struct query_rotation_cgroup *cgroups; /* by time, then by events */
	size_t n_cgroups, left_out;	       /* what had no room among them */
};

int query_rotation_phases(struct query *q, struct query_rotation_phases *ret);
/* "scheduling out 1.9ms (p99 2.0ms), in 600us (p99 640us), of 412 rotations" */
const char *query_rotation_phases_text(const struct query_rotation_phase *p, char *buf,
				       size_t size);

#endif
