/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_REPORT_FLAME_H
#define KONTEND_SRC_REPORT_FLAME_H

#include "kontend/query-flame.h"

#include <stdio.h>

struct jsonw;
struct report_data;

/* The flame graph and its options. */
struct report_flame {
	struct query_flame_rows rows;
	bool by_wait;
	const char *refused; /* why the graph cannot show blame; NULL: it can */
};

int report_flame_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_flame_text(const struct report_data *d, FILE *out);
void report_flame_json(const struct report_data *d, struct jsonw *j);

#endif
