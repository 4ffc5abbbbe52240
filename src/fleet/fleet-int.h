/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_FLEET_INT_H
#define KONTEND_FLEET_FLEET_INT_H

#include "kontend/fleet-report.h"
#include "kontend/jsonw.h"

/* Parts of a report that merged and compared recordings share. */
void fleet_faults_text(const struct fleet_given *g, FILE *out);
/* The waits that the report is limited to, for the first line of the header. */
void fleet_only_text(const struct fleet_spec *s, FILE *out);
/* Time range, waiting time, measured time, and missing data. */
void fleet_sum_text(const struct fleet_sum *sum, FILE *out);
/* The same in JSON, with the way in which recordings were read. */
void fleet_about_json(const struct fleet_spec *s, struct jsonw *j);
/* The numbers of recordings that were given and added. */
void fleet_numbers_json(const struct fleet_given *g, const struct fleet_sum *sum, struct jsonw *j);
/* @fixed: number of columns that are the row's own. */
void fleet_table_json(const struct table *t, size_t fixed, enum fleet_at at, const char *key,
		      struct jsonw *j);
/* Did the user ask for this table? */
static inline bool fleet_is_asked(const struct fleet_spec *s, int at)
{
	return !s->tables || s->tables & 1u << at;
}
/* The table for CSV: the one that the user asked for, or @otherwise. */
int fleet_csv_table(const struct fleet_spec *s, int otherwise);

#endif
