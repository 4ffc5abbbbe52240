/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WRITER_H
#define KONTEND_WRITER_H

#include "kontend/source.h"
#include <stdbool.h>
#include <sys/uio.h>

/*
 * Writes a source's records as perf.data. While it is written the file has the pipe layout, so that
 * every prefix of it is readable; writer_finish() makes the file layout of it, in place. Records of
 * perf rings go out as they came, undecoded; what perf has no record for goes out as samples of our
 * own event (kontend/perfdata.h).
 */
struct writer;

struct writer_options {
	const char *path; /* "-": standard output, which stays a pipe */
	int fd;		  /* used when `path` is NULL; stays open */
	const char *name; /* of `fd`, for messages; NULL: none */
	int zstd_level;	  /* 0: not compressed */
	/*
	 * A pipe takes nothing now: waits until @fd can be written to, and answers 0, or an errno
	 * that ends the writing. NULL: writing blocks.
	 */
	int (*wait)(void *ctx, int fd);
	void *ctx;
	const char *const *argv; /* the command line to be kept, NULL-terminated; NULL: none */
	uint32_t clock_id;	 /* of the events: CLOCK_MONOTONIC */
	uint64_t max_bytes;	 /* that the finished file may have; 0: any number */
};

enum { WRITER_FULL = 1 }; /* answer: with this the file would be too long; nothing was taken */

struct writer_stat {
	uint64_t bytes;			 /* of the file so far */
	uint64_t records;		 /* taken */
	uint64_t packed_from, packed_to; /* bytes before and after compression */
};

int writer_new(struct writer **ret, const struct writer_options *o, struct error *err);
/*
 * Takes a copy of the record. After an error the file ends with the last whole record. 0,
 * WRITER_FULL, or negative.
 */
int writer_put(struct writer *w, const struct record *r, struct error *err);
/*
 * Perf records of one ring or of several, in order, each in one piece or in two that follow each
 * other. They are not copied but are in the file when this returns, or, packed, in the memory of
 * the writer. At most WRITER_RUNS pieces.
 */
enum { WRITER_RUNS = 64 };
int writer_put_runs(struct writer *w, const struct iovec *runs, int n, struct error *err);
/*
 * Writes what stands before the events, which comes with the first of them else; attrs and formats
 * must have been put. -EFBIG: `max_bytes` are too few for it.
 */
int writer_begin(struct writer *w, struct error *err);
/* Bytes that can still be put so that the finished file is no longer than `max_bytes`. */
uint64_t writer_room(const struct writer *w);
/* What was taken so far is in the file when this returns. */
int writer_flush(struct writer *w, struct error *err);
/*
 * Clean end: file layout where the output can seek. After an error of writer_put() too: then with
 * what was written before, or a little less where the disk has no room for the end.
 */
int writer_finish(struct writer *w, struct error *err);
/*
 * The finished recording once more, into @fd, an empty file that can be read and seeks, with
 * @symbols in the place of the kernel's. 0, negative, or WRITER_AS_IT_IS: it has none, or several.
 */
enum { WRITER_AS_IT_IS = 2 };
int writer_copy(const struct writer *w, int fd, const struct record *symbols, struct error *err);
void writer_stat(const struct writer *w, struct writer_stat *ret);
/* Without writer_finish() the file stays as it is: pipe layout. */
void writer_free(struct writer *w);

#endif
