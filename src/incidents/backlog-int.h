/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_BACKLOG_INT_H
#define KONTEND_INCIDENTS_BACKLOG_INT_H

#include "engine/engine-pack.h"
#include "kontend/backlog.h"
#include "kontend/engine.h"
#include "kontend/sideband.h"
#include <stdatomic.h>

/* Records in a row, packed: they never change, so those who have taken them share them. */
struct backlog_chunk {
	atomic_uint refs;
	uint64_t until_ns; /* no event in it is later; 0: not known yet */
	uint32_t rounds;   /* that came since it was closed */
	bool is_packed;	   /* else the bytes are the records */
	size_t len, raw_len;
	uint8_t bytes[];
};

/* @raw packed; as it is where that cannot be. NULL: no memory. */
struct backlog_chunk *backlog_chunk_new(struct engine_pack *p, const uint8_t *raw, size_t n,
					uint8_t *scratch, size_t room);
void backlog_chunk_unref(struct backlog_chunk *c);

/* A record in a chunk: a head and its bytes, 8-byte aligned. */
struct backlog_head {
	uint32_t kind, ring;
	uint64_t len;
};

static inline size_t backlog_stored(size_t len)
{
	return sizeof(struct backlog_head) + (len + 7) / 8 * 8;
}

/* The record at *@at of @n bytes, and on to the next one. False: there is none. */
bool backlog_step(const uint8_t *raw, size_t n, size_t *at, struct record *ret);
/* Of a chunk, in @buf (which grows) unless it is not packed. NULL: no memory, or damaged. */
struct backlog_raw {
	uint8_t *buf;
	size_t cap;
	struct engine_pack pack;
};
const uint8_t *backlog_raw(struct backlog_raw *r, const struct backlog_chunk *c);
void backlog_raw_deinit(struct backlog_raw *r);

/* Those in the log, the oldest first, and the one that takes records. */
struct backlog_log {
	struct backlog_chunk **chunks;
	size_t n, cap;
	size_t fed;   /* of them, so many were given to who keeps what is older */
	size_t bytes; /* of chunks */
	uint64_t raw_bytes;
	uint8_t *open; /* records that are not in a chunk yet */
	size_t open_len, open_cap;
	uint64_t opened_ns; /* said_ns at that time */
	uint64_t round_ns;  /* the latest round */
	uint8_t *scratch;
	struct engine_pack pack;
};

int backlog_log_init(struct backlog_log *l);
void backlog_log_deinit(struct backlog_log *l);
/* 0 or -ENOMEM: then it is not in it. */
int backlog_log_append(struct backlog_log *l, const struct record *r, uint64_t said_ns);
/* Puts all records appended so far into chunks. 0 or -ENOMEM. */
int backlog_log_close(struct backlog_log *l, uint64_t said_ns);
/* A round at @time_ns was appended. */
void backlog_log_round(struct backlog_log *l, uint64_t time_ns);
/* The oldest one goes. */
void backlog_log_drop(struct backlog_log *l);

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
	struct backlog_raw raw;
};

int backlog_known_init(struct backlog_known *k, struct error *err);
void backlog_known_deinit(struct backlog_known *k);
/* A record from before the stream. 0 or negative. */
int backlog_known_head(struct backlog_known *k, const struct record *r, struct error *err);
/* All of a chunk; in the order of the stream. 0 or negative. */
int backlog_known_feed(struct backlog_known *k, const struct backlog_chunk *c, struct error *err);
/* Its state as records, which the caller frees: perf's; those of CPUs. 0 or -ENOMEM. */
int backlog_known_put(const struct backlog_known *k, struct sideband *ret);
/* The body of a snapshot of what locks were called. 0 or -ENOMEM. */
int backlog_known_names(const struct backlog_known *k, void **ret, size_t *ret_len);
size_t backlog_known_bytes(const struct backlog_known *k);

/* The records before the stream: a list that only grows. */
struct backlog_prologue {
	struct record *records; /* HOST, ATTR, FORMAT; the bytes are ours */
	size_t n, cap;
	struct backlog_chunk *symbols; /* NULL: none */
};

struct backlog {
	struct source source;
	struct source *inner;
	struct backlog_options options;
	struct backlog_prologue before;
	struct backlog_log log;
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
