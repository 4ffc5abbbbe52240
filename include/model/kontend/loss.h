/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOSS_H
#define KONTEND_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

/* Records missing from the figures of some time. */
struct loss {
	uint64_t seen, lost;	     /* records: that came; that the kernel or we dropped */
	uint64_t of_profile;	     /* of those lost: samples of a profile, so no waits */
	uint64_t doubtful, unpaired; /* waits that ended, both or one of their records here: left
					out since others are missing */
	uint64_t waiting;	     /* that are doubtful: their time is left out */
	uint64_t uncounted;	     /* losses without a count of records */
	uint64_t throttled_profiles; /* how often: samples are missing, and no wait is */
};

struct loss_state {
	struct loss range, sums, bucket; /* all since the start, when these began */
	struct loss closed;		 /* within the bucket that was closed last */
	uint64_t others;		 /* records that are no begin or end of a wait */
	/* Lost in the gaps that overlap with the latest one: records, and how often uncounted. */
	uint64_t gap, gap_uncounted;
	uint64_t uncounted;
	/* Samples of profiles that were lost; events throttled that are about waits. */
	uint64_t of_profile, throttled;
};

/* Since the sums began. */
struct loss loss_of_sums(const struct model *m);
/* Since the range began; without one, since the start. */
struct loss loss_of_range(const struct model *m);
/* Records that are missing, in percent of all. */
double loss_pct(const struct loss *l);
/* The same without the samples of profiles that were lost. */
double loss_waits_pct(const struct loss *l);
/* Is something missing? Then the figures are lower bounds. */
bool loss_any(const struct loss *l);
/*
 * An upper bound of the ended waits that are in no figure. The end of each was left out or lost; so
 * there are at most as many as ends left out and records lost together. False: unknown, as not all
 * missing data were counted.
 */
bool loss_waits(const struct loss *l, uint64_t *ret);

/* For the model alone. A gap begins at @from_ns, in which @n records were lost; 0: not counted. */
void loss_add_gap(struct model *m, uint64_t from_ns, uint64_t n);
void loss_add_unknown(struct model *m, uint64_t from_ns);
void loss_begin_sums(struct model *m);
void loss_begin_range(struct model *m); /* at once with the sums */
/* Closes the bucket at @time_ns. */
void loss_tick(struct model *m, uint64_t time_ns);

#endif
