/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_INCIDENT_RETENTION_H
#define KONTEND_INCIDENTS_INCIDENT_RETENTION_H

#include "kontend/opts.h"
#include "retain.h"

/* Files of incidents in a directory, and how many of them stay. */
struct incident_retention {
	const char *dir;
	struct retain_clock clock;
	struct retain_stat stat; /* at the last look */
	uint64_t next_ns;	 /* the next one, unless a file is written before */
	bool failed;		 /* which was printed */
};

/* The limits of @o, and the clock, for a caller that removes files itself. */
void incident_retention_ask(struct incident_retention *k, const struct opts *o,
			    struct retain_limits *ret, uint64_t *ret_now_ns);
/* The caller has done so: prints the number of removed files. */
void incident_retention_done(struct incident_retention *k, const struct opts *o,
			     const struct retain_stat *s, const struct error *err);
/* Looks now. */
void incident_retention_now(struct incident_retention *k, const struct opts *o);
/* The same, if it is time: files get old while none are written. */
void incident_retention_round(struct incident_retention *k, const struct opts *o);

#endif
