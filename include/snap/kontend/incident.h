/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENT_H
#define KONTEND_INCIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a trigger has caught: the payload of a SNAPSHOT_INCIDENT, of which a file of an incident has
 * one. Times are of the session clock. Texts are terminated and without control characters, also
 * where the file's were not; "" where there is nothing to say.
 */
enum { INCIDENT_VERSION = 1 };

enum incident_flags {
	INCIDENT_BY_HAND = 1, /* somebody asked for it: no trigger fired */
	INCIDENT_GOES_ON = 2, /* what fired had not ended when the file did */
	INCIDENT_SHORT = 4,   /* the file begins later than was asked for: nothing older was kept */
};

struct incident {
	uint64_t fired_ns;	 /* when the trigger was true */
	uint64_t begin_ns;	 /* when its cause began: of a wait, its begin; else as fired_ns */
	uint64_t end_ns;	 /* when its cause ended; 0: not yet */
	uint64_t from_ns, to_ns; /* what the file has */
	uint64_t worst_ns;	 /* the longest wait that fired it; 0: what fired is no wait */
	uint64_t lock;		 /* address of the lock; 0: there is none */
	uint64_t value;		 /* that was compared, in the trigger's unit */
	int32_t pid, tid;	 /* of the task that waits; 0: none */
	int32_t holder_pid, holder_tid; /* 0: not known */
	uint32_t trigger;		/* place of its expression on the command line, from 0 on */
	uint32_t more;			/* how often triggers fired again until to_ns */
	uint32_t flags;			/* enum incident_flags */
	uint32_t pad;
	char expr[160]; /* the expression as it was given */
	char fired[96]; /* with which values: "wait 312ms", "waiting 34" */
	char lock_name[96];
	char task[32];	  /* its comm */
	char because[96]; /* of whom, and what that did: "mysqld/812 runs" */
};

/* Reads a payload; false: it is none, or no time of it can be true. */
bool incident_decode(const void *data, size_t len, struct incident *ret);

#endif
