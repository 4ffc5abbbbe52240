/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_HISTORY_INT_H
#define KONTEND_SRC_ENGINE_HISTORY_INT_H

#include "engine-pack.h"
#include "kontend/history.h"

/*
 * A log of records by number, compressed in chunks, with one reader. Numbers go up by one and are
 * never used again; the log holds those of [first, end).
 */
struct history_chunk {
	uint64_t first;
	uint32_t n;
	uint32_t refs;	 /* records of it that are in use */
	uint8_t *packed; /* NULL: the open one, or one that could not be packed */
	size_t packed_len;
	uint8_t *raw; /* NULL: packed, and not being read */
	size_t raw_len, raw_cap;
};

struct history_log {
	struct history_chunk **chunks;
	size_t n, cap;
	uint64_t end;
	size_t bytes; /* of closed chunks: packed, or raw where they could not be */
	uint64_t bytes_ever;
	uint64_t raw_bytes;	       /* of all in it */
	struct history_chunk *open;    /* the last one, while it takes records; or NULL */
	struct history_chunk *reading; /* and where in it the next record is */
	uint64_t read_next;
	size_t read_at;
	uint8_t *spare; /* a raw buffer of the usual size */
	uint8_t *scratch;
	struct engine_pack pack;
};

int history_log_init(struct history_log *l);
void history_log_deinit(struct history_log *l);
/* -ENOMEM: the record is not in the log, and has no number. */
int history_log_append(struct history_log *l, const struct record *r);
/* A number that stands for no record: for one that could not be appended. */
void history_log_skip(struct history_log *l);
uint64_t history_log_first(const struct history_log *l);
/* Forgets records before @number, in whole chunks; none of them may be in use. */
void history_log_cut(struct history_log *l, uint64_t number);
/* Record @number, which is in the log; *ret_chunk: for history_log_release(). -ENOMEM, -EBADMSG,
 * -ENODATA. */
int history_log_read(struct history_log *l, uint64_t number, struct record *ret,
		     struct history_chunk **ret_chunk);
void history_log_release(struct history_log *l, struct history_chunk *c);

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
	struct history_chunk *chunk; /* NULL: the inner source's */
	struct record inner;
};

enum { HISTORY_BASES = 8 };

struct history {
	struct source source;
	struct source *inner;
	struct history_options options;
	struct history_log log;
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
