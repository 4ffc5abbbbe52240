/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SLEPTSNAP_H
#define KONTEND_SLEPTSNAP_H

#include "kontend/locksnap-sleepers.h"
#include "kontend/sections.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Sums of all sleeps in state D that have ended since the measurement began: the payload of
 * SNAPSHOT_SLEPT. Sums only grow, and a row never goes, so the sleeps that ended between two
 * snapshots are their difference. A sleep that began before the measurement is in none.
 */
enum { SLEPTSNAP_VERSION = 1 };

struct sleptsnap_head {
	uint64_t time_ns, from_ns; /* now, and begin of the sums, session clock */
	uint64_t dropped;	   /* sleeps that are in no row */
	uint32_t reason;	   /* text: why nothing is known; 0: it is known */
	uint32_t level;		   /* enum sleptsnap_level */
	uint64_t min_ns;	   /* of sleeps that have a record each; 0: none has */
	uint64_t records, missed;  /* of these: written, and not */
	/*
	 * Cost of sleeps for each switch of the machine since the snapshot before, on average;
	 * the programs cost the other switches about as much as any program there does.
	 */
	uint64_t switch_ps;
	uint64_t off_ns; /* how long sleeps were not measured, as they cost too much */
	/* Tasks that sleep, and for how long in total: in no row yet. */
	uint64_t now, now_ns;
	uint32_t is_first; /* of the measurement: all of its sums are of the session */
	uint32_t pad;
};

/* Parts that are left out, as they would cost too much. */
enum sleptsnap_level {
	SLEPTSNAP_ALL,
	SLEPTSNAP_LONG_CHAINS, /* call chains of short sleeps: their causes are not known */
	SLEPTSNAP_OFF,	       /* everything */
	SLEPTSNAP_LEVELS,
};

/*
 * Of one process, kind and chain. A chain may have a frame of the tracepoint before those of the
 * scheduler, so the same calls may be in two rows.
 */
struct sleptsnap_row {
	int32_t pid;	     /* 0: of processes for which there was no room */
	uint32_t comm;	     /* text: name of the process; 0 with pid 0 */
	uint32_t kind;	     /* LOCKSNAP_IO or LOCKSNAP_DISK */
	uint32_t frame;	     /* its call chain: into frames, the innermost call first */
	uint32_t n_frames;   /* 0: not known */
	int32_t waker;	     /* thread on the CPU that ended the last one; 0: the idle task */
	uint32_t waker_comm; /* text */
	uint32_t pad;
	uint64_t sleeps, total_ns, max_ns;
};

struct sleptsnap {
	struct sleptsnap_head head;
	struct sleptsnap_row *rows;
	uint64_t *frames; /* addresses of kernel code; rows share equal chains */
	char *strings;
	size_t n_rows, n_frames, n_strings;
	size_t cap_rows, cap_frames, cap_strings;
};

SECTIONS_FUNCTIONS(sleptsnap)
SECTIONS_ADD(sleptsnap, row, rows, struct sleptsnap_row)
SECTIONS_ADD_VALUE(sleptsnap, frame, frames, uint64_t)
SECTIONS_ADD_TEXT(sleptsnap)

#endif
