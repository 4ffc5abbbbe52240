/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_ASKED_H
#define KONTEND_TESTS_ASKED_H

#include "kontend/query.h"
#include "kontend/report.h"
#include "rig.h"

/* A stream, the engine that played it, and a query on it: the state of cmocka tests. */
struct asked {
	struct rig rig;
	struct query q;
};

int asked_setup_empty(void **state); /* the test states a stream and calls asked_play() */
int asked_setup(void **state);	     /* the canned stream, played */
int asked_teardown(void **state);
void asked_play(struct asked *w, const struct model_limits *limits);

struct table asked_locks(struct asked *w, struct query_spec spec);
struct table asked_waiters(struct asked *w, struct query_spec spec);

/* Makes the report of the played stream again; free() it. Fails when it cannot be written. */
char *asked_report(struct query *q, const struct report_spec *s);

/* By column key. An unknown value fails cell_u() and is "-" to cell_s(). */
const struct value *cell_at(const struct table *t, size_t row, const char *key);
uint64_t cell_u(const struct table *t, size_t row, const char *key);
const char *cell_s(const struct table *t, size_t row, const char *key);
uint64_t column_sum(const struct table *t, const char *key);

#endif
