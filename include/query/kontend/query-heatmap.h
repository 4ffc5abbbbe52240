/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HEATMAP_H
#define KONTEND_QUERY_HEATMAP_H

#include "kontend/query.h"

/*
 * Waits that have ended by when they did and by how long they were: columns of time by rows of
 * length, as far back as figures go. Columns have the same length, which begins at multiples of
 * itself, and rows are whole buckets of histograms: so neither moves while time goes on.
 */
struct query_heatmap_spec {
	struct query_scope scope;
	uint32_t columns, rows; /* at most; 0: 128 columns, a row an octave */
};

struct query_heatmap_cell {
	uint64_t n, ns;
};

struct query_heatmap {
	bool known;	    /* else nothing is kept of when waits ended */
	uint64_t begin_ns;  /* of the first column */
	uint64_t column_ns; /* length of each */
	uint64_t kept_ns;   /* what ended before had no room; 0: all is there */
	uint32_t columns;   /* 1 at least */
	uint32_t rows;	    /* 0: no wait */
	unsigned bucket;    /* where the first row, that of the shortest waits, begins */
	unsigned per_row;   /* buckets of a row */
	struct query_heatmap_cell *cells; /* row after row */
	uint64_t *now; /* by row: waits that go on, so long by now; shorter ones in the first */
	uint64_t most_n, most_ns;    /* of a cell */
	uint64_t least_ns;	     /* of a cell with a wait; 0: there is none */
	uint64_t n, ns;		     /* of all cells */
	uint64_t n_inflight, n_lost; /* n_lost: there was no memory for these */
};

/* 0 or -ENOMEM. */
int query_heatmap(struct query *q, const struct query_heatmap_spec *s, struct query_heatmap *ret);

static inline const struct query_heatmap_cell *query_heatmap_at(const struct query_heatmap *h,
								uint32_t column, uint32_t row)
{
	return &h->cells[(size_t)row * h->columns + column];
}

uint64_t query_heatmap_lower(const struct query_heatmap *h, uint32_t row);   /* shortest of a row */
uint64_t query_heatmap_upper(const struct query_heatmap *h, uint32_t row);   /* shortest above it */
uint64_t query_heatmap_time(const struct query_heatmap *h, uint32_t column); /* its begin */
/* 0: @v is 0; else 1 to @levels, by the logarithm: 1 from @least on, @levels where it is @most. */
unsigned query_heatmap_level(uint64_t v, uint64_t least, uint64_t most, unsigned levels);
/* Of a cell, by the time of its waits or by their number. */
unsigned query_heatmap_cell_level(const struct query_heatmap *h, const struct query_heatmap_cell *c,
				  bool by_wait, unsigned levels);

/* Table "heat": a row for each cell with a wait, by time and length unless sorted. */
struct query_heatmap_rows {
	struct query_heatmap map;
	struct table table;
};

/* 0, -ENOMEM, or -EINVAL with @err. */
int query_heatmap_table(struct query *q, const struct query_heatmap_spec *s,
			const struct query_spec *rows, struct query_heatmap_rows *ret,
			struct error *err);
extern const struct table_kind query_heatmap_kind;

#endif
