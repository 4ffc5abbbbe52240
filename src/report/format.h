/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_FORMAT_H
#define KONTEND_REPORT_FORMAT_H

#include "kontend/damage.h"
#include "kontend/figure.h"
#include "kontend/jsonw.h"
#include "kontend/query-damage.h"
#include "kontend/query-hist.h"
#include "kontend/query.h"
#include "kontend/report.h"

#include <stdio.h>

/* How far a snapshot can be trusted; 0 if there is none or if the user did not ask for it. */
struct report_snapshot {
	bool known;			  /* there is a snapshot */
	const char *reason;		  /* why there is none or why some of it is missing; or
					   * "" */
	uint32_t missing;		  /* bits of missing things, */
	const char *(*key)(unsigned bit); /* their keys, */
	const char *(*text)(struct query *q, uint32_t missing); /* and their description */
	uint32_t incomplete, dropped;
	const char *dropped_what, *ended_what;
	uint64_t ended_more;
};

/*
 * An answer in each of the formats. JSON is one object: @schema, then the members that @json
 * writes.
 */
struct report_out {
	enum report_format format;
	const char *what, *schema; /* what: of an error, "the report" */
	const void *answer;
	void (*text)(const void *answer, FILE *out);
	void (*json)(const void *answer, struct jsonw *j);
	void (*csv)(const void *answer, FILE *out); /* NULL: @table is all of it */
	const struct table *table;
	char csv_separator; /* 0: ',' */
};
/* Writes it: 0, or the errno of a failed write with @err. */
int report_out(const struct report_out *o, FILE *out, struct error *err);

/* One table in the layout of reports; in JSON a member with the name of the table. */
void report_text_table(const struct table *t, const struct report_spec *s, FILE *out);
void report_text_clean(const char *text, FILE *out); /* without control characters */
void report_text_count(const struct table *t, const char *unit, FILE *out); /* "2 of 3 rows\n" */
/* "# rows of less than 0.5% are left out"; prints nothing without a limit. */
void report_text_limit(const char *what, double percent_limit, FILE *out);
/* "# what ", and the caller may append more; false: there is no snapshot, and the reason is
 * printed. */
bool report_text_title(const char *what, const struct report_snapshot *s, FILE *out);
/* One line for each thing that the tables lack. */
void report_text_limits(struct query *q, const struct report_snapshot *s, FILE *out);
/* A table below a line with its name and number of rows; unknown if one of @needs is missing. */
void report_text_part(const struct report_spec *spec, const char *what, const struct table *t,
		      const struct report_snapshot *s, uint32_t needs, FILE *out);
/* "lost 5.1k (3.1%)"; report_text_at_least() prints a line that begins with @front if data is
 * missing. */
void report_text_lost(const struct model_damage *d, const struct query_loss *loss, FILE *out);
void report_text_at_least(const struct query_loss *loss, const char *front, FILE *out);
/* A line that begins with @front if the recording has no lock events: that, and what it has. */
void report_text_no_locks(struct query *q, const char *front, FILE *out);
void report_csv_table(const struct table *t, char separator /* 0: ',' */, FILE *out);
void report_json_table(struct jsonw *j, const struct table *t, const char *by);
/* The same in two parts, so that the caller can write members between them; then jsonw_end(j,
 * '}'). */
void report_json_head(struct jsonw *j, const struct table *t, const char *by);
/* Members "missing", which lists the missing ones of @needs, and "reason", null if none is
 * missing. */
void report_json_missing(struct jsonw *j, const struct report_snapshot *s, uint32_t needs);
/* A table that may be partly unknown. */
void report_json_part(struct jsonw *j, const struct table *t, const char *by,
		      const struct report_snapshot *s, uint32_t needs);
/* A value as a member, named after its column; a series is a list. */
void report_json_value(struct jsonw *j, const struct column *c, const struct value *v);
void report_json_row(struct jsonw *j, const struct table *t, size_t row); /* its members */
/* A list of the row's members for which @is is true. */
void report_json_keys(struct jsonw *j, const char *name, const struct table *t, size_t row,
		      bool (*is)(const struct value *v));
bool report_is_at_least(const struct value *v);
void report_json_rows(struct jsonw *j, const char *key, const struct table *t);
/* Members of a struct; an array of structs is one of objects. */
void report_json_figures(struct jsonw *j, const struct figure *list, const void *base,
			 uint32_t missing);
void report_json_structs(struct jsonw *j, const char *key, const struct figure *list,
			 const void *array, size_t n, size_t size);
/* Every loss but that of snapshots; @unmatched_pct may be NULL. */
void report_json_damage(struct jsonw *j, const struct model_damage *d,
			const struct query_loss *loss, const double *unmatched_pct);
/* A histogram: a line with its extremes and percentiles, then its bars. */
void report_text_hist(const struct query_hist *h, bool ascii, FILE *out);
void report_json_hist(struct jsonw *j, const char *name, const struct query_hist *h);
/* A node of a call tree; a bar of a histogram. */
extern const struct figure report_node_figures[], report_bar_figures[];

struct sandbox;
/*
 * The rights with which a recording was read, for users who pass results on: a line if they are
 * more than necessary. @s: NULL: this is no recording.
 */
void report_sandbox_text(const struct sandbox *s, FILE *out);
/* The member "sandbox" of a recording, with the protections that are missing. */
void report_sandbox_json(const struct sandbox *s, struct jsonw *j);

#endif
