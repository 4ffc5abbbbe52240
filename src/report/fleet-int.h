/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_FLEET_INT_H
#define KONTEND_REPORT_FLEET_INT_H

#include "kontend/fleet-report.h"
#include "kontend/jsonw.h"

/* What is said of many recordings, merged or compared. */
void fleet_faults_text(const struct fleet_given *g, FILE *out);
/* Behind what the first line of the header begins with: which waits it is about. */
void fleet_only_text(const struct fleet_spec *s, FILE *out);
/* From when to when, how much was waited and measured, and what is missing. */
void fleet_sum_text(const struct fleet_sum *sum, FILE *out);
/* The same in JSON, and how it was read. */
void fleet_about_json(const struct fleet_spec *s, struct jsonw *j);
/* What was given and added, and the numbers of that. */
void fleet_numbers_json(const struct fleet_given *g, const struct fleet_sum *sum, struct jsonw *j);
/* @fixed: so many columns are the row's own. */
void fleet_table_json(const struct table *t, size_t fixed, enum fleet_at at, const char *key,
		      struct jsonw *j);
/* Is the table asked for? */
static inline bool fleet_is_asked(const struct fleet_spec *s, int at)
{
	return !s->tables || s->tables & 1u << at;
}
/* The one that CSV is of: that which is asked for, or @otherwise. */
int fleet_csv_table(const struct fleet_spec *s, int otherwise);
/* 0, or the errno of a failed write, with @err: "Cannot write all that was ...". */
int fleet_written(FILE *out, const char *what, struct error *err);

#endif
