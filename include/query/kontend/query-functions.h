/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FUNCTIONS_H
#define KONTEND_QUERY_FUNCTIONS_H

#include "kontend/query.h"

struct funcsnap;

/* At most so many functions, and bytes of their names and of their code. */
struct query_functions_limits {
	size_t functions, names, code;
	/*
	 * Start addresses of functions that the recording has already: they are left out, unless
	 * their code is to be added; new ones are put here. NULL: it has none.
	 */
	struct map64 *reported;
};

extern const struct query_functions_limits query_functions_usual;
/* As many of these as find room in so many bytes. */
struct query_functions_limits query_functions_within(uint64_t bytes);

/*
 * The names of all functions in the call chains so far, and the code of those that have samples or
 * waits, the hottest first: into the empty @ret, sorted, to be written to a recording. Names must
 * have been loaded, see query_functions_meet(). 0 or -ENOMEM with @err.
 */
int query_functions(struct query *q, const struct query_functions_limits *l, struct funcsnap *ret,
		    struct error *err);
/* Asks for the names of all of them: query_load_names() until it has no more to do. */
int query_functions_meet(struct query *q, struct error *err);

/*
 * For output that is written event by event, after query_begin(): the function of a program at
 * @frame of a call chain, whose names are loaded first. NULL: no memory.
 */
const char *query_functions_name(struct query *q, uint64_t frame);
/* The same of the call chain of a program: the place of the call that wanted its lock. */
uint32_t query_functions_own_frame(struct query *q, const uint64_t *frames, uint32_t n);

#endif
