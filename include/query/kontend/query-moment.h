/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_MOMENT_H
#define KONTEND_QUERY_MOMENT_H

#include "kontend/query.h"

/*
 * A moment that was marked: a copy of the engine's model, which is asked as the engine's own is.
 * Names of functions are the engine's, which must live as long.
 */
struct query_moment {
	struct engine *engine; /* that the query takes its copy to be */
	struct query query;
};

/* 0 or -ENOMEM with all empty. */
int query_moment_init(struct query_moment *m, const struct engine *e);
void query_moment_deinit(struct query_moment *m);

#endif
