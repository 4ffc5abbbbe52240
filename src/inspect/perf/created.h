/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_CREATED_H
#define KONTEND_INSPECT_CREATED_H

#include "created-shared.h"
#include "kontend/error.h"
#include "kontend/perfsnap.h"

struct bpf_object;
struct inspect_bpf;
struct kerntypes;

/*
 * Creators of breakpoints since the first snapshot: reported by BPF programs or, without them,
 * found as breakpoints that are new in a snapshot.
 */
enum { CREATED_KNOWN = 512 };

struct created {
	struct bpf_object *object; /* NULL: found by snapshots */
	struct created_state *state;
	int links[2], map;
	size_t n_links;
	/* Found by snapshots: */
	struct created_process known[CREATED_KNOWN];
	size_t n;
	uint64_t seen_id; /* the newest breakpoint of all snapshots */
	uint64_t lost;	  /* creators without room */
	bool has_looked;
	uint64_t first_ns; /* of the first snapshot */
	/* And the most slots that were taken at a time in any snapshot. */
	uint32_t most[CREATED_CPUS][CREATED_POOLS];
	struct error why; /* why they are not reported one by one, if that was requested */
};

/* Attaches the programs; on failure @c->why has the reason, and snapshots are compared. */
void created_attach(struct created *c, const struct inspect_bpf *i, struct kerntypes *types);
/* Adds the creators to a snapshot that has its events and slots. 0 or -ENOMEM. */
int created_fill(struct created *c, struct perfsnap *s);
void created_deinit(struct created *c);

#endif
