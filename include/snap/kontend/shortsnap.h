/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHORTSNAP_H
#define KONTEND_SHORTSNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Waits that the kernel only sums up, as they are shorter than a threshold: the payload of a
 * SNAPSHOT_SHORT. Sums are since measuring began, so that what came between two snapshots is their
 * difference; a row keeps its place and its chain from one to the next.
 */
enum { SHORTSNAP_VERSION = 1, SHORTSNAP_FRAMES = 8, SHORTSNAP_TYPES = 64, SHORTSNAP_ROWS = 2048 };

/* The sums were not read at this time, but estimated from those read before it and after it. */
enum { SHORTSNAP_ESTIMATED = 1 };

/* From the most that is told to the least. */
enum shortsnap_level {
	SHORTSNAP_ALL,	     /* every wait, with its call chain */
	SHORTSNAP_THRESHOLD, /* waits from the threshold on; of shorter ones the sums */
	SHORTSNAP_COUNTS,    /* how many there are, without durations */
	SHORTSNAP_LEVELS,
};

/* Waits of the same flags that were taken for a lock by the same calls. */
struct shortsnap_row {
	uint64_t n, ns;
	uint32_t flags;			   /* LCB_F_*, of the begin */
	uint32_t n_frames;		   /* 0: who it was is not known, for want of room */
	uint64_t frames[SHORTSNAP_FRAMES]; /* innermost first */
};

struct shortsnap_head {
	uint64_t from_ns;      /* since when sums are */
	uint64_t threshold_ns; /* of now; 0: there is none */
	uint64_t level_ns;     /* since when it is on this level */
	uint64_t spent_ns[SHORTSNAP_LEVELS];
	uint64_t counted[SHORTSNAP_TYPES]; /* waits of which only that is known, by flags */
	uint64_t n_changes;		   /* of level or threshold, so far */
	uint64_t most_ns;		   /* the highest threshold so far */
	uint64_t events;		   /* begins and ends that were seen */
	/* Of the governor; 0: there is none. Millionths of the CPU time of all CPUs. */
	uint32_t target_ppm, cost_ppm;
	uint32_t event_ps; /* what a begin or end costs, as sampled last, in 1/1000 ns */
	uint32_t level;	   /* enum shortsnap_level */
	uint32_t n_rows;
	uint32_t flags; /* SHORTSNAP_ESTIMATED */
};

struct shortsnap {
	struct shortsnap_head head;
	const void *rows; /* borrowed from the payload, at any alignment: shortsnap_row() */
};

/* False: it is none, or has other rows than it says. */
bool shortsnap_decode(const void *data, size_t len, struct shortsnap *ret);
struct shortsnap_row shortsnap_row(const struct shortsnap *s, uint32_t i); /* i < head.n_rows */
/* Row @i of @s, with what came since @before in place of its sums. */
struct shortsnap_row shortsnap_since(const struct shortsnap *s, const struct shortsnap *before,
				     uint32_t i);

/* Two in a row, and when their sums were read. */
struct shortsnap_pair {
	struct shortsnap before, now;
	uint64_t before_ns, now_ns;
};

/*
 * The payload as of @at_ns, between the two: sums are taken to have grown evenly. Waits stay whole,
 * and no sum is less than one of an earlier time, so what lies between several such times adds up
 * to the difference of the two. 0, and *ret is the caller's to mem_free(); or -ENOMEM.
 */
int shortsnap_at(const struct shortsnap_pair *p, uint64_t at_ns, void **ret, size_t *ret_len);
const char *shortsnap_level_name(uint32_t level); /* "all", "threshold", "counts" */

#endif
