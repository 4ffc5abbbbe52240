/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HEATMAP_H
#define KONTEND_HEATMAP_H

#include "kontend/error.h"
#include "kontend/query.h"
#include <stdio.h>

/* When waits ended and how long they were, as one SVG that loads nothing else and has no script. */
struct heatmap_spec {
	struct query_scope scope;
	bool by_wait; /* colours are the time of waits instead of their number */
};

/* 0; -ENODATA: there are no waits; -ENOMEM, or the error of the write, with @err. */
int heatmap_write(struct query *q, const struct heatmap_spec *s, FILE *out, struct error *err);

#endif
