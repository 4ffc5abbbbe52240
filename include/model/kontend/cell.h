/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_H
#define KONTEND_CELL_H

#include "kontend/hist.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who held a lock when a wait for it began: an index of the task table, 0 = not known. With
 * OWNER_HINT it is but one of several readers that may have held it. OWNER_FREE: nobody did, it was
 * being passed on.
 */
enum { OWNER_NONE = 0, OWNER_HINT = 0x8000, OWNER_FREE = OWNER_HINT };

static inline uint32_t cell_owner_task(uint16_t owner)
{
	return owner & (OWNER_HINT - 1u);
}

struct cell_key {
	uint32_t lock, stack, task;
	uint16_t cpu, owner;
};

/*
 * What was waited, by (lock, stack, task, cpu, owner): the finest grain kept. Tables by lock,
 * caller, task, process, type, CPU, cgroup, stack or owner are sums over cells.
 */
struct cell {
	union {
		struct cell_key key;
		struct {
			uint32_t lock, stack, task;
			uint16_t cpu, owner;
		};
	};
	uint64_t n;	   /* finished waits */
	uint64_t total_ns; /* of finished waits */
	uint64_t min_ns, max_ns;
	uint64_t last_ns; /* when the latest one ended */
	uint32_t failed;  /* ends with ret != 0 */
	uint32_t hash;
	uint64_t cur_wait_ns,
		rate_wait_ns; /* waited in the open / closed bucket, finished or not */
	uint32_t cur_n, rate_n;
	uint64_t waited_ns; /* by waits that ended, failed or not, since the sums began */
	uint32_t hist[HIST_GROUPS];
};

#define CELL_NONE UINT32_MAX

struct cell_table {
	struct cell *cells; /* dense: 0..n-1 all in use */
	size_t n, cap;
	uint32_t max;
	/* A bit a cell: set where something is in the open or the closed bucket, maybe where not.
	 */
	uint64_t *touched;
	uint64_t *slots; /* open addressing: hash << 32 | index + 1; 0 = free */
	size_t mask;
	struct hist_pool hists;
};

int cell_table_init(struct cell_table *t, uint32_t max, uint32_t max_groups);
void cell_table_deinit(struct cell_table *t);
/* The cell, made if absent; NULL when the table is full (fold, then ask again). */
struct cell *cell_get(struct cell_table *t, struct cell_key key);
/* Something was waited in the open bucket. */
static inline void cell_wait(struct cell_table *t, struct cell *c, uint64_t wait_ns)
{
	size_t i = (size_t)(c - t->cells);

	t->touched[i / 64] |= 1ull << i % 64;
	c->cur_wait_ns += wait_ns;
}

/* A wait has finished; what of it lies in the open bucket was told by cell_wait() before. */
static inline void cell_add(struct cell_table *t, struct cell *c, uint64_t wait_ns, uint64_t end_ns)
{
	c->n++;
	c->cur_n++;
	c->total_ns += wait_ns;
	if (wait_ns < c->min_ns)
		c->min_ns = wait_ns;
	if (wait_ns > c->max_ns)
		c->max_ns = wait_ns;
	c->last_ns = end_ns;
	hist_pool_add(&t->hists, c->hist, wait_ns);
}

/*
 * Likely index of the cell (its hash is the same: compare the key before use), or CELL_NONE. Its
 * memory is asked for but not waited for: a wait that begins now needs it when it ends.
 */
uint32_t cell_prefetch(const struct cell_table *t, struct cell_key key);

static inline bool cell_key_equal(const struct cell_key *a, const struct cell_key *b)
{
	return a->lock == b->lock && a->stack == b->stack && a->task == b->task &&
	       a->cpu == b->cpu && a->owner == b->owner;
}

/*
 * Folds about half of the cells, those where least was waited for the longest time, into coarse
 * ones: (lock's `other`, STACK_OTHER, TASK_OTHER, cpu, OWNER_NONE). @coarse maps a lock index to
 * its type's `other`. Answers how many waits lost their identity. Indices of cells change.
 */
uint64_t cell_fold(struct cell_table *t, uint64_t now_ns,
		   uint32_t (*coarse)(const void *ctx, uint32_t lock), const void *ctx);
/*
 * Gives cells other keys, and adds up those whose keys are the same then. @give: false, or true
 * with the key that the cell has from now on. Answers how many waits are in those. Indices change.
 */
uint64_t cell_rekey(struct cell_table *t,
		    bool (*give)(void *ctx, const struct cell *c, struct cell_key *ret), void *ctx);
/* The open bucket becomes the closed one. */
void cell_tick(struct cell_table *t);
/* Words of `touched`; all of its bits set, for cells that were put there without it. */
static inline size_t cell_words(const struct cell_table *t)
{
	return (t->cap + 63) / 64;
}
void cell_touch_all(struct cell_table *t);
void cell_table_clear(struct cell_table *t);

#endif
