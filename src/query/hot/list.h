/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HOT_INT_H
#define KONTEND_QUERY_HOT_INT_H

#include "../internal.h"
#include "kontend/profile.h"
#include "kontend/query-hot.h"
#include "kontend/query-zoom.h"

enum { HOT_EVENTS = 4 };

/*
 * The events of a profile that shows several: their samples have different units, so each event
 * has a share of its own, and the share of a row is their mean.
 */
struct hot_events {
	unsigned n; /* up to HOT_EVENTS; the mean has all others, too */
	const char *names[HOT_EVENTS];
	uint8_t slots[EVENTLIST_MOST];	/* by number of the event */
	uint64_t total[EVENTLIST_MOST]; /* period, or samples, by slot */
	unsigned n_slots;
};

/* hot/sum.c: what the samples add up to, by whatever makes a row. */
struct hot_row {
	uint64_t id, key;
	uint64_t n, weight, wait_ns;
	uint64_t of_event[HOT_EVENTS]; /* weight, see struct hot_events */
	uint64_t groups[PATH_ALL];     /* samples */
	struct profile_cell first;     /* one of its cells */
	uint32_t func;		       /* innermost, of the first */
};

struct hot_rows {
	struct query *q;
	const struct profile *p;
	enum query_hot_by by;
	bool locks, lines;
	const struct query_zoom *zoom; /* NULL: everything */
	struct hot_row *rows;
	size_t n, cap, total; /* total: with those that are too narrow */
	struct hot_events events;
	struct map64 index;		   /* key -> row */
	uint8_t *groups;		   /* by stack */
	uint64_t samples, weight, wait_ns; /* of everything */
	struct query_hot_cpus cpus;	   /* by group */
};

/* Of the row that a cell with this innermost function belongs to. */
uint64_t hot_key(const struct hot_rows *h, const struct profile_cell *c, uint32_t func);
uint32_t hot_leaf(const struct hot_rows *h, uint32_t stack);
static inline uint64_t hot_id(uint64_t key)
{
	uint64_t id = hash_u64(key + 1);

	return id ? id : 1;
}
/* Rows lie in the query's arena. 0 or -ENOMEM. */
int hot_sum(struct hot_rows *h);
/* By stack of the profile, worked out once a frame, in the arena; NULL: no memory. */
uint8_t *hot_groups(struct query *q);
enum path_group hot_group_of_chain(struct query *q, const uint64_t *frames, uint32_t n);
/* The task of samples whose task is not kept: it has ended, or there was no room. */
const char *hot_no_task(const struct query *q);
bool hot_is_clock(const struct query *q); /* what is sampled is one of the kernel's clocks */
bool hot_is_lock_path(enum path_group g);
/* "[kernel]", "[module]", or the file's name. */
const char *hot_object_name(struct query *q, uint32_t func);
/*
 * sum.c: asks for the names of functions, of those that were sampled or of whole call
 * chains, and waits for them. So nothing is added up before its name is known. 0 or -ENOMEM.
 */
int hot_load_leaves(struct query *q);
int hot_load_chains(struct query *q);
/* zoom.c: is it in the part that is looked at? h->groups is needed. */
bool hot_zoom_sample(const struct hot_rows *h, const struct profile_cell *c);
bool hot_zoom_wait(struct query *q, const struct query_zoom *z, const struct query_where *w);

/* How much of its time the event of the profile counted, as the latest look found our own. */
int hot_find_share(struct query *q, const struct eventlist_event *d, struct query_hot_sum *s);

#endif
