/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_FILE_H
#define KONTEND_RECORD_FILE_H

#include "kontend/error.h"
#include "kontend/record.h"
#include "kontend/sideband.h"
#include "kontend/writer.h"
#include "rotation-files.h"
#include <stdbool.h>
#include <stdint.h>

/* The file that a recording is written to, and those that it was written to before. */
struct record_file;

struct record_file_options {
	const char *path;		/* "-": standard output */
	int zstd_level;			/* 0: not compressed */
	uint64_t max_bytes;		/* of each file, finished; 0: any number */
	uint64_t keep;			/* at most so many earlier parts; 0: all of them */
	int (*wait)(void *ctx, int fd); /* as in struct writer_options */
	void *ctx;
	const struct sideband_source *names; /* of tasks that are not in /proc; NULL: none */
	bool cgroups;			     /* the names of cgroups belong to the stream */
};

/* The file is there under its name when it can be read; what had the name becomes PATH.old then. */
int record_file_new(struct record_file **ret, const struct record_file_options *o,
		    struct error *err);
/* 0, WRITER_FULL: nothing of it was taken, or negative. */
int record_file_put(struct record_file *f, const struct record *r, struct error *err);
/*
 * What stands before the events is written: fails where there is no room for it, with @more bytes
 * of the same that are yet to come, and, where others follow, for as many bytes of events.
 */
int record_file_begin(struct record_file *f, uint64_t more, struct error *err);
/* As writer_put_runs(); @ring: one that they come from. */
int record_file_put_runs(struct record_file *f, uint32_t ring, const struct iovec *runs, int n,
			 struct error *err);
/* Bytes that still find room in it. */
uint64_t record_file_room(const struct record_file *f);
/* What was taken is in the file when this returns. -ENOENT: that was removed meanwhile. */
int record_file_flush(struct record_file *f, struct error *err);
struct writer *record_file_writer(const struct record_file *f); /* of the present file */
/* Of the present file, for reading what was flushed; -1: none. */
int record_file_fd(const struct record_file *f);
/* Can it be rotated? Pipes and devices cannot. */
bool record_file_is_regular(const struct record_file *f);
/*
 * Finishes the file, which gets the time behind its name, and begins another one. Between two
 * records; what stands before the stream is written anew. The name is left out of @err where the
 * part that was finished is fine.
 */
int record_file_rotate(struct record_file *f, struct error *err);
/* The stream has ended: what files have before their events is read once more at most. */
void record_file_settle(struct record_file *f);
/* Clean end. Also after a failure of the others: what is written then stays readable. */
int record_file_finish(struct record_file *f, struct error *err);
/*
 * Of the finished file, if it is small: leaves out what it does not need. It is whole in any case,
 * also after an error.
 */
int record_file_shrink(struct record_file *f, struct error *err);
/* Of the present file. */
void record_file_stat(const struct record_file *f, struct writer_stat *ret);
/* Those that record_file_rotate() has finished. */
const struct record_parts *record_file_parts(const struct record_file *f);
/* Without record_file_finish() the file stays as it is, or vanishes when nothing can read it. */
void record_file_free(struct record_file *f);

#endif
