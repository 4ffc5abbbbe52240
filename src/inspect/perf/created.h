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
 * Creators of breakpoints since the first look: reported by BPF programs, or, without them, found
 * as new breakpoints by each look.
 */
enum { CREATED_KNOWN = 512 };

struct created {
	struct bpf_object *object; /* NULL: by looks */
	struct created_state *state;
	int links[2], map;
	size_t n_links;
	/* By looks: */
	struct created_process known[CREATED_KNOWN];
	size_t n;
	uint64_t seen_id; /* the newest breakpoint that a look has found */
	uint64_t lost;	  /* for which there was no room */
	bool has_looked;
	uint64_t first_ns; /* of the first look */
	/* And most slots that were taken at a time in any look. */
	uint32_t most[CREATED_CPUS][CREATED_POOLS];
	struct error why; /* why they are not reported one by one, if that was requested */
};

/* Attaches the programs; what is in the way is in @c's why, and then looks go on. */
void created_attach(struct created *c, const struct inspect_bpf *i, struct kerntypes *types);
/* Adds who has created any to a snapshot whose events and slots are there. 0 or -ENOMEM. */
int created_fill(struct created *c, struct perfsnap *s);
void created_deinit(struct created *c);

#endif
