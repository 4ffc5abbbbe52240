/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_HISTORY_INT_H
#define KONTEND_SRC_ENGINE_HISTORY_INT_H

#include "kontend/history.h"
#include "kontend/recordlog.h"
#include "packed.h"

/* A copy of the model at a tick, where the window may begin. */
struct history_base {
	struct engine_packed model;
	struct engine_place place;
	uint64_t at; /* recordlog.bytes_ever at that tick */
};

/* A record that was handed out and not given back. */
struct history_out {
	struct history_out *prev, *next; /* next: also in the list of free ones */
	uint64_t number;
	struct recordlog_chunk *chunk; /* NULL: the record is from the inner source */
	struct record inner;
};

enum { HISTORY_BASES = 8 };

struct history {
	struct source source;
	struct source *inner;
	struct history_options options;
	struct recordlog log;
	struct engine_pack pack;
	uint64_t next;	     /* number of the next record to hand out */
	uint64_t whole_from; /* all records from this number on are in the log */
	struct history_out *first, *last, *free;
	struct history_base bases[HISTORY_BASES];
	size_t n_bases, model_bytes;
	uint64_t noted_ns;	      /* the latest tick for which a base was considered */
	uint64_t stream_ns;	      /* time of the latest round or tick */
	uint64_t tick_ns, after_tick; /* the latest tick, and the number after it */

	/* In a pause. */
	bool is_frozen;
	uint64_t limit;	     /* number of the first record that is not handed out */
	size_t frozen_bytes; /* bytes of the log when the pause began */
	struct model now;    /* the model of the pause, if is_away */
	struct engine_place now_place;
	bool is_away;
	struct record_drop lost; /* not reported yet */
	uint64_t lost_records;
};

/* history.c */
void history_note_time(struct history *h, const struct record *r); /* after @r was appended */

#endif
