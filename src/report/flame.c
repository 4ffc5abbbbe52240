// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph in reports: the table of its frames with position and width of their boxes. Rows
 * in the order of the graph have no ranking, so a limit of rows applies to a sorted table only.
 */
#include "internal.h"
#include "kontend/query-tree.h"
#include "kontend/units.h"

int report_flame_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	const struct report_spec *r = d->spec;
	struct query_flame_spec spec = {.scope = s->scope,
					.zoom = &r->zoom,
					.locks = r->hot_locks,
					.percent_limit = r->flame_limit};
	struct query_spec rows = *s;
	int code = query_hot_sum(d->q, &r->zoom, &d->hot_sum);

	if (!rows.sort)
		rows.limit = 0;
	if (code < 0)
		return code;
	d->flame.by_wait = spec.by_wait = r->weight == REPORT_WEIGHT_WAIT ||
					  r->weight == REPORT_WEIGHT_BLAME ||
					  (r->weight == REPORT_WEIGHT_ANY && !d->hot_sum.samples);
	spec.blame = r->weight == REPORT_WEIGHT_BLAME;
	d->flame.refused = spec.blame ? query_flame_no_blame(d->q, &spec) : NULL;
	return query_flame_table(d->q, &spec, &rows, &d->flame.rows, err);
}

static bool is_blame(const struct report_data *d)
{
	return d->spec->weight == REPORT_WEIGHT_BLAME;
}

static const char *weight_name(const struct report_data *d)
{
	if (is_blame(d))
		return "blame";
	return d->flame.by_wait ? "wait" : "samples";
}

void report_flame_text(const struct report_data *d, FILE *out)
{
	const struct query_tree *t = &d->flame.rows.tree;
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("#\n# flame graph", out);
	if (!d->flame.by_wait && !d->hot_sum.samples) {
		fprintf(out, ": %s\n", query_hot_none(&d->hot_sum));
		return;
	}
	if (d->flame.refused) {
		fprintf(out, " by %s: not known: %s\n", weight_name(d), d->flame.refused);
		return;
	}
	fprintf(out, " by %s%s: ", weight_name(d), d->spec->hot_locks ? ", lock paths only" : "");
	if (!is_blame(d))
		fprintf(out, "%s samples, ", units_count(a, t->n_waits));
	fprintf(out, "%s waited, ", units_ns(b, t->total_ns));
	report_text_count(&d->flame.rows.table, "frames", out);
	report_hot_zoom_text(d, out);
	report_text_limit("frames", d->spec->flame_limit, out);
	report_text_table(&d->flame.rows.table, d->spec, out);
}

void report_flame_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_flame_rows *f = &d->flame.rows;

	report_json_head(j, &f->table, NULL);
	jsonw_double(j, "percent_limit", d->spec->flame_limit);
	jsonw_str(j, "weight", weight_name(d));
	if (is_blame(d)) {
		jsonw_bool(j, "known", !d->flame.refused);
		jsonw_str(j, "reason", d->flame.refused);
	} else {
		jsonw_u64(j, "samples", f->tree.n_waits);
	}
	jsonw_u64(j, "wait_ns", f->tree.total_ns);
	report_hot_zoom_json(d, j);
	report_json_rows(j, "rows", &f->table);
	jsonw_end(j, '}');
}
