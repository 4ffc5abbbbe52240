/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SYMBOLS_H
#define KONTEND_RECORD_SYMBOLS_H

#include "file.h"
#include "kontend/opts.h"
#include "resolve-final.h"
#include "resolve-thread.h"

/*
 * What a recording tells of functions: while it is made (resolve-thread.h), and of all of it at
 * its end, where it can be read again (resolve-final.h). Zeroed, it tells nothing.
 */
struct record_symbols {
	bool wanted;
	uint64_t max_bytes; /* of a file; 0: any number */
	struct codesource *code;
	struct record_sampler sampler; /* to be fed with all that is recorded */
	struct resolve_thread *resolver;
	uint64_t left;		     /* functions that found no room */
	struct symbol_batch *tables; /* for the files that follow */
	size_t tables_bytes;
	uint64_t left_tables;
};

int record_symbols_init(struct record_symbols *t, const struct opts *o, struct codesource *code,
			struct error *err);
int record_symbols_start(struct record_symbols *t, struct error *err);
/* Bytes of a file that are to be left free for what is known only when it is full. */
uint64_t record_symbols_reserve(const struct record_symbols *t);
/* Between two records: what is new. 0 or negative. */
int record_symbols_put(struct record_symbols *t, struct record_file *f, struct error *err);
/* A file has begun that follows another: what holds for both. 0 or negative. */
int record_symbols_begin(struct record_symbols *t, struct record_file *f, struct error *err);
/* The file is at its end, and others follow. @ended: so has the stream. 0 or negative. */
int record_symbols_cut(struct record_symbols *t, struct record_file *f, bool ended,
		       struct error *err);
/*
 * The recording is at its end: before record_file_finish(). What is missing, and why, into
 * err->text; NULL: nothing. It is good in any case.
 */
const char *record_symbols_end(struct record_symbols *t, struct record_file *f,
			       const struct resolve_final_options *o, struct error *err);
void record_symbols_deinit(struct record_symbols *t);

#endif
