/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_LOCK_SNAPS_H
#define KONTEND_TESTS_LOCK_SNAPS_H

#include "kontend/locksnap.h"
#include "synth.h"

/* Snapshots of locks, added piece by piece. Failures abort. */
void lock_snap_name(struct locksnap *s, uint64_t addr, enum locksnap_kind kind, int cpu, int pid,
		    const char *comm, const char *text, uint32_t offset);
/* The name that was added last is of this inode's lock. */
void lock_snap_file(struct locksnap *s, uint64_t ino, uint32_t generation, uint32_t dev);
/* A waiter of the queue that is added next. */
void lock_snap_waiter(struct locksnap *s, uint32_t position, int pid, int tid, const char *comm,
		      bool reader);
/* The snapshot as of @t; @s is empty then. */
void lock_snap_emit(struct synth *synth, struct locksnap *s, uint64_t t);
/* The same, but taken later than the tick that it belongs to, over some time. */
void lock_snap_emit_late(struct synth *synth, struct locksnap *s, uint64_t t, uint64_t taken_ns,
			 uint64_t cost_ns);

#endif
