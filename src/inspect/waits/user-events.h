/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USER_EVENTS_H
#define KONTEND_INSPECT_LOCKS_USER_EVENTS_H

#include "kontend/error.h"
#include "kontend/map64.h"
#include "kontend/snapshot-users.h"
#include "kontend/usersnap.h"
#include "slept-price.h"
#include "user-shared.h"

struct bpf_object;

/* Counts of user.bpf.c, in the object that includes it. */
struct user_events {
	struct raw_user_state *state; /* shared with the programs; NULL: not opened */
	struct raw_user_counts sum;   /* of all CPUs, from the last look */
	struct raw_user_counts *counts;
	size_t n_cpus;
	int locks, new_locks, sites, stacks, by_cpu; /* descriptors of maps; borrowed */
	uint64_t min_ns;
	struct slept_price price;
	/* Sums of each lock that earlier snapshots had. */
	struct user_seen {
		uint64_t n[RAW_USER_MODES], ns[RAW_USER_MODES];
		uint64_t lost_ns[RAW_USER_MODES], lost_of_ns[RAW_USER_MODES];
	} * seen;
	size_t n_seen, cap_seen;
	struct map64 by_lock;
	bool taken;
};

int user_events_open(struct user_events *u, struct bpf_object *o, uint64_t min_ns,
		     struct error *err);
void user_events_close(struct user_events *u);
/* The programs do their work, or not. */
void user_events_run(struct user_events *u, bool on);
/* Makes the programs leave out more while their price is too high; returns the level. */
unsigned user_events_govern(struct user_events *u, struct slept_look look);
/* Fills in all but the times. 0 or a negative errno. */
int user_events_take(struct user_events *u, struct usersnap *ret);
/* Locks that have no name yet, each once; returns how many, at most @most. */
size_t user_events_new(struct user_events *u, struct snapshot_users_lock *ret, size_t most);
/* Stacks of sleeps whose paths are not known, at most @most; more are copied from now on. */
size_t user_events_stacks(struct user_events *u, struct usersite_stack *ret, size_t most);
/* From now on these paths are known. 0 or a negative errno. */
int user_events_learn(struct user_events *u, const struct snapshot_users_path *paths, size_t n);

/* One row of the programs: what is new in it. 0 or -ENOMEM. */
int user_events_add(struct user_events *u, uint64_t lock, const struct raw_user_lock *l,
		    struct usersnap *ret);

#endif
