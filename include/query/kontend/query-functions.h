/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FUNCTIONS_H
#define KONTEND_QUERY_FUNCTIONS_H

#include "kontend/query.h"

struct funcsnap;

/* At most so many functions, and bytes of their names and of their code. */
struct query_functions_limits {
	size_t functions, names, code;
	/* Those that were told already, by where they begin: they are left out, and the new ones
	 * added, unless it turns out that there is code to be told. NULL: none was. */
	struct map64 *told;
};

extern const struct query_functions_limits query_functions_usual;
/* As many of these as find room in so many bytes. */
struct query_functions_limits query_functions_within(uint64_t bytes);

/*
 * What the functions of the call chains so far are called, and the code of those that cost CPU time
 * or were waited in, the hottest first: into the empty @ret, sorted, for a recording to keep. Names
 * have been loaded, see query_functions_meet(). 0 or -ENOMEM with @err.
 */
int query_functions(struct query *q, const struct query_functions_limits *l, struct funcsnap *ret,
		    struct error *err);
/* Asks for the names of all of them: query_load_names() until it has no more to do. */
int query_functions_meet(struct query *q, struct error *err);

#endif
