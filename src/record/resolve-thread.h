/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_RESOLVE_THREAD_H
#define KONTEND_RECORD_RESOLVE_THREAD_H

#include "kontend/error.h"
#include "kontend/query-functions.h"
#include "kontend/record-sampler.h"
#include "kontend/textsnap.h"

/*
 * Finds names of functions, and code of hot ones, during the recording. For recordings that cannot
 * do that at their end: kontend may be killed, pipes cannot be read again, and rotated parts end
 * before the stream. A separate thread, so that recording never waits for it. Each result is the
 * body of a function snapshot with what is new since the previous one.
 */
struct resolve_thread;

struct resolve_thread_options {
	struct codesource *code;	    /* of the kernel; NULL: none; only the thread uses it */
	struct query_functions_limits most; /* limits for one file */
	bool keep_symbols;		    /* cache symbols of programs for the next run */
	struct lock_requests *lock_requests; /* for names of locks; borrowed; NULL: none */
};

/* A snapshot to write into the recording. */
struct symbol_batch {
	struct symbol_batch *next;
	size_t len;
	uint64_t left;	/* functions without room */
	bool is_tables; /* unwind tables instead of functions: for all files from now on */
	char body[];
};

/* *ret_sift is its input, and may be fed from now on. */
int resolve_thread_new(struct resolve_thread **ret, const struct resolve_thread_options *o,
		       struct record_sampler *ret_sift, struct error *err);
int resolve_thread_start(struct resolve_thread *n, struct error *err);
/* The next result, for mem_free(); NULL: nothing new. */
struct symbol_batch *resolve_thread_take(struct resolve_thread *n);
/*
 * The data fed so far are all of a file: waits until its remaining results can be taken, at most
 * @most_ns. For the next file everything is reported again.
 */
void resolve_thread_cut(struct resolve_thread *n, uint64_t most_ns);
/*
 * No more data is fed: waits for the remaining results, or with @drop discards them. -errno: the
 * thread failed.
 */
int resolve_thread_stop(struct resolve_thread *n, bool drop, struct error *err);
void resolve_thread_free(struct resolve_thread *n);

#endif
