/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAPGUARD_H
#define KONTEND_MAPGUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Protects a mapped file that another process may truncate: access beyond its new end raises
 * SIGBUS. In a guarded mapping it becomes zeros instead, and `broken` is set. Any thread
 * may add and remove guards; `= {0}` guards nothing.
 */
struct mapguard {
	uintptr_t from, end; /* whole pages */
	volatile sig_atomic_t broken;
	struct mapguard *next;
};

/* @g must not move until mapguard_del(). */
void mapguard_add(struct mapguard *g, void *map, size_t len);
void mapguard_del(struct mapguard *g);
/*
 * For SIGBUS handlers: true if the fault was in a guarded mapping, and the access can be retried.
 */
bool mapguard_fault(const siginfo_t *info);

#endif
