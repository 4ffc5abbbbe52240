/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORDLOG_H
#define KONTEND_RECORDLOG_H

#include "kontend/engine-pack.h"
#include "kontend/record.h"
#include <stdatomic.h>

/*
 * A compressed log of records, for history.c and the backlog of incidents. It copies records into
 * chunks, of which the last one is open. Records have numbers, which go up by one and are never
 * used again; the log has those of [first, end). Sizes are bytes.
 *
 * One thread uses a log. Another thread may read a closed chunk that it has a reference to, with a
 * reader of its own: the packed bytes never change, nor do raw bytes that could not be packed.
 */
enum { RECORDLOG_CHUNK = 256 << 10 }; /* records in a chunk, unless one alone is longer */

struct recordlog_chunk {
	atomic_uint refs; /* one is the log's */
	uint32_t pins;	  /* uses of .raw by the thread of the log */
	uint64_t first;	  /* number of its first record */
	uint32_t n;
	uint8_t *packed; /* NULL: it is open, or could not be packed */
	size_t packed_len;
	uint8_t *raw; /* the records; NULL: packed, and not pinned */
	size_t raw_len, raw_cap;
	/* For the owner of the log. */
	uint32_t rounds;
	uint64_t until_ns;
};

struct recordlog {
	struct recordlog_chunk **chunks; /* oldest first; the open one is the last */
	size_t n, cap;
	uint64_t end;
	size_t bytes;		      /* of closed chunks */
	uint64_t bytes_ever;	      /* the same, with those that were dropped */
	uint64_t raw_bytes;	      /* of all records in it */
	struct recordlog_chunk *open; /* NULL: none */
	/* recordlog_read(): the chunk, and where in it the next record is. */
	struct recordlog_chunk *reading;
	uint64_t read_next;
	size_t read_at;
	uint8_t *spare; /* a raw buffer of the usual size */
	uint8_t *scratch;
	struct engine_pack pack;
};

int recordlog_init(struct recordlog *l); /* 0 or -ENOMEM */
/* Frees its chunks, except those that others have references to. */
void recordlog_deinit(struct recordlog *l);
/* -ENOMEM: the record is not in the log, and has no number. */
int recordlog_append(struct recordlog *l, const struct record *r);
/* Takes a number for a record that is not in the log. */
void recordlog_skip(struct recordlog *l);
/* Packs what was appended: all records are in closed chunks. Without memory they stay unpacked. */
void recordlog_close(struct recordlog *l);
uint64_t recordlog_first(const struct recordlog *l);
/* Drops the @n oldest chunks. None of their records may be in use. */
void recordlog_drop(struct recordlog *l, size_t n);
/* Drops chunks that have only records before @number. */
void recordlog_cut(struct recordlog *l, uint64_t number);
/*
 * Record @number. Its bytes stay until recordlog_release() of *ret_chunk. 0, -ENODATA (not in the
 * log), -ENOMEM or -EBADMSG.
 */
int recordlog_read(struct recordlog *l, uint64_t number, struct record *ret,
		   struct recordlog_chunk **ret_chunk);
void recordlog_release(struct recordlog *l, struct recordlog_chunk *c);

/* A closed chunk of one record, which the caller owns. NULL: no memory. */
struct recordlog_chunk *recordlog_chunk_new(struct engine_pack *p, const struct record *r);
void recordlog_chunk_ref(struct recordlog_chunk *c);
void recordlog_chunk_unref(struct recordlog_chunk *c); /* or NULL */
/* Size of a closed chunk: packed, or raw where it could not be packed. */
size_t recordlog_chunk_bytes(const struct recordlog_chunk *c);

/* Unpacks chunks, one at a time, into a buffer that grows. Zeroed before the first use. */
struct recordlog_reader {
	uint8_t *buf;
	size_t cap;
	struct engine_pack pack;
};

/* The raw_len bytes of a closed chunk, until the next call. NULL: no memory, or damaged. */
const uint8_t *recordlog_reader_load(struct recordlog_reader *r, const struct recordlog_chunk *c);
void recordlog_reader_deinit(struct recordlog_reader *r);
/* The record at *at of @n bytes, and moves *at to the next one. False: there is none. */
bool recordlog_next(const uint8_t *raw, size_t n, size_t *at, struct record *ret);

#endif
