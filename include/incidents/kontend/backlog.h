/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BACKLOG_H
#define KONTEND_BACKLOG_H

#include "kontend/source.h"

/*
 * The last seconds of a live stream, which can be written as a recording after an incident. A
 * source around another one: records pass through at once, and a packed copy of each is kept for a
 * while. Of older records only the names are kept that later ones need: of tasks, cgroups, mappings
 * and locks, and the latest snapshot of each kind. Both have limits.
 */
struct backlog_options {
	size_t bytes;	  /* packed; 0: 32 MiB */
	uint64_t span_ns; /* least time that is kept, if there is room; 0: 10 s */
};

struct backlog_stat {
	uint64_t begin_ns;  /* all later events are in it; 0: all events */
	uint64_t stream_ns; /* time of the latest round or tick: all earlier events have arrived */
	uint64_t tick_ns;   /* time of the latest tick */
	size_t bytes;	    /* of packed records */
	size_t known_bytes; /* of the state before them */
	uint64_t raw_bytes; /* of the same records before they were packed */
};

/* Takes over @inner, unless it fails. */
int backlog_new(struct source **ret, struct source *inner, const struct backlog_options *o,
		struct error *err);
void backlog_stat(struct source *s, struct backlog_stat *ret);
/* Keeps all records after @from_ns until the next call, up to twice the bytes. 0: no longer. */
void backlog_hold(struct source *s, uint64_t from_ns);

/* A copy of a part of it. Another thread may read and free the source, which can seek. */
struct backlog_taken {
	struct source *source;
	uint64_t begin_ns; /* as above */
	uint64_t known_ns; /* time up to which names are complete: see struct cut_part */
	bool lacks;	   /* names, or older records, are missing for lack of memory */
	void *names;	   /* the body of a snapshot of the names of locks; NULL: none */
	size_t names_len;
};

/*
 * Takes a copy of all records, which never changes. Its HOST record says that it was @wall_ns at
 * @clock_ns, as the clocks of the system may have been set since measuring began. 0 or -ENOMEM,
 * also if there was no memory earlier for the records that each copy begins with.
 */
int backlog_take(struct source *s, uint64_t clock_ns, uint64_t wall_ns, struct backlog_taken *ret,
		 struct error *err);
void backlog_taken_deinit(struct backlog_taken *t);

#endif
