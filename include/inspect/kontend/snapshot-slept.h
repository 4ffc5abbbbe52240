/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_SLEPT_H
#define KONTEND_SNAPSHOT_SLEPT_H

#include "kontend/error.h"
#include "kontend/sleptsnap.h"

struct bpf_map;
struct kerntypes;
struct target;

/*
 * Programs at every switch and wakeup that sum up sleeps in state D: see sleptsnap.h. The machine
 * pays for them until this is freed, so they are attached only on request. For one thread.
 */
struct snapshot_slept;

struct snapshot_slept_options {
	const struct target *target; /* borrowed; NULL: all tasks */
	/* Sleeps of so long are records in these rings as well (sleeprec.h); 0 or NULL: none. */
	uint64_t min_ns;
	const struct bpf_map *rings; /* borrowed for the call to snapshot_slept_new() */
};

/* @types may be NULL, and freed after this call. 0, or negative with the kernel's answer. */
int snapshot_slept_new(struct snapshot_slept **ret, const struct snapshot_slept_options *o,
		       struct kerntypes *types, struct error *err);
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
void snapshot_slept_free(struct snapshot_slept *s); /* NULL is fine */

#endif
