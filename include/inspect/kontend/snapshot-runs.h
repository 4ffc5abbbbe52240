/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_RUNS_H
#define KONTEND_SNAPSHOT_RUNS_H

#include "kontend/locksnap.h"

/*
 * Adds to snapshots of locks how holders and waiters are scheduled, as far as /proc and the files
 * of cgroups say, and what a hypervisor has taken from the CPU of a holder. For one thread at a
 * time.
 */
struct snapshot_runs;

/* @proc: "/proc", or a tree that a test made; borrowed. NULL: no memory. */
struct snapshot_runs *snapshot_runs_new(const char *proc);
/*
 * @steal_only: the rest is known better, by BPF. Changes since a look are known from the
 * second one on. 0 or -ENOMEM.
 */
int snapshot_runs_add(struct snapshot_runs *r, struct locksnap *s, bool steal_only);
void snapshot_runs_free(struct snapshot_runs *r); /* NULL is fine */

#endif
