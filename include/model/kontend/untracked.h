/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UNTRACKED_H
#define KONTEND_UNTRACKED_H

#include "kontend/limits.h"
#include "kontend/map64.h"

/* The sleeping waits in flight of a task that the table of tasks has no room for. */
struct untracked {
	int32_t tid;
	uint32_t depth;
	uint32_t waits[WAIT_DEPTH]; /* indices into the wait pool, innermost last */
	uint32_t next_free;
};

/* By tid, as long as they wait. Entry 0 is never used. */
struct untracked_table {
	struct untracked *untracked;
	size_t n, cap;
	uint32_t free, in_use;
	struct map64 by_tid;
};

void untracked_table_deinit(struct untracked_table *t);
/* Into an empty table. 0, or -ENOMEM with @dst to be given to untracked_table_deinit(). */
int untracked_table_copy(struct untracked_table *dst, const struct untracked_table *src);
/* NULL: it waits for nothing. */
struct untracked *untracked_find(const struct untracked_table *t, int32_t tid);
/* Made if absent; NULL: there are too many, or no memory. */
struct untracked *untracked_get(struct untracked_table *t, int32_t tid);
/* The task waits for nothing any more. */
void untracked_put(struct untracked_table *t, struct untracked *s);

#endif
