/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PATHGROUP_H
#define KONTEND_PATHGROUP_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel work that a function belongs to, for contention. A call chain belongs to the subsystem
 * that it passes (perf, breakpoints, uprobes), else to the kind of lock.
 */
enum path_group {
	PATH_NONE,
	PATH_IRQ_OFF, /* of clock samples: interrupts may have been off just before */
	PATH_IDLE,    /* nothing to do */
	PATH_SPINLOCK,
	PATH_RWLOCK,
	PATH_MUTEX,
	PATH_RTMUTEX,
	PATH_SEMAPHORE,
	PATH_RWSEM,
	PATH_PERCPU_RWSEM,
	PATH_LOCK, /* locking code shared by several kinds */
	/* Subsystems; they take precedence over locks. */
	PATH_PERF,	 /* contexts of perf events: switches and rotation */
	PATH_BREAKPOINT, /* accounting of breakpoint slots */
	PATH_UPROBE,
	PATH_GROUPS
	/* User-defined groups follow: see struct pathgroups. */
};

enum path_group pathgroup_of(const char *function);
/* True if it ends a section with interrupts off. */
bool pathgroup_allows_irqs(const char *function);
const char *pathgroup_name(enum path_group g); /* "rwsem"; "" for PATH_NONE */
/* -EINVAL: no such group. */
int pathgroup_parse(const char *name, enum path_group *ret);

/*
 * User-defined groups, and functions that users add to the groups above. `= {0}` has none.
 * User-defined numbers begin at PATH_GROUPS; all numbers are below PATH_ALL.
 */
enum {
	PATHGROUP_OWN = 16,
	PATHGROUP_RULES = 256,
	PATHGROUP_NAME = 24,
	PATHGROUP_PATTERN = 64,
	PATH_ALL = PATH_GROUPS + PATHGROUP_OWN,
};

struct pathgroups {
	char names[PATHGROUP_OWN][PATHGROUP_NAME];
	unsigned n_names, n_rules;
	struct pathgroup_rule {
		char name[PATHGROUP_PATTERN]; /* without leading underscores; no NUL */
		uint8_t length, group;
		bool prefix; /* matches names that begin with it */
	} rules[PATHGROUP_RULES];
};

/* Adds blank-separated functions to group @name, new or known. -EINVAL sets @err. */
int pathgroup_add(struct pathgroups *own, const char *name, const char *functions,
		  struct error *err);
/* As pathgroup_of(), _name() and _parse(), with user-defined groups; @own may be NULL. */
enum path_group pathgroup_find(const struct pathgroups *own, const char *function);
const char *pathgroup_title(const struct pathgroups *own, enum path_group g);
int pathgroup_lookup(const struct pathgroups *own, const char *name, enum path_group *ret);

#endif
