/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERSNAP_H
#define KONTEND_USERSNAP_H

#include "kontend/sections.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Sleeps for locks of programs that were too short for a record of their own (userrec.h), in sums
 * by lock, of the time since the snapshot before; and how complete the records are: the payload of
 * SNAPSHOT_USERS.
 */
enum { USERSNAP_VERSION = 1 };

struct usersnap_head {
	uint64_t time_ns, from_ns; /* now, and since when sleeps are measured, session clock */
	uint64_t min_ns;	   /* of sleeps that have a record each */
	/* Since from_ns: sleeps in futex(2), and of these: */
	uint64_t sleeps;
	uint64_t unproven, unproven_ns; /* that no layout shows to be for a lock */
	uint64_t unknown;	  /* which lock it was is not known: its memory was not there */
	uint64_t foreign;	  /* of 32-bit programs, which are not read */
	uint64_t dropped;	  /* in no record and in no sum, as there was no room */
	uint64_t records, missed; /* written; and not, as the ring had no room */
	uint64_t switch_ps;	  /* as in sleptsnap.h */
	uint64_t off_ns;	  /* how long sleeps were not measured, as they cost too much */
	uint32_t reason;	  /* text: why nothing is known; 0: it is known */
	uint32_t level;		  /* enum usersnap_level */
	uint32_t is_first;	  /* of the measurement: all of its sums are of the session */
	uint32_t pad;
};

/* Parts that are left out, as they would cost too much. */
enum usersnap_level {
	USERSNAP_ALL,
	USERSNAP_LONG, /* records of short sleeps: min_ns is higher */
	USERSNAP_OFF,  /* everything */
	USERSNAP_LEVELS,
};

/* Of one lock, in one mode. */
struct usersnap_row {
	uint64_t lock; /* userlock_addr(); 0: of all locks of that kind for which there was no room
			*/
	uint64_t n, ns;
	uint32_t flags; /* userlock_flags() */
	uint32_t lost;	/* of ns, while a CPU was idle: waitrec_age(); 0: not known of all */
};

struct usersnap {
	struct usersnap_head head;
	struct usersnap_row *rows;
	char *strings;
	size_t n_rows, n_strings;
	size_t cap_rows, cap_strings;
};

SECTIONS_FUNCTIONS(usersnap)
SECTIONS_ADD(usersnap, row, rows, struct usersnap_row)
SECTIONS_ADD_TEXT(usersnap)

#endif
