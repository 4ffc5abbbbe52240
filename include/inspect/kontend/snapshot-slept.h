/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_SLEPT_H
#define KONTEND_SNAPSHOT_SLEPT_H

#include "kontend/error.h"
#include "kontend/sleptsnap.h"

struct kerntypes;
struct target;

/*
 * Programs at every switch and wakeup that sum up sleeps in state D: see sleptsnap.h. The machine
 * pays for them until this is freed, so they are attached only on request. For one thread.
 */
struct snapshot_slept;

/*
 * Of @target, which is borrowed, or NULL for all tasks. @types may be NULL, and may be freed after
 * this call. 0, or negative with the kernel's answer.
 */
int snapshot_slept_new(struct snapshot_slept **ret, const struct target *target,
		       struct kerntypes *types, struct error *err);
/* Of a command: the process that runs it. From any thread, before the first snapshot. */
void snapshot_slept_child(struct snapshot_slept *s, int pid);
/*
 * Copies the sums since the first call, which attaches the programs, into @ret, which is cleared
 * first; or the reason why there are none. 0 or a negative errno.
 */
int snapshot_slept_take(struct snapshot_slept *s, struct sleptsnap *ret);
void snapshot_slept_free(struct snapshot_slept *s); /* NULL is fine */

#endif
