/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PATHGROUP_H
#define KONTEND_PATHGROUP_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * What a kernel function is busy with, as far as contention is concerned. A call chain belongs to
 * the kernel's subsystem that it passes (perf, breakpoints, uprobes), else to the kind of lock.
 */
enum path_group {
	PATH_NONE,
	PATH_IRQ_OFF, /* of a clock's samples: it may have run with interrupts off just before */
	PATH_IDLE,    /* nothing to do */
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
	/* From here on those of one's own: see struct pathgroups. */
};

enum path_group pathgroup_of(const char *function);
/* Does it end a region without interrupts? */
bool pathgroup_allows_irqs(const char *function);
const char *pathgroup_name(enum path_group g); /* "rwsem"; "" for PATH_NONE */
/* -EINVAL: there is none of that name. */
int pathgroup_parse(const char *name, enum path_group *ret);

/*
 * Groups of one's own, and functions that are added to those above. `= {0}` has none. Their numbers
 * begin at PATH_GROUPS; all numbers are below PATH_ALL.
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
		char name[PATHGROUP_PATTERN]; /* without underscores before it; not ended */
		uint8_t length, group;
		bool prefix; /* of names that begin so */
	} rules[PATHGROUP_RULES];
};

/* Adds functions, separated by blanks, to group @name, new or known. -EINVAL with @err. */
int pathgroup_add(struct pathgroups *own, const char *name, const char *functions,
		  struct error *err);
/* As pathgroup_of(), _name() and _parse(), with those of one's own; @own may be NULL. */
enum path_group pathgroup_find(const struct pathgroups *own, const char *function);
const char *pathgroup_title(const struct pathgroups *own, enum path_group g);
int pathgroup_lookup(const struct pathgroups *own, const char *name, enum path_group *ret);

#endif
