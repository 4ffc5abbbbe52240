/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_HISTORY_INT_H
#define KONTEND_SRC_ENGINE_HISTORY_INT_H

#include "kontend/history.h"
#include "kontend/recordlog.h"

/* A model that the window may begin with. */
struct history_base {
	struct model model;
	struct engine_place place;
	size_t bytes;
	uint64_t at; /* bytes ever logged up to there */
};

/* A record on its way. */
struct history_out {
	struct history_out *prev, *next; /* next: also of the free list */
	uint64_t number;
	struct recordlog_chunk *chunk; /* NULL: the inner source's */
	struct record inner;
};

enum { HISTORY_BASES = 8 };

struct history {
	struct source source;
	struct source *inner;
	struct history_options options;
	struct recordlog log;
	uint64_t next;	     /* number of the record to hand out */
	uint64_t whole_from; /* records from here on are all in the log */
	struct history_out *first, *last, *free;
	struct history_base bases[HISTORY_BASES];
	size_t n_bases, model_bytes;
	uint64_t noted_ns;		 /* the latest tick of which a base could be made */
	uint64_t said_until;		 /* by the latest round or tick */
	uint64_t said_tick, behind_tick; /* the latest tick, and the number after it */

	/* In a pause. */
	bool is_frozen;
	uint64_t limit;	     /* number of the first record that is not handed out */
	size_t frozen_bytes; /* of the log, when it began */
	struct model now;    /* to come back to; is_away: there is one */
	struct engine_place now_place;
	bool is_away;
	struct record_drop lost; /* not said yet */
	uint64_t lost_records;
};

/* history.c */
void history_note_time(struct history *h, const struct record *r); /* that was appended */

#endif
