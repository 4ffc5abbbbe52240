/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ORIGIN_H
#define KONTEND_QUERY_ORIGIN_H

#include "kontend/query.h"

/* Where the waits with a call chain came from. */
struct query_origin {
	const char *syscall; /* "flock", "page fault"; NULL: none, because of @syscall_why */
	bool faults;	     /* it is a page fault: on nothing that a system call around it names */
	const char *syscall_why;
	const char *at; /* "db.c:412 commit_log", "commit_log+0x1c"; NULL because of @at_why */
	const char *at_why;
	uint64_t syscall_id, at_id; /* of the text, whatever the model's indices are; 0: none */
	uint64_t frame;		    /* of the screen: for that alone; 0: all is known */
	bool known;		    /* it was worked out */
	bool at_library;	    /* all of the program there is of libraries and runtimes */
	/* There is one, but the chain lacks that part: it was not taken, not read, or is cut. */
	bool syscall_lacks, at_lacks;
};

/*
 * Of a wait's call chain, once names and lines are there: for output that is written event by
 * event. Texts stay until the next call. NULL: no memory.
 */
const struct query_origin *query_origin_whole(struct query *q, uint32_t stack);
/*
 * The same of the sleep that an event has just reported, whose task is @tid. -ENOENT: it was not
 * kept; -ENOMEM.
 */
int query_origin_slept(struct query *q, int32_t tid, struct query_origin *ret);

#endif
