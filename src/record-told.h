/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RECORD_TOLD_H
#define KONTEND_SRC_RECORD_TOLD_H

#include "kontend/opts.h"
#include "record-file.h"
#include "record-namer.h"
#include "record-names.h"

/*
 * What a recording tells of functions: while it is made (record-namer.h), and of all of it at its
 * end, where it can be read again (record-names.h). Zeroed, it tells nothing.
 */
struct record_told {
	bool wanted;
	uint64_t max_bytes; /* of a file; 0: any number */
	struct codesource *code;
	struct record_sift sift; /* to be fed with all that is recorded */
	struct record_namer *namer;
	uint64_t left;		     /* functions that found no room */
	struct record_named *tables; /* for the files that follow */
	size_t tables_bytes;
	uint64_t left_tables;
};

int record_told_init(struct record_told *t, const struct opts *o, struct codesource *code,
		     struct error *err);
int record_told_start(struct record_told *t, struct error *err);
/* Bytes of a file that are to be left free for what is known only when it is full. */
uint64_t record_told_reserve(const struct record_told *t);
/* Between two records: what is new. 0 or negative. */
int record_told_put(struct record_told *t, struct record_file *f, struct error *err);
/* A file has begun that follows another: what holds for both. 0 or negative. */
int record_told_begin(struct record_told *t, struct record_file *f, struct error *err);
/* The file is at its end, and others follow. @ended: so has the stream. 0 or negative. */
int record_told_cut(struct record_told *t, struct record_file *f, bool ended, struct error *err);
/*
 * The recording is at its end: before record_file_finish(). What is missing, and why, into
 * err->text; NULL: nothing. It is good in any case.
 */
const char *record_told_end(struct record_told *t, struct record_file *f,
			    const struct record_names_options *o, struct error *err);
void record_told_deinit(struct record_told *t);

#endif
