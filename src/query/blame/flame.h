/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_FLAME_H
#define KONTEND_QUERY_BLAME_FLAME_H

#include "kontend/query-flame.h"

/* The answer of query_flame() to a spec that asks for blame. 0 or -ENOMEM. */
int blame_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

#endif
