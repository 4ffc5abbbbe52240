/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PATHGROUP_H
#define KONTEND_PATHGROUP_H

/*
 * What a kernel function is busy with, as far as contention is concerned. A call chain belongs to
 * the kernel's subsystem that it passes (perf, breakpoints, uprobes), else to the kind of lock.
 */
enum path_group {
	PATH_NONE,
	PATH_IDLE, /* nothing to do */
	PATH_SPINLOCK,
	PATH_RWLOCK,
	PATH_MUTEX,
	PATH_RTMUTEX,
	PATH_SEMAPHORE,
	PATH_RWSEM,
	PATH_PERCPU_RWSEM,
	PATH_LOCK, /* locking code that is common to several kinds */
	/* Subsystems, which go before locks. */
	PATH_PERF,	 /* contexts of perf events: switches and rotation */
	PATH_BREAKPOINT, /* accounting of breakpoint slots */
	PATH_UPROBE,
	PATH_GROUPS
};

enum path_group pathgroup_of(const char *function);
const char *pathgroup_name(enum path_group g); /* "rwsem"; "" for PATH_NONE */
/* -EINVAL: there is none of that name. */
int pathgroup_parse(const char *name, enum path_group *ret);

#endif
