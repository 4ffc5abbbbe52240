/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RECORD_NAMER_H
#define KONTEND_SRC_RECORD_NAMER_H

#include "kontend/codesource.h"
#include "kontend/error.h"
#include "kontend/query-functions.h"
#include "record-sift.h"

/*
 * Finds out while it is recorded what the functions are called that go by, and what the code of the
 * hot ones is, for recordings that have no end where that could be done: who is killed, pipes, and
 * parts that others follow. A thread of its own, so that nobody waits for it. What it has found is
 * the body of a snapshot of functions, with what is new since the one before.
 */
struct record_namer;

struct record_namer_options {
	struct codesource *code;	    /* of the kernel; NULL: none; only the thread uses it */
	struct query_functions_limits most; /* in one file */
	bool keep_symbols;		    /* of programs, for the next time */
};

/* A snapshot that is to be put into the recording. */
struct record_named {
	struct record_named *next;
	size_t len;
	uint64_t left;	/* functions for which there was no room */
	bool is_tables; /* no functions, but tables for unwinding: of all files from now on */
	char body[];
};

/* Its input is *ret_sift, which may be fed from now on. */
int record_namer_new(struct record_namer **ret, const struct record_namer_options *o,
		     struct record_sift *ret_sift, struct error *err);
int record_namer_start(struct record_namer *n, struct error *err);
/* The next one, to be freed with mem_free(); NULL: there is nothing new. */
struct record_named *record_namer_take(struct record_namer *n);
/*
 * What was fed so far is all of a file: waits until the rest of it can be taken, @most_ns long.
 * For the next file everything is told anew.
 */
void record_namer_cut(struct record_namer *n, uint64_t most_ns);
/* Nothing more is fed: waits for what is left, or with @drop lets it go. -errno: it has failed. */
int record_namer_stop(struct record_namer *n, bool drop, struct error *err);
void record_namer_free(struct record_namer *n);

#endif
