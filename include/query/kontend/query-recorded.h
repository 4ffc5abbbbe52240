/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_RECORDED_H
#define KONTEND_QUERY_RECORDED_H

#include "kontend/eventlist.h"
#include "kontend/figure.h"
#include "kontend/query.h"

/* The events of a recording, and those of them that profiles show. */

struct query_recorded_event {
	uint32_t number; /* from 1 on, as option -e takes it */
	const char *name;
	uint64_t samples; /* in the stream so far */
	bool is_profile;  /* it samples where CPUs spend their time */
	bool is_used;	  /* waits or other views are read from it */
	bool is_decoded;  /* false: a tracepoint without a format */
	bool is_shown;	  /* the profile is of this event */
};

struct query_recorded {
	struct query_recorded_event *events; /* without those of kontend's own records */
	size_t n;
	uint64_t hidden;   /* samples of events that no view shows */
	uint32_t n_hidden; /* events with such samples */
};

/* In the arena. 0 or -ENOMEM. */
int query_recorded(struct query *q, struct query_recorded *ret);
extern const struct figure query_recorded_figures[]; /* of struct query_recorded_event */

/*
 * The events that profiles are of, one bit for each number: those that the user chose, or else one
 * that samples time, the one with the most samples, as it counts on all PMUs.
 */
uint64_t query_recorded_shown(const struct query *q);
/* The samples that profiles have of these. */
uint64_t query_recorded_samples(const struct query *q);
/* Of these the one with the most samples, for headers and units; NULL: none can be a profile. */
const struct eventlist_event *query_recorded_main(const struct query *q);
/*
 * The names of the chosen events that have samples, or of all: "cycles", "cycles, instructions". In
 * the arena; NULL: no memory.
 */
const char *query_recorded_names(struct query *q);

#endif
