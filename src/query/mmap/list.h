/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_MMAP_H
#define KONTEND_SRC_QUERY_MMAP_H

#include "../internal.h"
#include "kontend/mmlock.h"
#include "kontend/query-hist.h"
#include "kontend/query-mmap.h"

struct lock;

/* Shared by the files about mmap_locks. */

/* The owner of an mmap_lock. Texts are "" and pid is 0 where that is not known. */
struct query_mmap_owner {
	int32_t pid;
	const char *comm, *memcg;
	bool memcg_guessed; /* it is that of who waited last */
};

/*
 * Of the lock at @addr, with @l, its waits; NULL: none. False: it is none, or not known to be one.
 */
bool query_mmap_owner(const struct query *q, uint64_t addr, const struct lock *l,
		      struct query_mmap_owner *ret);
/* Of the address space in entry @i of the model's; the address of its lock, or what stands for it.
 */
uint64_t query_mmap_owner_of(const struct query *q, size_t i, struct query_mmap_owner *ret);
/*
 * Of a lock: the row of table "mmap" that it belongs to; 0: it is no mmap_lock, or not known to be.
 */
uint64_t query_mmap_id(const struct query *q, enum query_by by, uint32_t lock);
const char *query_mmap_title(struct query *q, enum query_by by, uint64_t id);
/* The row of @o, whose lock is at @addr. */
uint64_t query_mmap_row_id(enum query_by by, const struct query_mmap_owner *o, uint64_t addr,
			   bool reader);

/* Acquisitions of several locks of one mode, summed up. */
struct query_mmap_events {
	uint64_t acquired, failed;
	uint64_t before;  /* acquired until the last burst ended */
	double deviation; /* from the same part of each burst: root of the sum of squares */
	struct query_hist wait, hold; /* without bars and percentiles: */
	uint32_t first;		      /* the list of modes that they are the sums of, see below */
};

/* Lists through the modes of the model's entries: mode w of entry i is 2 * i + w, + 1. */
void query_mmap_add(struct query_mmap_events *to, const struct mmlocks *l, uint32_t mode,
		    uint32_t *next);
/*
 * events.c: how far a count in bursts that is scaled up may be off the truth, in 95 of 100
 * cases. The events seen are a part of @all events of getting one; 0: they were not counted.
 * Negative: not known.
 */
double query_mmap_error(const struct query_mmap_events *e, const struct mmlocks *l, double scale,
			double all);
/* By how much one mode of an address space differs from the same part of each burst. */
double query_mmap_deviation(const struct mmlock_mode *m, const struct mmlocks *l);
/* The histograms of all in the list. */
void query_mmap_hists(const struct query_mmap_events *e, const struct mmlocks *l,
		      const uint32_t *next, struct hist *wait, struct hist *hold);

/* events.c: how long mmap_locks were held in a mode, by call path; their times. 0 or -ENOMEM.
 */
int query_mmap_paths(struct query *q, const struct query_scope *scope, bool write,
		     struct groups *ret);
void query_mmap_path_hist(struct query *q, const struct groups *gs, const struct group *g,
			  struct hist *ret);

/* hist.c: bars and percentiles of @h; the sums are in @ret already. 0 or -ENOMEM. */
int query_hist_make(struct query *q, const struct hist *h, struct query_hist *ret);

#endif
