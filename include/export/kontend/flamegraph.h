/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLAMEGRAPH_H
#define KONTEND_FLAMEGRAPH_H

#include "kontend/query-zoom.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * All call chains as a flame graph: one SVG that loads nothing else. Its script zooms into a box
 * that is clicked, searches, and shows the share of the matches; without scripts the picture is
 * complete, too.
 */
struct flamegraph_spec {
	bool by_wait;		       /* width is waiting time instead of samples */
	bool blame;		       /* by_wait, above the holders that are to blame */
	const struct query_zoom *zoom; /* NULL: everything */
};

/* 0; -ENOMEM, or the error of the write, with @err. */
int flamegraph_write(struct query *q, const struct flamegraph_spec *s, FILE *out,
		     struct error *err);
struct query_flame_diff;
/*
 * The differences of two as such a picture: how wide a box is is what both sides weigh, its colour
 * how much more (red) or less (blue) there is in B. Returns as above.
 */
int flamegraph_write_diff(const struct query_flame_diff *d, struct arena *arena, FILE *out,
			  struct error *err);
/* The script, ECMAScript without "]]>". */
const char *flamegraph_script(void);

#endif
