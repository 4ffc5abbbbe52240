/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_LOCKS_H
#define KONTEND_RUN_LOCKS_H

#include "kontend/error.h"
#include "kontend/live.h"
#include "kontend/lock-requests.h"
#include "kontend/opts.h"

struct kerntypes;
struct run_locks;

/* Looks at whose locks they are, who holds them and waits. Where that cannot be known here, the
 * snapshots say why. -ENOMEM. */
struct target;
int run_locks_new(struct run_locks **ret, const struct opts *o, const struct target *target,
		  struct kerntypes *types, struct error *err);
void run_locks_child(struct run_locks *r, int pid);	     /* of a command; NULL is fine */
struct snapshot_source *run_locks_look(struct run_locks *r); /* borrowed */
struct lock_requests *
run_locks_ask(struct run_locks *r);	  /* for the engine; borrowed; NULL of NULL */
void run_locks_free(struct run_locks *r); /* after the source and the engine; NULL is fine */

#endif
