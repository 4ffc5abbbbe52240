/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_RETAIN_H
#define KONTEND_INCIDENTS_RETAIN_H

#include "kontend/error.h"
#include "kontend/opts.h"
#include <stdint.h>

/* Limits for the incident files in a directory. 0: no limit. */
struct retain_limits {
	uint64_t age_ns; /* since the file was written */
	uint64_t bytes;	 /* of all files */
	uint64_t files;
};

struct retain_stat {
	uint64_t files, bytes; /* of remaining files */
	uint64_t removed, removed_bytes;
};

/*
 * Removes files over a limit, the oldest first, never the newest one. Only considers incident
 * files, by name, owner and content, and none that is being written. @now_ns: CLOCK_REALTIME. 0, or
 * negative with @err if the directory cannot be read or a file cannot be removed; all other files
 * are removed.
 */
int retain_apply(const char *dir, const struct retain_limits *l, uint64_t now_ns,
		 struct retain_stat *ret, struct error *err);

/*
 * The clock for retain_apply(). Setting the system clock must not make files old: this one advances
 * from its first value and is never ahead of the system's. `= {0}`.
 */
struct retain_clock {
	uint64_t wall_ns, boot_ns; /* first values */
};

uint64_t retain_now(struct retain_clock *c, uint64_t wall_ns, uint64_t boot_ns);

/* The incident files in a directory, and when to remove old ones. */
struct incident_retention {
	const char *dir;
	struct retain_clock clock;
	struct retain_stat stat; /* when they were last read */
	uint64_t next_ns;	 /* time to look again, unless a file is written before */
	bool failed;		 /* an error was printed */
};

/* Returns the limits of @o and the time, for a caller that removes files itself. */
void incident_retention_ask(struct incident_retention *k, const struct opts *o,
			    struct retain_limits *ret, uint64_t *ret_now_ns);
/* The caller has removed files: prints their number. */
void incident_retention_done(struct incident_retention *k, const struct opts *o,
			     const struct retain_stat *s, const struct error *err);
/* Removes old files now. */
void incident_retention_now(struct incident_retention *k, const struct opts *o);
/* Removes old files if it is time to: files get old even while none are written. */
void incident_retention_round(struct incident_retention *k, const struct opts *o);

#endif
