// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which holders tasks wait for, and what those holders did meanwhile. The parts that make up all
 * waiting time are printed above the tables, so that a reader sees first how much is unknown.
 */
#include "internal.h"
#include "kontend/units.h"

int report_blame_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	d->blamed.by = d->spec->is_blame_by ? d->spec->blame_by : BLAME_BY_TASK;
	int r = query_blame_sum(d->q, &d->blamed.sum);

	if (r == 0)
		r = query_knots(d->q, QUERY_KNOTS_MOST, &d->blamed.knots);
	return r < 0 ? r : query_blame(d->q, d->blamed.by, s, &d->blame, err);
}

int report_did_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	d->blamed.did_by = d->spec->is_blame_by && d->spec->blame_by != BLAME_BY_STATE
				   ? d->spec->blame_by
				   : BLAME_BY_LOCK;
	int r = query_blame_sum(d->q, &d->blamed.sum);

	return r < 0 ? r : query_blame_did(d->q, d->blamed.did_by, s, &d->did, err);
}

static void put_part(const char **comma, uint64_t ns, const char *what, FILE *out)
{
	char buf[UNITS_BUF];

	if (!ns)
		return;
	fprintf(out, "%s%s %s", *comma, units_ns(buf, ns), what);
	*comma = ", ";
}

static void put_sum(const struct query_blame_sum *s, FILE *out)
{
	char buf[UNITS_BUF], tasks[64];
	const char *comma = ": ";

	fprintf(out, "# %s waited", units_ns(buf, s->waited_ns));
	snprintf(tasks, sizeof(tasks), "because of %s task%s", units_count(buf, s->tasks),
		 s->tasks == 1 ? "" : "s");
	put_part(&comma, s->tasks_ns, tasks, out);
	put_part(&comma, s->readers_ns, "because of readers not known by name", out);
	put_part(&comma, s->others_ns, "because of holders that are forgotten", out);
	put_part(&comma, s->unknown_ns, "holder not known", out);
	if (s->waited_ns)
		fprintf(out, "; followed %s%%",
			units_pct(buf, 100 * (double)s->followed_ns / (double)s->waited_ns));
	if (s->doubtful_known && s->doubtful_ns)
		fprintf(out, "; not counted: %s of waits whose end was lost",
			units_ns(buf, s->doubtful_ns));
	fputc('\n', out);
	if (s->not_followed)
		fprintf(out, "# %s times a holder could not be followed\n",
			units_count(buf, s->not_followed));
	if (s->folded)
		fprintf(out,
			"# %s rows were folded for lack of room: their sums are in the others\n",
			units_count(buf, s->folded));
}

static void put_table(const struct report_data *d, const struct table *t, const char *title,
		      enum query_blame_by by, FILE *out)
{
	fprintf(out, "#\n# %s, by %s: ", title, query_blame_by_name(by));
	report_text_count(t, "rows", out);
	if (d->blamed.sum.refused) {
		fprintf(out, "# not known: %s\n", d->blamed.sum.refused);
		return;
	}
	put_sum(&d->blamed.sum, out);
	if (t == &d->blame)
		report_knots_text(d, out);
	if (t->n_total)
		report_text_table(t, d->spec, out);
}

void report_blame_text(const struct report_data *d, FILE *out)
{
	if (report_has(d, REPORT_BLAME))
		put_table(d, &d->blame, "holders that tasks waited for", d->blamed.by, out);
	if (report_has(d, REPORT_DID))
		put_table(d, &d->did, "what holders did while others waited", d->blamed.did_by,
			  out);
}

static void put_json(const struct report_data *d, const struct table *t, enum query_blame_by by,
		     struct jsonw *j)
{
	const struct query_blame_sum *s = &d->blamed.sum;

	report_json_head(j, t, query_blame_by_name(by));
	jsonw_bool(j, "known", !s->refused);
	jsonw_str(j, "reason", s->refused);
	jsonw_u64(j, "waited_ns", s->waited_ns);
	jsonw_u64(j, "tasks", s->tasks);
	jsonw_u64(j, "tasks_ns", s->tasks_ns);
	jsonw_u64(j, "readers_ns", s->readers_ns);
	jsonw_u64(j, "forgotten_ns", s->others_ns);
	jsonw_u64(j, "unknown_ns", s->unknown_ns);
	jsonw_u64(j, "followed_ns", s->followed_ns);
	jsonw_u64(j, "not_followed", s->not_followed);
	if (s->doubtful_known)
		jsonw_u64(j, "doubtful_ns", s->doubtful_ns);
	else
		jsonw_null(j, "doubtful_ns");
	jsonw_u64(j, "lost_ns", s->lost_ns);
	jsonw_u64(j, "folded", s->folded);
	if (t == &d->blame)
		report_knots_json(d, j);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}

void report_blame_json(const struct report_data *d, struct jsonw *j)
{
	if (report_has(d, REPORT_BLAME))
		put_json(d, &d->blame, d->blamed.by, j);
	if (report_has(d, REPORT_DID))
		put_json(d, &d->did, d->blamed.did_by, j);
}
