/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_JSONW_H
#define KONTEND_JSONW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes JSON to a stream: it adds commas, indentation and escapes; the caller balances begin and
 * end. @key is NULL inside arrays. The contents of a `flat` object or array are on one line. Errors
 * are the stream's: check ferror() at the end.
 */
struct jsonw {
	FILE *out;
	uint16_t depth, flat;
	bool tight; /* without blanks between members: for lines that only programs read */
	bool any;   /* this level has a member already: it needs a comma */
};

void jsonw_begin(struct jsonw *j, const char *key, char bracket, bool flat); /* '{' or '[' */
void jsonw_end(struct jsonw *j, char bracket);				     /* '}' or ']' */
/* UTF-8; bad bytes become U+FFFD, control characters and bidi overrides \u escapes; NULL: null. */
void jsonw_str(struct jsonw *j, const char *key, const char *s);
void jsonw_u64(struct jsonw *j, const char *key, uint64_t v);
void jsonw_i64(struct jsonw *j, const char *key, int64_t v);
void jsonw_double(struct jsonw *j, const char *key, double v); /* three decimals; NaN, inf: null */
/* @ns in milliseconds, with all six decimals. */
void jsonw_millis(struct jsonw *j, const char *key, uint64_t ns);
void jsonw_bool(struct jsonw *j, const char *key, bool v);
void jsonw_null(struct jsonw *j, const char *key);
void jsonw_hex(struct jsonw *j, const char *key, uint64_t v); /* "0xffff..." as a string */

/* As jsonw_double() writes it, independent of the locale: for CSV. A @size of 40 is enough. */
void jsonw_fixed(char *buf, size_t size, double v);

#endif
