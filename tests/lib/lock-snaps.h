/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_LOCK_SNAPS_H
#define KONTEND_TESTS_LOCK_SNAPS_H

#include "kontend/locksnap.h"
#include "kontend/sleptsnap.h"
#include "kontend/usersnap.h"
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
/*
 * Functions of sleepers, to be added to synth_kallsyms, and the frames of tasks that sleep in them.
 */
enum lock_snap_sleep {
	LOCK_SNAP_VFORK,      /* kernel_clone */
	LOCK_SNAP_LOG,	      /* jbd2_log_wait_commit < ext4_sync_file */
	LOCK_SNAP_LOG_THREAD, /* folio_wait_bit_common, in the thread of the log */
	LOCK_SNAP_LOCK,	      /* vfs_write: snapshots do not have the function of the lock */
	LOCK_SNAP_PIPE,	      /* anon_pipe_read: waits for work */
	LOCK_SNAP_PAGE,	      /* folio_wait_bit_common */
	LOCK_SNAP_UNKNOWN,    /* a function that shows no cause */
	LOCK_SNAP_WORK,	      /* __flush_work < __x64_sys_fsync */
	LOCK_SNAP_FUSE,	      /* request_wait_answer */
	LOCK_SNAP_SLEEPS
};
extern const char lock_snap_symbols[];
/* A blocked task that last ran at @ran_ns; other members of @b may be set. */
void lock_snap_blocked(struct locksnap *s, struct locksnap_blocked b, const char *comm,
		       enum lock_snap_sleep sleep, uint64_t ran_ns);
void lock_snap_emit(struct synth *synth, struct locksnap *s, uint64_t t);
/* The same, but taken later than the tick that it belongs to, over some time. */
void lock_snap_emit_late(struct synth *synth, struct locksnap *s, uint64_t t, uint64_t taken_ns,
			 uint64_t cost_ns);
/* Sums of sleeps in state D, as of their own time; @s is empty then. */
void lock_snap_emit_users(struct synth *synth, struct usersnap *s);
void lock_snap_emit_slept(struct synth *synth, struct sleptsnap *s);

#endif
