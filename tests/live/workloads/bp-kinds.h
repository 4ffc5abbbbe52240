/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_BP_KINDS_H
#define KONTEND_TESTS_BP_KINDS_H

#include "bp-holder.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* A way to have perf events: makes them in the calling process and prints what it made. */
struct bp_kind {
	const char *name;
	void (*make)(const char *name, int cpu);
};

extern volatile long bp_watched[8]; /* what breakpoints watch */

const struct bp_kind *bp_kind_find(const char *name);
/* The kernel's count of the event that the calling process made last. */
uint64_t bp_count(void);

/* Shared by the parts of bp-kinds: a failure ends the process with a sentence. */
int bp_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
struct perf_event_attr bp_attr(void); /* a word of bp_watched, written to */
/* As in @attr, opened by the calling thread, which holds it as @fd; fd < 0: no descriptor. */
struct bp_made bp_made_of(const char *kind, const char *role, const struct perf_event_attr *attr,
			  int fd);
void bp_print(const struct bp_made *m);
void bp_die(const char *what);
/* A child that waits for its end, after @first, in which it may set up things. */
pid_t bp_child(void (*first)(void *arg), void *arg);

/* bp-pass.c: a descriptor handed over a socket; "shared": the sender keeps his. */
void bp_make_passed(const char *name, int cpu);
void bp_make_shared(const char *name, int cpu);

/* bp-ptrace.c */
void bp_make_ptrace(const char *name, int cpu);
void bp_make_ptrace_off(const char *name, int cpu);

#endif
