/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks are measured, for the programs that look at tasks for other reasons than kernel
 * locks. Included by both sides: plain C types only.
 */
#ifndef KONTEND_INSPECT_LOCKS_ASKED_SHARED_H
#define KONTEND_INSPECT_LOCKS_ASKED_SHARED_H

enum { RAW_ASKED_IDS = 1024, RAW_ASKED_CPUS = 1024 };

enum raw_asked_scope { RAW_SCOPE_ALL, RAW_SCOPE_PIDS, RAW_SCOPE_TIDS, RAW_SCOPE_CGROUP };

struct raw_asked {
	unsigned int scope;  /* enum raw_asked_scope */
	unsigned int by_cpu; /* only tasks that ran last on a CPU of `asked_cpus` */
	unsigned long long cgroup;
	unsigned long long since_ns; /* children that began later are measured as well; monotonic */
};

#endif
