/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_RESOLVE_THREAD_H
#define KONTEND_RECORD_RESOLVE_THREAD_H

#include "kontend/codesource.h"
#include "kontend/error.h"
#include "kontend/query-functions.h"
#include "sampler.h"

/*
 * Finds out while it is recorded what the functions are called that go by, and what the code of the
 * hot ones is, for recordings that have no end where that could be done: who is killed, pipes, and
 * parts that others follow. A thread of its own, so that nobody waits for it. What it has found is
 * the body of a snapshot of functions, with what is new since the one before.
 */
struct resolve_thread;

struct resolve_thread_options {
	struct codesource *code;	    /* of the kernel; NULL: none; only the thread uses it */
	struct query_functions_limits most; /* in one file */
	bool keep_symbols;		    /* of programs, for the next time */
};

/* A snapshot that is to be put into the recording. */
struct symbol_batch {
	struct symbol_batch *next;
	size_t len;
	uint64_t left;	/* functions for which there was no room */
	bool is_tables; /* no functions, but tables for unwinding: of all files from now on */
	char body[];
};

/* Its input is *ret_sift, which may be fed from now on. */
int resolve_thread_new(struct resolve_thread **ret, const struct resolve_thread_options *o,
		       struct record_sampler *ret_sift, struct error *err);
int resolve_thread_start(struct resolve_thread *n, struct error *err);
/* The next one, to be freed with mem_free(); NULL: there is nothing new. */
struct symbol_batch *resolve_thread_take(struct resolve_thread *n);
/*
 * What was fed so far is all of a file: waits until the rest of it can be taken, @most_ns long.
 * For the next file everything is told anew.
 */
void resolve_thread_cut(struct resolve_thread *n, uint64_t most_ns);
/* Nothing more is fed: waits for what is left, or with @drop lets it go. -errno: it has failed. */
int resolve_thread_stop(struct resolve_thread *n, bool drop, struct error *err);
void resolve_thread_free(struct resolve_thread *n);

#endif
