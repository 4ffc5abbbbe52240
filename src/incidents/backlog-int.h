/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_BACKLOG_INT_H
#define KONTEND_INCIDENTS_BACKLOG_INT_H

#include "kontend/backlog.h"
#include "kontend/engine.h"
#include "kontend/recordlog.h"
#include "kontend/sideband.h"

/* The state before the log: an engine that gets only the names and snapshots of the stream. */
struct backlog_known {
	struct engine engine;
	struct source *feed; /* owned by the engine */
	bool is_open;
	uint64_t until_ns; /* all records up to this time are applied */
	uint64_t id;	   /* id of the event whose records have names */
	uint32_t ring;	   /* a ring of that event */
	uint8_t *offline;  /* by CPU: is it offline? */
	size_t n_offline;
	struct recordlog_reader reader;
};

int backlog_known_init(struct backlog_known *k, struct error *err);
void backlog_known_deinit(struct backlog_known *k);
/* Applies a record from before the stream. 0 or negative. */
int backlog_known_head(struct backlog_known *k, const struct record *r, struct error *err);
/* Applies all records of a chunk. Chunks come in the order of the stream. 0 or negative. */
int backlog_known_feed(struct backlog_known *k, const struct recordlog_chunk *c, struct error *err);
/* The state as records of perf, which the caller frees. 0 or -ENOMEM. */
int backlog_known_put(const struct backlog_known *k, struct sideband *ret);
/* The body of a snapshot of the names of locks. 0 or -ENOMEM. */
int backlog_known_names(const struct backlog_known *k, void **ret, size_t *ret_len);
size_t backlog_known_bytes(const struct backlog_known *k);

/* The records before the stream: a list that only grows. */
struct backlog_prologue {
	struct record *records; /* HOST, ATTR, FORMAT; owns their bytes */
	size_t n, cap;
	struct recordlog_chunk *symbols; /* NULL: none */
};

struct backlog {
	struct source source;
	struct source *inner;
	struct backlog_options options;
	struct backlog_prologue before;
	struct recordlog log;
	size_t fed;	    /* number of its oldest chunks that @known has applied */
	uint64_t opened_ns; /* stream_ns when its open chunk got the first record */
	uint64_t round_ns;  /* time of the latest round */
	struct backlog_known known;
	uint64_t stream_ns, begin_ns, hold_ns;
	uint64_t tick_ns; /* time of the latest tick */
	unsigned torn;	  /* number of further rounds until begin_ns is known */
	bool headless;	  /* a record from before the stream could not be kept */
	bool lacks;	  /* symbols, or the state before the log, are incomplete */
};

/* backlog-taken.c: makes a copy of references and records. */
int backlog_copy(const struct backlog *b, uint64_t clock_ns, uint64_t wall_ns, struct source **ret);

#endif
