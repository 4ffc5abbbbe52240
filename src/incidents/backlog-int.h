/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_BACKLOG_INT_H
#define KONTEND_INCIDENTS_BACKLOG_INT_H

#include "kontend/backlog.h"
#include "kontend/engine.h"
#include "kontend/recordlog.h"
#include "kontend/sideband.h"

/* The time before the log: an engine that gets only the names and snapshots of the stream. */
struct backlog_known {
	struct engine engine;
	struct source *feed; /* its own */
	bool is_open;
	uint64_t until_ns; /* all up to there was applied */
	uint64_t id;	   /* of the event whose records carry names */
	uint32_t ring;	   /* of one of them */
	uint8_t *offline;  /* by CPU: enum record_cpu_state + 1; 0: not known */
	size_t n_offline;
	struct recordlog_reader reader;
};

int backlog_known_init(struct backlog_known *k, struct error *err);
void backlog_known_deinit(struct backlog_known *k);
/* A record from before the stream. 0 or negative. */
int backlog_known_head(struct backlog_known *k, const struct record *r, struct error *err);
/* All of a chunk; in the order of the stream. 0 or negative. */
int backlog_known_feed(struct backlog_known *k, const struct recordlog_chunk *c, struct error *err);
/* Its state as records, which the caller frees: perf's; those of CPUs. 0 or -ENOMEM. */
int backlog_known_put(const struct backlog_known *k, struct sideband *ret);
/* The body of a snapshot of what locks were called. 0 or -ENOMEM. */
int backlog_known_names(const struct backlog_known *k, void **ret, size_t *ret_len);
size_t backlog_known_bytes(const struct backlog_known *k);

/* The records before the stream: a list that only grows. */
struct backlog_prologue {
	struct record *records; /* HOST, ATTR, FORMAT; the bytes are ours */
	size_t n, cap;
	struct recordlog_chunk *symbols; /* NULL: none */
};

struct backlog {
	struct source source;
	struct source *inner;
	struct backlog_options options;
	struct backlog_prologue before;
	struct recordlog log;
	size_t fed;	    /* so many of its oldest chunks were given to @known */
	uint64_t opened_ns; /* said_ns when its open chunk got the first record */
	uint64_t round_ns;  /* the latest round */
	struct backlog_known known;
	uint64_t said_ns, begin_ns, hold_ns;
	uint64_t tick_ns; /* the latest tick */
	unsigned torn;	  /* so many more rounds, then begin_ns = said_ns */
	bool headless;	  /* a record from before the stream could not be kept */
	bool lacks;	  /* the same of symbols, or of the state before the log */
};

/* backlog-taken.c: takes references and copies. */
int backlog_copy(const struct backlog *b, uint64_t clock_ns, uint64_t wall_ns, struct source **ret);

#endif
