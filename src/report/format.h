/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_FORMAT_H
#define KONTEND_REPORT_FORMAT_H

#include "kontend/jsonw.h"
#include "kontend/query.h"
#include "kontend/report.h"

/* How far a snapshot can be trusted; of what is not there or not asked for, 0. */
struct report_snapshot {
	bool known;			  /* there is one */
	const char *reason;		  /* "" or why there is none, or something is missing */
	uint32_t missing;		  /* bits of things that it does not have, */
	const char *(*key)(unsigned bit); /* these by name, */
	const char *(*text)(struct query *q, uint32_t missing); /* and in words */
	uint32_t incomplete, dropped;
	const char *dropped_what, *ended_what;
	uint64_t ended_more;
};

/* One table in the manner of these reports; JSON: as a member named as the table is. */
void report_text_table(const struct table *t, const struct report_spec *s, FILE *out);
void report_text_clean(const char *text, FILE *out); /* without control characters */
void report_text_count(const struct table *t, const char *unit, FILE *out); /* "2 of 3 rows\n" */
/* "# rows of less than 0.5% are left out", with a limit. */
void report_text_limit(const char *what, double percent_limit, FILE *out);
/* "# what ", where more may follow; false: there is no snapshot, and why is written. */
bool report_text_title(const char *what, const struct report_snapshot *s, FILE *out);
/* What is not in the tables, a line each. */
void report_text_limits(struct query *q, const struct report_snapshot *s, FILE *out);
/* A table below a line with its name, and how many rows; without one of @needs it is not known. */
void report_text_part(const struct report_spec *spec, const char *what, const struct table *t,
		      const struct report_snapshot *s, uint32_t needs, FILE *out);
/* "lost 5.1k (3.1%)"; the second a line of its own behind @front, where something is missing. */
void report_text_lost(const struct model_damage *d, const struct query_loss *loss, FILE *out);
void report_text_at_least(const struct query_loss *loss, const char *front, FILE *out);
void report_csv_table(const struct table *t, char separator /* 0: ',' */, FILE *out);
void report_json_table(struct jsonw *j, const struct table *t, const char *by);
/* The same in two parts, so that members can come between; then jsonw_end(j, '}'). */
void report_json_head(struct jsonw *j, const struct table *t, const char *by);
/* Members "missing", what of @needs is, and "reason", which is null where nothing is. */
void report_json_missing(struct jsonw *j, const struct report_snapshot *s, uint32_t needs);
/* A table of which some may not be known. */
void report_json_part(struct jsonw *j, const struct table *t, const char *by,
		      const struct report_snapshot *s, uint32_t needs);
/* A value as a member, by its column; a series is a list. */
void report_json_value(struct jsonw *j, const struct column *c, const struct value *v);
void report_json_row(struct jsonw *j, const struct table *t, size_t row); /* its members */
/* A list of the members of the row that are so. */
void report_json_keys(struct jsonw *j, const char *name, const struct table *t, size_t row,
		      bool (*is)(const struct value *v));
bool report_is_at_least(const struct value *v);
void report_json_rows(struct jsonw *j, const char *key, const struct table *t);
/* Members of a struct; an array of structs as one of objects. */
void report_json_figures(struct jsonw *j, const struct figure *list, const void *base,
			 uint32_t missing);
void report_json_structs(struct jsonw *j, const char *key, const struct figure *list,
			 const void *array, size_t n, size_t size);
/* All but snapshots; @unmatched_pct: NULL: without. */
void report_json_damage(struct jsonw *j, const struct model_damage *d,
			const struct query_loss *loss, const double *unmatched_pct);
/* A histogram: its extremes and percentiles behind what stands in the line, then its bars. */
void report_text_hist(const struct query_hist *h, bool ascii, FILE *out);
void report_json_hist(struct jsonw *j, const char *name, const struct query_hist *h);
/* A node of a call tree, a bar of a histogram. */
extern const struct figure report_node_figures[], report_bar_figures[];

#endif
