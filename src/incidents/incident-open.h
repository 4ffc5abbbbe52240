/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_INCIDENT_OPEN_H
#define KONTEND_INCIDENTS_INCIDENT_OPEN_H

#include "incident-file.h"

/*
 * The open incident: from before its cause until no trigger has fired for a while. Triggers that
 * fire meanwhile become part of it. All times are those of the stream.
 */
struct incident_open {
	uint64_t pre_ns, post_ns;
	uint64_t start_ns;	  /* start of the measurement: there is no earlier data */
	bool is_open, is_named;	  /* is_named: the caller knows the name of its lock */
	bool is_begun;		  /* incident_open_begin() was called */
	bool has_sums;		  /* set by the caller: short waits are summed up at ticks */
	bool is_asked;		  /* the tick at its end has been requested */
	struct incident incident; /* from_ns as requested, to_ns as of now */
	uint32_t others;	  /* number of later triggers */
	uint64_t most_ns;	  /* it ends then at the latest */
	uint64_t tokens_ns;	  /* see incident_open_add() */
	uint64_t left_out;	  /* incidents without a file, over the limit */
};

/* 0: default. */
void incident_open_init(struct incident_open *o, uint64_t pre_ns, uint64_t post_ns);
/* From the next trigger on. 0: default. */
void incident_open_post(struct incident_open *o, uint64_t post_ns);
/*
 * A trigger has fired: an incident begins or continues. In a storm some incidents get a file and
 * the rest are counted. @backlog holds the data.
 */
void incident_open_add(struct incident_open *o, struct source *backlog, const struct incident *in);
/* Updates the end after the caller has updated o->incident; @goes_on: its cause lasts. */
void incident_open_follow(struct incident_open *o, struct source *backlog, bool goes_on);
/*
 * True if all of its time has come. With sums of short waits it ends at a tick, because sums are
 * complete only there: requests one from @backlog when its time is over.
 */
bool incident_open_is_whole(struct incident_open *o, struct source *backlog);
/* Takes what has come by now; the incident stays open. 0 or negative. */
int incident_open_begin(struct incident_open *o, struct source *backlog, struct incident_job **ret,
			struct error *err);
/* Closes it and takes what has come by now. 0, or negative: it is lost. */
int incident_open_take(struct incident_open *o, struct source *backlog, struct incident_job **ret,
		       struct error *err);

#endif
