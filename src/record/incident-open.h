/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_INCIDENT_OPEN_H
#define KONTEND_RECORD_INCIDENT_OPEN_H

#include "incident-file.h"

/*
 * The incident that goes on: from what came before its cause until nothing has fired for a while.
 * What fires meanwhile is part of it. All times are those of the stream.
 */
struct incident_open {
	uint64_t pre_ns, post_ns;
	uint64_t start_ns;	  /* when measuring began: nothing is there of before */
	bool is_open, is_named;	  /* named: set by whoever knows; what its lock is called */
	bool is_begun;		  /* incident_open_begin() was called */
	bool has_sums;		  /* set by the caller: short waits come in sums, at ticks */
	bool is_asked;		  /* for the tick that it ends with */
	struct incident incident; /* from_ns is asked for, to_ns as it is now */
	uint32_t others;	  /* so much has fired besides its cause */
	uint64_t most_ns;	  /* it ends then in any case */
	uint64_t tokens_ns;	  /* see incident_open_add() */
	uint64_t left_out;	  /* incidents for which there was no file */
};

/* 0: the default. */
void incident_open_init(struct incident_open *o, uint64_t pre_ns, uint64_t post_ns);
/* From the next that fires on. 0: the default. */
void incident_open_post(struct incident_open *o, uint64_t post_ns);
/*
 * Something has fired: an incident begins, or goes on. Of a storm of them some have a file, and
 * the rest are counted. @backlog holds what it will need.
 */
void incident_open_add(struct incident_open *o, struct source *backlog, const struct incident *in);
/* What is known of its cause by now is in o->incident; does that go on? */
void incident_open_follow(struct incident_open *o, struct source *backlog, bool goes_on);
/*
 * Has all of its time come? With sums of short waits it ends at a tick, as these are complete there
 * alone: @backlog is asked for one when its time is over.
 */
bool incident_open_is_whole(struct incident_open *o, struct source *backlog);
/* What has come of it by now; it stays open. 0 or negative. */
int incident_open_begin(struct incident_open *o, struct source *backlog, struct incident_job **ret,
			struct error *err);
/* Closes it, with what has come by now. 0, or negative: it is lost. */
int incident_open_take(struct incident_open *o, struct source *backlog, struct incident_job **ret,
		       struct error *err);

#endif
