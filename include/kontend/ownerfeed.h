/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OWNERFEED_H
#define KONTEND_OWNERFEED_H

#include "kontend/error.h"
#include "kontend/feed.h"
#include "kontend/target.h"

/*
 * Writes into the rings who has the lock when a task begins to wait for it (ownerrec.h), by a BPF
 * program on lock:contention_begin. It costs about as much as that event itself: only when asked
 * for. Of threads and CPUs that were named it tells of these alone; elsewhere of all tasks, also
 * of processes, as the program does not know whom they fork, and of cgroups.
 */
struct kerntypes;
struct ownerfeed;

/* Loads the program, for @target; NULL: all. -ENOTSUP when kontend was built without BPF, else what
 * the kernel said. */
int ownerfeed_new(struct ownerfeed **ret, const struct target *target, struct kerntypes *types,
		  struct error *err);
struct feed *ownerfeed_feed(struct ownerfeed *f); /* NULL of NULL */
/*
 * From here on it is called. After the events of perf have been opened: what it writes must come
 * behind their records, and the kernel calls whoever was there first.
 */
int ownerfeed_start(struct ownerfeed *f, struct error *err);
void ownerfeed_free(struct ownerfeed *f); /* NULL is fine */

#endif
