/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAPGUARD_H
#define KONTEND_MAPGUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A mapped file that somebody makes shorter: what lies behind its new end is SIGBUS for whoever
 * looks at it. Within a guarded mapping it becomes zeros instead, and `broken` says so. Guards are
 * set and taken away by one thread at a time; `= {0}` is one that guards nothing.
 */
struct mapguard {
	uintptr_t from, end; /* whole pages */
	volatile sig_atomic_t broken;
	struct mapguard *next;
};

/* @g stays where it is until mapguard_del(). */
void mapguard_add(struct mapguard *g, void *map, size_t len);
void mapguard_del(struct mapguard *g);
/* For handlers of SIGBUS: true when it was one of these, and the access may be tried again. */
bool mapguard_fault(const siginfo_t *info);

#endif
