/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STRAY_H
#define KONTEND_STRAY_H

#include "kontend/map64.h"
#include "kontend/wait.h"

/* The sleeping waits in flight of a task that the table of tasks has no room for. */
struct stray {
	int32_t tid;
	uint32_t depth;
	uint32_t waits[WAIT_DEPTH]; /* indices into the wait pool, innermost last */
	uint32_t next_free;
};

/* By tid, as long as they wait. Entry 0 is never used. */
struct stray_table {
	struct stray *strays;
	size_t n, cap;
	uint32_t free, in_use;
	struct map64 by_tid;
};

void stray_table_deinit(struct stray_table *t);
/* Into an empty table. 0, or -ENOMEM with @dst to be given to stray_table_deinit(). */
int stray_table_copy(struct stray_table *dst, const struct stray_table *src);
/* NULL: it waits for nothing. */
struct stray *stray_find(const struct stray_table *t, int32_t tid);
/* Made if absent; NULL: there are too many, or no memory. */
struct stray *stray_get(struct stray_table *t, int32_t tid);
/* It waits for nothing any more. */
void stray_put(struct stray_table *t, struct stray *s);

#endif
