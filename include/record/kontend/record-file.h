/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_FILE_H
#define KONTEND_RECORD_FILE_H

#include "kontend/error.h"
#include "kontend/record-output.h"
#include "kontend/record.h"
#include "kontend/sideband.h"
#include "kontend/writer.h"
#include <stdbool.h>
#include <stdint.h>

/* The file of a recording, with the earlier parts that it was rotated from. */
struct record_file;

struct record_file_options {
	const char *path;		/* "-": standard output */
	int zstd_level;			/* 0: not compressed */
	uint64_t max_bytes;		/* limit for each finished file; 0: none */
	uint64_t keep;			/* number of earlier parts to keep; 0: all */
	int (*wait)(void *ctx, int fd); /* as in struct writer_options */
	void *ctx;
	const struct sideband_source *names; /* of tasks that are not in /proc; NULL: none */
	bool cgroups;			     /* the stream needs the names of cgroups */
};

/* The file gets its name when it is readable; an older file of that name becomes PATH.old. */
int record_file_new(struct record_file **ret, const struct record_file_options *o,
		    struct error *err);
/* 0; WRITER_FULL: nothing was written; or negative. */
int record_file_put(struct record_file *f, const struct record *r, struct error *err);
/*
 * Call when all that precedes the events is written. Fails if the size limit has no room for it,
 * for @more bytes of the same kind, and, if other parts follow, for as many bytes of events.
 */
int record_file_begin(struct record_file *f, uint64_t more, struct error *err);
/* As writer_put_runs(); @ring: one of the rings that the runs are from. */
int record_file_put_runs(struct record_file *f, uint32_t ring, const struct iovec *runs, int n,
			 struct error *err);
/* Bytes that still fit into the file. */
uint64_t record_file_room(const struct record_file *f);
/* Writes all accepted data to the file. -ENOENT: the file was removed meanwhile. */
int record_file_flush(struct record_file *f, struct error *err);
struct writer *record_file_writer(const struct record_file *f); /* of the current file */
/* Descriptor of the current file, for reading what was flushed; -1: none. */
int record_file_fd(const struct record_file *f);
/* False: a pipe or device, which cannot be rotated. */
bool record_file_is_regular(const struct record_file *f);
/*
 * Finishes the file, appends the time to its name, and begins another one. Call between two
 * records; what precedes the stream is written again. If the finished part is fine, @err does not
 * name it.
 */
int record_file_rotate(struct record_file *f, struct error *err);
/* The stream has ended: from now on the data before a part's events are read at most once. */
void record_file_settle(struct record_file *f);
/* Ends the file cleanly. Also after another function failed: data written so far stay readable. */
int record_file_finish(struct record_file *f, struct error *err);
/*
 * If the finished file is small, leaves out symbols that it does not need. The file is whole in any
 * case, even after an error.
 */
int record_file_shrink(struct record_file *f, struct error *err);
/* Of the current file. */
void record_file_stat(const struct record_file *f, struct writer_stat *ret);
/* The parts that record_file_rotate() has finished. */
const struct record_parts *record_file_parts(const struct record_file *f);
/* Without record_file_finish() the file stays as it is, or is removed if it is unreadable. */
void record_file_free(struct record_file *f);

#endif
