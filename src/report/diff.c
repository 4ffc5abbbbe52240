// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of two measurements as text, CSV or JSON (schema kontend.diff/1). The layout is
 * that of reports: header lines that begin with '#', then the table. Losses are printed for each
 * side, since a recording that lost half of its events has half of the waits.
 */
#include "kontend/diff.h"
#include "format.h"
#include "internal.h"
#include "kontend/engine.h"
#include "kontend/jsonw.h"
#include "kontend/query-diff.h"
#include "kontend/query-fields.h"
#include "kontend/query-overview.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

static double per_s(const struct query_overview *o, uint64_t n)
{
	return o->elapsed_ns ? (double)n * 1e9 / (double)o->elapsed_ns : 0;
}

static void text_side(FILE *out, char name, const struct diff_side *d,
		      const struct query_overview *o)
{
	char file[1024], time[UNITS_BUF], n[UNITS_BUF], wait[UNITS_BUF], pct[UNITS_BUF], what[256];

	fprintf(out, "# %c: %s", name, text_clean(file, sizeof(file), d->file));
	if (d->at)
		fprintf(out, " up to %s", text_clean(what, sizeof(what), d->at));
	if (d->only) {
		fputs(", waits with ", out);
		report_text_clean(d->only, out);
	}
	fprintf(out, ": %s", units_ns(time, o->elapsed_ns));
	if (o->host->targets[0])
		fprintf(out, ", %s", text_clean(what, sizeof(what), o->host->targets));
	if (o->host->release[0])
		fprintf(out, ", kernel %s", text_clean(what, sizeof(what), o->host->release));
	fprintf(out, "\n#    %s waits, %s tasks wait on average, ", units_count(n, o->contended),
		units_tasks(wait, per_s(o, o->waited_ns)));
	report_text_lost(&o->damage, &o->loss, out);
	fprintf(out, ", unmatched %s%%\n", units_pct(pct, o->unmatched_pct));
	report_text_no_locks(d->q, "#    ", out);
	report_text_at_least(&o->loss, "#    ", out);
}

static const struct figure side_figures[] = {
	{FIGURE("kernel", TEXT, struct record_host, release), .flags = FIGURE_CHARS},
	{FIGURE("machine", TEXT, struct record_host, machine), .flags = FIGURE_CHARS},
	{FIGURE("targets", TEXT, struct record_host, targets), .flags = FIGURE_CHARS},
	{FIGURE("start_wall_ns", NS, struct record_host, wall_ns)},
	FIGURE_END,
};

static void json_side(struct jsonw *j, const char *key, const struct diff_side *d,
		      const struct query_overview *o)
{
	const struct record_host *h = o->host;

	jsonw_begin(j, key, '{', false);
	jsonw_str(j, "file", d->file);
	if (d->at)
		jsonw_str(j, "at", d->at);
	if (d->only)
		jsonw_str(j, "only", d->only);
	report_json_figures(j, side_figures, h, 0);
	report_json_figures(j, report_time_figures, o, 0);
	jsonw_u64(j, "contended", o->contended);
	jsonw_u64(j, "total_ns", o->total_ns);
	jsonw_u64(j, "inflight_ns", o->inflight_ns);
	jsonw_double(j, "wait_ns_per_s", per_s(o, o->waited_ns));
	report_json_damage(j, &o->damage, &o->loss, NULL);
	if (o->loss.no_locks)
		jsonw_bool(j, "no_locks", true);
	jsonw_end(j, '}');
}

struct diff_answer {
	const struct diff_side *side_a, *side_b;
	const struct diff_spec *spec;
	struct query_overview a, b;
	struct table table;
};

static bool is_part(const struct diff_spec *s)
{
	return s->only && *s->only;
}

static void put_text(const void *answer, FILE *out)
{
	const struct diff_answer *d = answer;
	const struct diff_side *a = d->side_a, *b = d->side_b;
	const struct diff_spec *s = d->spec;
	struct report_spec look = {.ascii = s->ascii, .width = s->width};

	fprintf(out, "# kontend diff by %s%s", query_by_name(s->query.by),
		s->moments ? ", B minus A" : "");
	if (is_part(s)) {
		fputs(", only ", out);
		report_text_clean(s->only, out);
	}
	fputc('\n', out);
	report_sandbox_text(b->q->engine->sandbox, out);
	text_side(out, 'A', a, &d->a);
	text_side(out, 'B', b, &d->b);
	fputs("#\n", out);
	if (d->table.n_rows)
		report_text_table(&d->table, &look, out);
	else
		fputs("# no rows\n", out);
	if (d->table.n_rows < d->table.n_match)
		fprintf(out, "# %zu more rows\n", d->table.n_match - d->table.n_rows);
}

static void put_json(const void *answer, struct jsonw *j)
{
	const struct diff_answer *d = answer;

	if (is_part(d->spec))
		jsonw_str(j, "only", d->spec->only);
	report_sandbox_json(d->side_b->q->engine->sandbox, j);
	json_side(j, "a", d->side_a, &d->a);
	json_side(j, "b", d->side_b, &d->b);
	report_json_table(j, &d->table, query_by_name(d->spec->query.by));
	if (d->spec->chains)
		diff_chains_json(d->spec->chains, j);
}

int diff_write(const struct diff_side *a, const struct diff_side *b, const struct diff_spec *s,
	       FILE *out, struct error *err)
{
	struct diff_answer d = {.side_a = a, .side_b = b, .spec = s};
	int r = (s->moments ? query_compare : query_diff)(a->q, b->q, &s->query, &d.table, err);

	if (r == 0 && (query_overview(a->q, &d.a) < 0 || query_overview(b->q, &d.b) < 0))
		r = error_enomem(err, "the sums of the waits");
	if (r < 0)
		return r;
	r = query_fields(b->q, s->fields, &d.table, err);
	if (r < 0)
		return r;
	const struct report_out o = {.format = s->format,
				     .what = "the diff",
				     .schema = "kontend.diff/1",
				     .answer = &d,
				     .text = put_text,
				     .json = put_json,
				     .table = &d.table,
				     .csv_separator = s->csv_separator};
	return report_out(&o, out, err);
}
