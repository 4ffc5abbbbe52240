/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_STACKS_H
#define KONTEND_QUERY_STACKS_H

#include "kontend/locktype.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct query_scope;
struct query_zoom;

/* Waits of tasks of one name, in one call chain, for locks of one type. */
struct query_stacks_row {
	const char *comm; /* NULL: not known */
	/* Names, outermost first; the last one is the call site, the locking code is left out. */
	const char **frames;
	uint32_t n_frames; /* 0: no call chain */
	enum lock_type type;
	bool waiting; /* waits in flight, with the time they have lasted; else finished ones */
	uint64_t n, total_ns;
};

/* Each (comm, frames, type, waiting) once, sorted by these. */
struct query_stacks {
	struct query_stacks_row *rows;
	size_t n;
};

/* @scope, @zoom: NULL is everything. 0 or -ENOMEM. */
int query_stacks(struct query *q, const struct query_scope *scope, const struct query_zoom *zoom,
		 struct query_stacks *ret);

#endif
