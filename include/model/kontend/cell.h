/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CELL_H
#define KONTEND_CELL_H

#include "kontend/cell-owner.h"
#include "kontend/heat.h"
#include "kontend/hist.h"
#include "kontend/recent.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell_key {
	uint32_t lock, stack, task;
	uint16_t cpu;
	uint32_t owner;
};

/*
 * Time waited, by (lock, stack, task, cpu, owner): the finest grain kept. Tables by lock,
 * caller, task, process, type, CPU, cgroup, stack or owner are sums over cells. Most cells of a
 * large model have one wait, whose duration says everything; so a cell has room for that only, in
 * one cache line. Statistics of several waits are in the table's `more`.
 */
struct cell {
	uint32_t lock, stack, task, owner;
	uint16_t cpu;
	uint8_t one;			    /* a wait has finished, and there is no `more` */
	uint8_t in_open : 1, in_closed : 1; /* the bucket where the one wait ended */
	uint8_t doubt : 1, doubt_open : 1, doubt_closed : 1; /* waits are left out: ever, there */
	uint8_t unsplit : 1; /* of some it is not known how long they spun */
	uint8_t unlost : 1;  /* or for how long a CPU was idle meanwhile */
	uint8_t unpar : 1; /* or, of its one wait, how long other threads ran; else they did not */
	uint32_t lost_ns;  /* while a CPU was idle; with `more` it is there */
	uint32_t spun_ns;  /* of mutexes that spin and sleep; with `more` it is there */
	uint32_t more;	   /* index; 0: none */
	uint64_t total_ns; /* of finished waits */
	uint64_t last_ns;  /* when the latest one ended */
	uint64_t cur_wait_ns,
		rate_wait_ns; /* waited in the open / closed bucket, finished or not */
};

enum { CELL_FEW = 20 };

/* Figures of a cell with more than one wait. */
struct cell_stats {
	uint64_t n; /* finished waits */
	uint64_t min_ns, max_ns;
	uint64_t waited_ns; /* by waits that ended, failed or not, since the sums began */
	uint64_t spun_ns;   /* the part of it in which mutexes spun, */
	uint64_t lost_ns;   /* and that in which a CPU was idle */
	/* How long other threads of the process ran, together, in waits of that length. */
	uint64_t par_ns, par_of_ns;
	uint32_t failed;	/* ends with ret != 0 */
	uint32_t cur_n, rate_n; /* in the open / closed bucket */
	uint32_t wide; /* group of references to its histogram; 0: its buckets are in `few` */
	uint8_t few[CELL_FEW];
};

/* The same of any cell. */
struct cell_sums {
	uint64_t n, min_ns, max_ns; /* without waits: 0, UINT64_MAX, 0 */
	uint64_t waited_ns, spun_ns, lost_ns, par_ns, par_of_ns;
	uint32_t rate_n, failed;
};

#define CELL_NONE UINT32_MAX

struct cell_table {
	struct cell *cells; /* dense: 0..n-1 all in use */
	size_t n, cap;
	uint32_t max;
	struct cell_stats *more; /* 0 is no entry */
	size_t n_more, cap_more;
	uint32_t free_more; /* list through `wide` */
	/* A bit a cell: set where something is in the open or closed bucket, maybe where not. */
	uint64_t *touched;
	uint32_t *slots; /* open addressing: some bits of the hash, index + 1; 0 = free */
	size_t mask;
	struct hist_pool hists;
	struct recent recent; /* of the last minute; nothing unless its `max` is set */
	struct heat heat;     /* by time and length; the same */
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

/*
 * A wait has finished, @within_ns of it since the sums began; its part in the open bucket is added
 * by cell_wait(). 0, or -ENOMEM with nothing changed.
 */
int cell_add(struct cell_table *t, struct cell *c, uint64_t wait_ns, uint64_t within_ns,
	     uint64_t end_ns);
void cell_doubt(struct cell_table *t, struct cell *c); /* one has gone, and is left out */
int cell_fail(struct cell_table *t, struct cell *c, uint64_t within_ns); /* it got nothing */
/* So much of it was spinning; 0, or -ENOMEM with nothing changed. */
int cell_spin(struct cell_table *t, struct cell *c, uint64_t ns);
int cell_lose(struct cell_table *t, struct cell *c, uint64_t ns); /* and a CPU was idle */
/* Other threads of the process ran for @ns, together, in waits of @of_ns; likewise. */
int cell_par(struct cell_table *t, struct cell *c, uint64_t ns, uint64_t of_ns);

/*
 * Likely index of the cell (its hash is the same: compare the key before use), or CELL_NONE. Its
 * memory is asked for but not waited for: a wait that begins now needs it when it ends.
 */
uint32_t cell_prefetch(const struct cell_table *t, struct cell_key key);
/* The same of a wait that begins soon: for cell_prefetch(). */
void cell_expect(const struct cell_table *t, struct cell_key key);

static inline struct cell_key cell_key(const struct cell *c)
{
	return (struct cell_key){c->lock, c->stack, c->task, c->cpu, c->owner};
}

static inline bool cell_is(const struct cell *c, const struct cell_key *k)
{
	return c->lock == k->lock && c->stack == k->stack && c->task == k->task &&
	       c->cpu == k->cpu && c->owner == k->owner;
}

static inline uint64_t cell_n(const struct cell_table *t, const struct cell *c)
{
	return c->more ? t->more[c->more].n : c->one;
}
struct cell_sums cell_sums(const struct cell_table *t, const struct cell *c);
/* Adds the histogram of the cell to @sum. */
void cell_hist(const struct cell_table *t, const struct cell *c, struct hist *sum);

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
 * Without memory for the sums nothing changes.
 */
uint64_t cell_rekey(struct cell_table *t,
		    bool (*give)(void *ctx, const struct cell *c, struct cell_key *ret), void *ctx);
/* The open bucket, which began and ends there, becomes the closed one. */
void cell_tick(struct cell_table *t, uint64_t begin_ns, uint64_t end_ns);
/* Words of `touched`; all of its bits set, for cells that were put there without it. */
static inline size_t cell_words(const struct cell_table *t)
{
	return (t->cap + 63) / 64;
}
void cell_touch_all(struct cell_table *t);
void cell_index(struct cell_table *t); /* slots of cells that were put there without */
void cell_table_clear(struct cell_table *t);
size_t cell_bytes(const struct cell_table *t); /* that the table holds */

#endif
