/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHORTSNAP_H
#define KONTEND_SHORTSNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Waits that the kernel only sums up because they are shorter than a threshold: the payload of
 * SNAPSHOT_SHORT. Sums are since the measurement began, so the difference of two snapshots covers
 * the time in between; a row keeps its place and its chain from one to the next.
 */
enum { SHORTSNAP_VERSION = 1, SHORTSNAP_FRAMES = 8, SHORTSNAP_TYPES = 64, SHORTSNAP_ROWS = 2048 };

/* The sums were not read at this time, but interpolated between two readings. */
enum { SHORTSNAP_ESTIMATED = 1 };

/* From the most detail to the least. */
enum shortsnap_level {
	SHORTSNAP_ALL,	     /* every wait, with its call chain */
	SHORTSNAP_THRESHOLD, /* waits from the threshold on, and sums of shorter ones */
	SHORTSNAP_COUNTS,    /* number of waits, without durations */
	SHORTSNAP_LEVELS,
};

/* Of the time of a row; each has an array of its own, and versions have only added some. */
enum shortsnap_part {
	SHORTSNAP_SPUN,	   /* by mutexes that spun */
	SHORTSNAP_LOST,	   /* while a CPU was idle, */
	SHORTSNAP_LOST_OF, /* by waits of which that is known */
	SHORTSNAP_PAR,	   /* no part: so long other threads ran, */
	SHORTSNAP_PAR_OF,  /* in waits of which that is known */
	SHORTSNAP_PARTS,
};

/* Waits with the same flags and the same call chain. */
struct shortsnap_row {
	uint64_t n, ns;
	uint32_t flags;			   /* LCB_F_*, of the begin */
	uint32_t n_frames;		   /* 0: not known, because there was no room */
	uint64_t frames[SHORTSNAP_FRAMES]; /* innermost first */
};

struct shortsnap_head {
	uint64_t from_ns;      /* start of the sums */
	uint64_t threshold_ns; /* current; 0: none */
	uint64_t level_ns;     /* time of the change to this level */
	uint64_t spent_ns[SHORTSNAP_LEVELS];
	uint64_t counted[SHORTSNAP_TYPES]; /* waits known only by number, by flags */
	uint64_t n_changes;		   /* changes of level or threshold so far */
	uint64_t most_ns;		   /* the highest threshold so far */
	uint64_t events;		   /* begins and ends seen */
	/* Of the overhead governor; 0: none. Millionths of the CPU time of all CPUs. */
	uint32_t target_ppm, cost_ppm;
	uint32_t event_ps; /* last sampled cost of a begin or end, in 1/1000 ns */
	uint32_t level;	   /* enum shortsnap_level */
	uint32_t n_rows;
	uint32_t flags; /* SHORTSNAP_ESTIMATED */
};

struct shortsnap {
	struct shortsnap_head head;
	const void *rows; /* borrowed from the payload, at any alignment: shortsnap_row() */
	const void *parts[SHORTSNAP_PARTS]; /* the same, after the rows, in ns; NULL: not known */
};

/* False: not a snapshot of this kind, or its number of rows is wrong. */
bool shortsnap_decode(const void *data, size_t len, struct shortsnap *ret);
struct shortsnap_row shortsnap_row(const struct shortsnap *s, uint32_t i); /* i < head.n_rows */
/* Row @i of @s with its sums since @before. */
struct shortsnap_row shortsnap_since(const struct shortsnap *s, const struct shortsnap *before,
				     uint32_t i);

/* That part of the ns of that row. False: not known. */
bool shortsnap_part_since(const struct shortsnap *s, const struct shortsnap *before, uint32_t i,
			  enum shortsnap_part part, uint64_t *ret);

/* Two consecutive snapshots. */
struct shortsnap_pair {
	struct shortsnap before, now;
	uint64_t before_ns, now_ns;
};

/*
 * The payload at the time @at_ns between the two, with linear interpolation of sums. Waits stay
 * whole, and sums never decrease, so the parts between several such times add up to the difference
 * of the two. 0, and *ret is the caller's to mem_free(); or -ENOMEM.
 */
int shortsnap_at(const struct shortsnap_pair *p, uint64_t at_ns, void **ret, size_t *ret_len);
const char *shortsnap_level_name(uint32_t level); /* "all", "threshold", "counts" */

#endif
