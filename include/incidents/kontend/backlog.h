/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BACKLOG_H
#define KONTEND_BACKLOG_H

#include "kontend/source.h"

/*
 * The last seconds of a live stream, so that they can be written as a recording when something has
 * happened. A source around another one: records pass through at once, and a packed copy of each
 * stays for a while. Of what is older the names stay that what follows is understood by: of tasks,
 * cgroups and mappings, what locks were called, and the latest snapshot of each kind. Both are
 * bounded.
 */
struct backlog_options {
	size_t bytes;	  /* packed; 0: 32 MiB */
	uint64_t span_ns; /* so much is kept at least, where there is room; 0: 10 s */
};

struct backlog_stat {
	uint64_t begin_ns;  /* all later events are there; 0: all that there were */
	uint64_t said_ns;   /* by the latest round or tick: all up to there has come */
	uint64_t tick_ns;   /* by the latest tick */
	size_t bytes;	    /* held for records */
	size_t known_bytes; /* and for what is older */
	uint64_t raw_bytes; /* what the records held were before they were packed */
};

/* Takes over @inner, at success only. */
int backlog_new(struct source **ret, struct source *inner, const struct backlog_options *o,
		struct error *err);
void backlog_stat(struct source *s, struct backlog_stat *ret);
/* Nothing later than @from_ns is to go while it is so, up to twice the bytes. 0: no such wish. */
void backlog_hold(struct source *s, uint64_t from_ns);

/* A copy of a part of it. The source may be read and freed by another thread, and can seek. */
struct backlog_taken {
	struct source *source;
	uint64_t begin_ns; /* as above */
	uint64_t known_ns; /* names have what events up to there said: see struct cut_part */
	bool lacks;	   /* for lack of memory names are missing, or what was before */
	void *names;	   /* the body of a snapshot of what locks were called; NULL: none */
	size_t names_len;
};

/*
 * A copy of all that is there, which never changes. Its HOST record says that it was @wall_ns at
 * @clock_ns: the system's clocks may have been set since measuring began. 0 or -ENOMEM, also where
 * memory was missing earlier for what all copies begin with.
 */
int backlog_take(struct source *s, uint64_t clock_ns, uint64_t wall_ns, struct backlog_taken *ret,
		 struct error *err);
void backlog_taken_deinit(struct backlog_taken *t);

#endif
