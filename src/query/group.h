/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_GROUP_H
#define KONTEND_SRC_QUERY_GROUP_H

#include "kontend/query.h"

struct hist;

/* Where something was waited for: what a cell and a wait in flight have in common. */
struct query_where {
	uint32_t lock, stack, task;
	uint16_t cpu, owner;
};

/* What cells and waits in flight have in common, summed up. */
struct group {
	uint64_t id;
	uint64_t n, total_ns, min_ns, max_ns, last_ns;
	uint64_t rate_wait_ns, rate_n, failed;
	uint64_t inflight_ns; /* time that the sure waits in flight have lasted, together */
	uint64_t waited_ns;   /* since the sums began, by all sure waits, those in flight too */
	uint32_t waiting;
	uint32_t cells, waits; /* heads of its lists, as index + 1 */
	struct query_where first;
	uint32_t func;
	uint8_t type;
	bool many_locks, many_types, many_bases, many_callers;
};

struct groups {
	struct group *g;
	size_t n, cap, mask;
	uint32_t *slots; /* open addressing on the id */
	uint32_t *cell_next, *wait_next;
	uint32_t *lock_seen, stamp; /* scratch: locks met in the group at hand */
};

uint64_t query_id(struct query *q, enum query_by by, const struct query_where *w);
bool query_in_scope(struct query *q, const struct query_scope *s, const struct query_where *w);
int query_group(struct query *q, enum query_by by, const struct query_scope *scope,
		struct groups *ret);
void query_group_hist(struct query *q, const struct groups *gs, const struct group *g,
		      struct hist *ret);
/* Adds to what the caller has cost since `stamp` last changed; *best: the one that cost most. */
void query_heat(struct query *q, uint32_t *best, uint32_t stack, uint64_t ns);
uint32_t query_group_caller(struct query *q, const struct groups *gs, const struct group *g);
size_t query_group_locks(struct query *q, struct groups *gs, const struct group *g);

#endif
