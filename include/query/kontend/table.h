/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TABLE_H
#define KONTEND_TABLE_H

#include "kontend/arena.h"
#include "kontend/held.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_type {
	COLUMN_TEXT,
	COLUMN_COUNT,  /* u: events */
	COLUMN_INT,    /* i: pid, cpu: printed as it is */
	COLUMN_NS,     /* u: a duration */
	COLUMN_RATE,   /* d: per second */
	COLUMN_NSRATE, /* d: ns waited per second; a screen shows the average number of tasks */
	COLUMN_PCT,    /* d: 0..100 */
	COLUMN_ADDR,   /* u: 0xffff... */
	COLUMN_SERIES, /* s: array of `n` u64, oldest first; a sparkline on the screen */
	COLUMN_BOOL,   /* u: 0 or 1 */
	COLUMN_NSDIFF, /* d: one duration less another, in ns */
};

enum {
	COLUMN_SCREEN = 1,   /* shown by views and the text report */
	COLUMN_REPORT = 2,   /* in CSV and JSON */
	COLUMN_WIDE = 4,     /* takes what width is left over */
	COLUMN_LIST = 8,     /* a text of several, separated by newlines: an array in JSON */
	COLUMN_NUMBERS = 16, /* with COLUMN_LIST: of numbers, not of texts */
	COLUMN_SPREAD = 32,  /* a series of things instead of buckets: all of it, from the left */
	COLUMN_CHOSEN = 64,  /* asked for: shown whatever it has */
	COLUMN_SIGNED = 128, /* a difference: what is above 0 has a + */
};

struct column {
	const char *key;   /* name in JSON, CSV, --sort and filters */
	const char *title; /* header on the screen */
	const char *help;  /* one line, for man page and help */
	uint8_t type;	   /* enum column_type */
	uint8_t width;	   /* on the screen */
	uint8_t priority;  /* 0: always shown; the highest is dropped first */
	uint8_t flags;
	uint32_t only_by; /* the ways to make rows in which it says something, as bits; 0: all */
};

static inline bool column_is_by(const struct column *c, unsigned by)
{
	return !c->only_by || c->only_by & 1u << by;
}

/* For masks of columns; columns that are 64 places apart have the same. */
static inline uint64_t table_bit(size_t column)
{
	return 1ull << column % 64;
}

struct row_rank;
struct value;

/* Common part of all answers of a query. The functions are for the query alone. */
struct table_kind {
	const char *name;	      /* as in JSON */
	const struct column *columns; /* at most TABLE_COLUMNS */
	size_t n_columns;
	/* Fills in at least the columns whose table_bit() is in @want; the others may be unknown.
	 */
	void (*fill)(void *ctx, size_t row, uint64_t want, struct value *v);
	void (*rank)(void *ctx, size_t row, struct row_rank *ret);
};

struct value {
	union {
		uint64_t u;
		int64_t i;
		double d;
		const char *s;
		const uint64_t *series;
	};
	uint32_t n;    /* COLUMN_SERIES: length */
	bool known;    /* false: "-" on the screen, null in JSON */
	bool approx;   /* sampled or inferred: "~" */
	bool at_least; /* so much or more, as some was lost: "≥", ">" in ASCII */
};

/*
 * The answer of a query: typed columns and rows, in the arena of the query. Views, text, CSV and
 * JSON are all drawn from it. A row's id is stable over time; a selection follows it.
 */
struct table {
	const char *name; /* "locks": key under "views" in JSON */
	const struct column *columns;
	const struct column *keys; /* by whose keys columns are chosen, in the same places */
	size_t n_columns;
	struct value *values; /* n_rows x n_columns, but for the following */
	/* Of so many rows only, from the first one on; of the others nothing is known. 0: of all */
	size_t window_first, window_n;
	/* By column: the greatest value of all rows, as far as they are known. NULL: not worked out
	 */
	const double *most;
	uint64_t *ids;
	uint64_t order; /* tables with the same number have the same ids; 0: not known */
	size_t n_rows;
	size_t n_total;	 /* before filter and limit */
	size_t n_match;	 /* after the filter, before the limit */
	size_t sort_col; /* SIZE_MAX: none */
	bool reverse;
	struct held held;
};

extern const struct value table_unknown;

static inline const struct value *table_value(const struct table *t, size_t row, size_t col)
{
	held_check(&t->held);
	if (t->window_n && row - t->window_first >= t->window_n)
		return &table_unknown;
	return &t->values[(row - t->window_first) * t->n_columns + col];
}

/* Counts, times and rates as a number to draw by; 0 for what is not known, and all others. */
double table_number(const struct column *c, const struct value *v);

/* A series not shown nor reported: of a histogram, which are three: from, up to, how many. */
static inline bool table_is_bucket(const struct column *c)
{
	return c->type == COLUMN_SERIES && !c->flags;
}

/* Does a column sort from the greatest by nature? Names and ids begin with the smallest. */
bool table_descends(const struct column *c);
/* Do values rise from row to row? */
bool table_rises(const struct table *t);
/*
 * That column of all that are shown or reported, or SIZE_MAX: by its key, else by its title, whose
 * case does not count.
 */
size_t table_find(const struct table_kind *kind, const char *name);
size_t table_find_in(const struct column *c, size_t n, const char *name);
/* Index of column @key, or SIZE_MAX. */
size_t table_column(const struct table *t, const char *key);
/* The cell of column @key; there is none: table_unknown. */
const struct value *table_cell(const struct table *t, size_t row, const char *key);
/* Its text and its number; not known: NULL and 0. */
const char *table_text(const struct table *t, size_t row, const char *key);
uint64_t table_u64(const struct table *t, size_t row, const char *key);
/* @none: for a text that is not known or empty. */
const char *table_text_or(const struct table *t, size_t row, const char *key, const char *none);
/* Row of id, or SIZE_MAX. */
size_t table_row(const struct table *t, uint64_t id);
/* The room that a column needs. */
struct table_room {
	int width;	  /* it has this or is not shown; 0: it is never shown */
	int more;	  /* what it should have on top before those that are nice to have come */
	uint8_t priority; /* as of struct column; from TABLE_NICE on it is nice to have */
};

enum { TABLE_COLUMNS = 128 /* none is shown beyond */, TABLE_NICE = 3 };

/*
 * Which of @n columns have room in @width, each with @gap after it: those of priority 0, then by
 * priority and table order, until one does not fit. Returns the remaining width, below 0 if those
 * of priority 0 do not fit.
 */
int table_fit(const struct table_room *c, size_t n, int width, int gap, bool *ret_shown);

/* Is the screen form of the value a dot or a dash, or blank: zero, not known, or no text? */
bool table_is_nothing(const struct column *c, const struct value *v);
/*
 * Screen form of a value (units attached, "·" for zero of counts and durations, "-" for unknown,
 * "~" before approximate ones; ASCII "." for "·" with @ascii); returns buf.
 */
const char *table_format(const struct column *c, const struct value *v, bool ascii, char *buf,
			 size_t size);

#endif
