/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_SLEPT_H
#define KONTEND_SNAPSHOT_SLEPT_H

#include "kontend/error.h"
#include "kontend/sleptsnap.h"
#include "kontend/usersnap.h"

struct snapshot_users_lock;
struct snapshot_users_path;
struct usersite_stack;
struct target;
struct waitfeed;

/*
 * Sums of sleeps in state D (sleptsnap.h), and of those for locks of programs (usersnap.h), by
 * programs at every switch and wakeup. The machine pays for that until this is freed, so it is on
 * only on request. For one thread.
 */
struct snapshot_slept;

enum { SNAPSHOT_SLEPT_ALL_PPM = 1000000 }; /* nothing is left out */

/*
 * @w: measures sleeps, and must outlive this. @target: borrowed; NULL: all tasks. @limit_ppm: of
 * all CPUs; above it, less is measured. 0, or negative with the reason, as the kernel's refusal of
 * the programs.
 */
int snapshot_slept_new(struct snapshot_slept **ret, struct waitfeed *w, const struct target *target,
		       uint32_t limit_ppm, struct error *err);
/*
 * Of a command that is about to begin: the process that runs it. Attaches the programs, so that
 * none of its sleeps is missing. Before the first snapshot.
 */
void snapshot_slept_child(struct snapshot_slept *s, int pid);
/*
 * Copies the sums since the programs were attached, by the first call if not before, into @ret,
 * which is cleared first; or the reason why there are none. 0 or a negative errno.
 */
int snapshot_slept_take(struct snapshot_slept *s, struct sleptsnap *ret);
/* The same of sleeps for locks of programs; and the locks that have no name yet, each once. */
int snapshot_slept_users(struct snapshot_slept *s, struct usersnap *ret);
size_t snapshot_slept_new_locks(struct snapshot_slept *s, struct snapshot_users_lock *ret,
				size_t most);
/*
 * Stacks of sleeps in futex(2) of which it is not known whether they are for a lock, each place
 * once, at most @most; and the answers (snapshot_users_ask()). 0 or a negative errno.
 */
size_t snapshot_slept_stacks(struct snapshot_slept *s, struct usersite_stack *ret, size_t most);
int snapshot_slept_learn(struct snapshot_slept *s, const struct snapshot_users_path *paths,
			 size_t n);
void snapshot_slept_free(struct snapshot_slept *s); /* NULL is fine */

#endif
