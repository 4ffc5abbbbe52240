/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WRITER_H
#define KONTEND_WRITER_H

#include "kontend/perfdata.h"
#include "kontend/source.h"
#include <stdbool.h>
#include <sys/uio.h>

/*
 * Writes a source's records as perf.data. During recording the file has the pipe layout, so that
 * every prefix of it is readable; writer_finish() changes it to the file layout, in place. Records
 * of perf rings are written unchanged and undecoded; records without a perf type are written as
 * samples of kontend's own event (kontend/perfdata.h).
 */
struct writer;

struct writer_options {
	const char *path; /* "-": standard output, which stays a pipe */
	int fd;		  /* used when `path` is NULL; stays open */
	const char *name; /* of `fd`, for messages; NULL: none */
	int zstd_level;	  /* 0: not compressed */
	/*
	 * Called when a pipe is full: waits until @fd can be written to, and returns 0, or an errno
	 * that ends the writing. NULL: writing blocks.
	 */
	int (*wait)(void *ctx, int fd);
	void *ctx;
	const char *const *argv; /* command line to be recorded, NULL-terminated; NULL: none */
	uint32_t clock_id;	 /* of the events: CLOCK_MONOTONIC */
	uint64_t max_bytes;	 /* of the finished file; 0: no limit */
	/* The machine of the records, known from the first event on; it must outlive the writer.
	 * NULL: this one. */
	const struct perfdata_machine *machine;
};

enum { WRITER_FULL = 1 }; /* returned if this would make the file too long; nothing was taken */

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
 * Perf records of one ring or of several, in order, each in one piece or in two consecutive ones.
 * They are not copied but are in the file on return, or, compressed, in the memory of the writer.
 * At most WRITER_RUNS pieces.
 */
enum { WRITER_RUNS = 64 };
int writer_put_runs(struct writer *w, const struct iovec *runs, int n, struct error *err);
/*
 * Writes the parts before the events, otherwise written with the first event; attrs and formats
 * must have been put. -EFBIG: they exceed `max_bytes`.
 */
int writer_begin(struct writer *w, struct error *err);
/* Bytes that can still be put so that the finished file is no longer than `max_bytes`. */
uint64_t writer_room(const struct writer *w);
/* On return everything taken so far is in the file. */
int writer_flush(struct writer *w, struct error *err);
/*
 * Clean end: file layout if the output can seek. After an error of writer_put(), too: then with the
 * data written before, or a little less if the disk has no room for the end.
 */
int writer_finish(struct writer *w, struct error *err);
/*
 * Copies the finished recording of @w into @fd, an empty file that can be read and seeks, but only
 * those of the kernel's symbols that it needs: all of them are most of a short recording. @s reads
 * the recording from its beginning. 0, WRITER_SHRINK_NOTHING (all symbols are needed: the caller
 * discards what was written) or a negative errno.
 */
enum { WRITER_SHRINK_NOTHING = 1 };
int writer_shrink(struct source *s, const struct writer *w, int fd, struct error *err);
void writer_stat(const struct writer *w, struct writer_stat *ret);
/* Without writer_finish() the file stays as it is: pipe layout. */
void writer_free(struct writer *w);

#endif
