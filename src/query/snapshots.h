/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_SNAPSHOTS_H
#define KONTEND_SRC_QUERY_SNAPSHOTS_H

#include "internal.h"
#include "kontend/ended.h"
#include "kontend/held.h"
#include "kontend/sections.h"
#include "kontend/snapshot.h"
#include "perf/snapshot.h"

/*
 * Rows of things that are in earlier snapshots but not in the last one (ended.h); they follow the
 * rows of the last one. A table has two adjacent columns for them: whether the thing has ended, and
 * when a snapshot last had it. Screens and texts show the second one if there is such a row.
 */
struct query_ended {
	enum ended_kind kind;
	uint32_t *at; /* index in struct ended, by row */
	size_t n;
};

/* Finds those of the model; in the query's arena. 0 or -ENOMEM. */
int query_ended(struct query *q, enum ended_kind kind, struct query_ended *ret);
/* The number for which the model had no room. */
uint64_t query_ended_more(const struct query *q, enum ended_kind kind);
/* The columns with the second one shown if needed; NULL: no memory. */
const struct column *query_ended_columns(struct query *q, const struct query_ended *e,
					 const struct table_kind *kind, size_t ended);
/* Fills both columns of row @i of @e; @v: the first one. */
void query_ended_fill(const struct query *q, const struct query_ended *e, size_t i,
		      struct value *v);
/* The last snapshot that had row @i: a shallow copy. */
struct upsnap query_ended_upsnap(const struct query *q, const struct query_ended *e, size_t i);

/*
 * A decoded snapshot. It is decoded again if there is a newer one than in the last frame, and stays
 * the same during a frame. `= {0}` is empty.
 */
struct query_decoded {
	const struct snapshot *of; /* the source of it */
	uint64_t time_ns;
	size_t len;
	int code; /* result of decoding */
	struct held held;
};

void query_holds_deinit(struct query *q); /* holds/snapshot.c */
/* Decodes @s of kind @k into @snap, which has the state @d. Returns false if it cannot be read. */
bool query_decode(struct query *q, struct query_decoded *d, const struct sections *k, void *snap,
		  const struct snapshot *s);
/* Why there is no snapshot of @kind. @none: the reason if the input lacks them. */
const char *query_decode_why(const struct query *q, uint16_t kind, const char *none);

#endif
