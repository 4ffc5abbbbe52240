/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_FILTER_H
#define KONTEND_SRC_QUERY_FILTER_H

#include "kontend/query.h"

#include <regex.h>

struct filter_term {
	const char *word; /* NUL-terminated */
	regex_t *regex;	  /* of '~' */
	uint64_t u;
	double d;
	size_t col; /* SIZE_MAX: any text column */
	char op;    /* ':' '=' '<' '>' '~' */
	bool world; /* whose lock it is, by the column `kind` */
};

/* In postfix order; of two operators for one place, the first is the inner one. */
struct filter_op {
	enum filter_do { FILTER_TERM, FILTER_TRUE, FILTER_NOT, FILTER_AND, FILTER_OR } what;
	uint32_t term;
};

struct filter {
	struct filter_term *terms;
	struct filter_op *ops; /* none: every row passes */
	size_t n_terms, n;
	uint64_t want; /* columns that it reads, a bit each */
};

struct filter_parser {
	struct filter *f;
	struct arena *arena;
	const struct column *columns;
	size_t n_columns;
	struct error *err;
	const char *at; /* what has not been read yet */
	char *room;	/* where the words go */
	unsigned depth; /* open parentheses */
};

/* filter-parse.c: 0, -ENOMEM, or -EINVAL with @err. filter_deinit() must follow. */
int filter_parse(struct filter *f, struct arena *a, const char *text, const struct column *columns,
		 size_t n_columns, struct error *err);
void filter_deinit(struct filter *f);
/* @holds says of a term, by its place, whether the row has it. */
bool filter_holds(const struct filter *f, bool (*holds)(void *ctx, uint32_t term), void *ctx);
bool filter_match(const struct filter *f, const struct column *columns, size_t n_columns,
		  const struct value *v);

/* "type, mode, name, ...": as many as there is room for. */
const char *column_names(const struct column *c, size_t n, char *buf, size_t size);
/* filter.c: of the term @text, which has no quotes any more and its operator at @op, SIZE_MAX: none
 */
int filter_term_parse(const struct filter_parser *p, struct filter_term *t, const char *text,
		      size_t op);
bool filter_term_match(const struct filter_term *t, const struct column *columns, size_t n_columns,
		       const struct value *row);

#endif
