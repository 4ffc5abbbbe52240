// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as JSON, schema kontend.report/2: raw numbers (ns, counts), addresses as strings since
 * they exceed what a double holds, null for unknown values. Keys are the keys of the columns, so a
 * new column of a table appears in the report without a change here.
 */
#include "internal.h"
#include "kontend/query-incidents.h"
#include "kontend/sandbox-state.h"

void report_json_rows(struct jsonw *j, const char *key, const struct table *t)
{
	jsonw_begin(j, key, '[', false);
	for (size_t row = 0; row < t->n_rows; row++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_row(j, t, row);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void report_json_head(struct jsonw *j, const struct table *t, const char *by)
{
	jsonw_begin(j, t->name, '{', false);
	if (by)
		jsonw_str(j, "by", by);
	jsonw_str(j, "sort", t->sort_col == SIZE_MAX ? NULL : t->columns[t->sort_col].key);
	jsonw_u64(j, "total_rows", t->n_total);
	jsonw_u64(j, "matching_rows", t->n_match);
}

void report_json_table(struct jsonw *j, const struct table *t, const char *by)
{
	report_json_head(j, t, by);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}

/* Without a snapshot everything is missing. */
static uint32_t missing_of(const struct report_snapshot *s, uint32_t needs)
{
	return (s->known ? s->missing : UINT32_MAX) & needs;
}

void report_json_missing(struct jsonw *j, const struct report_snapshot *s, uint32_t needs)
{
	uint32_t missing = missing_of(s, needs);

	jsonw_begin(j, "missing", '[', true);
	for (unsigned i = 0; s->key(i); i++)
		if (missing & 1u << i)
			jsonw_str(j, NULL, s->key(i));
	jsonw_end(j, ']');
	jsonw_str(j, "reason", missing && *s->reason ? s->reason : NULL);
}

void report_json_part(struct jsonw *j, const struct table *t, const char *by,
		      const struct report_snapshot *s, uint32_t needs)
{
	report_json_head(j, t, by);
	report_json_missing(j, s, needs);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}

void report_sandbox_json(const struct sandbox *s, struct jsonw *j)
{
	const char *name = sandbox_name(s);

	if (name)
		jsonw_str(j, "sandbox", name);
	if (name && *s->why)
		jsonw_str(j, "sandbox_lacks", s->why);
}

/* The incident that this recording was saved for. */
static void put_incident(const struct report_data *d, struct jsonw *j)
{
	struct incident in;

	if (!query_incident(d->q->model, &in))
		return;
	jsonw_begin(j, "incident", '{', false);
	report_incident_json(j, &in, report_incident_wall_ns(d->overview.host, &in));
	jsonw_end(j, '}');
}

void report_json(const void *answer, struct jsonw *j)
{
	const struct report_data *d = answer;

	put_incident(d, j);
	report_source_json(d, j);
	report_notes_json(d, j);
	report_events_json(d, j);
	jsonw_begin(j, "views", '{', false);
	for (const struct report_part *p = report_parts; p->views; p++)
		if (d->views & p->views)
			p->json(d, j);
	jsonw_end(j, '}');
}
