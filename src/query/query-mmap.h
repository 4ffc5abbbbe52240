/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_MMAP_H
#define KONTEND_SRC_QUERY_MMAP_H

#include "kontend/query-mmap.h"
#include "query-int.h"

/* What the files about mmap_locks share. */

/* Whose mmap_lock a lock is. Texts are "" and pid is 0 where that is not known. */
struct query_mmap_owner {
	int32_t pid;
	const char *comm, *memcg;
};

/* Of the lock at @addr: false: it is none, or nobody knows. */
bool query_mmap_owner(const struct query *q, uint64_t addr, struct query_mmap_owner *ret);
/* The row of @o, whose lock is at @addr. */
uint64_t query_mmap_row_id(enum query_by by, const struct query_mmap_owner *o, uint64_t addr,
			   bool reader);

#endif
