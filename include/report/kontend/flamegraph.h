/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLAMEGRAPH_H
#define KONTEND_FLAMEGRAPH_H

#include "kontend/query-zoom.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * All call chains as a flame graph: one SVG that refers to nothing outside. A script in it zooms
 * into a box that is clicked, searches, and says what share matches; without it the picture is
 * whole as well.
 */
struct flamegraph_spec {
	bool by_wait;		       /* boxes are as wide as what was waited, not as samples */
	bool blame;		       /* by_wait, above who is to blame */
	const struct query_zoom *zoom; /* NULL: everything */
};

/* 0; -ENOMEM, or what writing failed with, with @err. */
int flamegraph_write(struct query *q, const struct flamegraph_spec *s, FILE *out,
		     struct error *err);
/* The script, ECMAScript without "]]>". */
const char *flamegraph_script(void);

#endif
