/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_REPORT_BLAME_H
#define KONTEND_SRC_REPORT_BLAME_H

#include "kontend/query-blame.h"
#include "kontend/query-knots.h"

#include <stdio.h>

struct jsonw;
struct report_data;

/* The sums above the tables of the view "blame". */
struct report_blame {
	struct query_blame_sum sum;
	bool is_summed; /* @sum was asked for: by one column set, and shown by others as well */
	struct query_knots knots;
	struct query_held_sum held;
	struct query_handed handed;
};

/* Each asks for a column set; in JSON one of them asks for all. */
int report_blame_ask(struct report_data *d, const struct query_spec *s, struct error *err);
int report_held_ask(struct report_data *d, const struct query_spec *s, struct error *err);
int report_did_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_blame_text(const struct report_data *d, FILE *out);
void report_blame_json(const struct report_data *d, struct jsonw *j);

#endif
