// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long one lock, or the locks of a type, were held: sums by kind, then locks, the call chains
 * that take them, and the tasks that held them; or the sentence that says why there is nothing.
 */
#include "internal.h"
#include "kontend/units.h"

#include <errno.h>

int report_holds_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	struct query_spec all = {.average = true, .limit = s->limit};
	int r = query_holds_sum(d->q, true, &d->holds_sum);

	r = r < 0 ? r : query_holds(d->q, s, &d->holds, err);
	r = r < 0 ? r : query_holds_chains(d->q, &all, &d->holdchains, err);
	return r < 0 ? r : query_holds_tasks(d->q, &all, &d->holdtasks, err);
}

static void put_kind(const struct query_holds_kind *k, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	fprintf(out, "# %s: acquired %s times (%s/s)", k->kind, units_count(a, k->acquired),
		units_rate(b, k->acquired_per_s));
	if (!k->holds) {
		fputs(", no hold has begun and ended\n", out);
		return;
	}
	fprintf(out, ", held for %s in %s holds, avg %s", units_ns(a, k->total_ns),
		units_count(b, k->holds), units_ns(c, k->avg_ns));
	fprintf(out, ", p50 %s, p99 %s, max %s\n", units_ns(a, k->p50_ns), units_ns(b, k->p99_ns),
		units_ns(c, k->max_ns));
}

static void put_table(const struct report_data *d, const char *what, const struct table *t,
		      FILE *out)
{
	if (!t->n_total)
		return;
	fprintf(out, "#\n# %s: %zu of %zu rows\n", what, t->n_rows, t->n_total);
	report_text_table(t, d->spec, out);
}

void report_holds_text(const struct report_data *d, FILE *out)
{
	const struct query_holds_sum *s = &d->holds_sum;
	char span[UNITS_BUF];

	fputs("#\n# holds", out);
	if (*s->what) {
		fputs(" of ", out);
		report_text_clean(s->what, out);
	}
	if (s->none) {
		fputs(" not measured: ", out);
		report_text_clean(s->none, out);
		fputc('\n', out);
		return;
	}
	fprintf(out, ", waited for or not, in %s; ", units_ns(span, s->span_ns));
	report_text_clean(query_holds_price(d->q, s), out);
	fputc('\n', out);
	if (!s->n_kinds)
		fputs("# it was not acquired\n", out);
	for (size_t i = 0; i < s->n_kinds; i++)
		put_kind(&s->kinds[i], out);
	for (size_t i = 0; i < s->n_notes; i++)
		fprintf(out, "# %s\n", s->notes[i]);
	put_table(d, "locks that were held", &d->holds, out);
	put_table(d, "calls that took them", &d->holdchains, out);
	put_table(d, "tasks that held them", &d->holdtasks, out);
}

static const struct figure kind_figures[] = {
	{FIGURE("kind", TEXT, struct query_holds_kind, kind)},
	{FIGURE("acquisitions", COUNT, struct query_holds_kind, acquired)},
	{FIGURE("acquisitions_per_s", RATE, struct query_holds_kind, acquired_per_s)},
	{FIGURE("holds", COUNT, struct query_holds_kind, holds)},
	{FIGURE("held_total_ns", NS, struct query_holds_kind, total_ns)},
	{FIGURE_IF("held_avg_ns", NS, struct query_holds_kind, avg_ns, holds)},
	{FIGURE_IF("held_p50_ns", NS, struct query_holds_kind, p50_ns, holds)},
	{FIGURE_IF("held_p99_ns", NS, struct query_holds_kind, p99_ns, holds)},
	{FIGURE_IF("held_max_ns", NS, struct query_holds_kind, max_ns, holds)},
	{FIGURE("begin_unknown", COUNT, struct query_holds_kind, unbegun)},
	{FIGURE("end_unknown", COUNT, struct query_holds_kind, unended)},
	{FIGURE("ended_by_other", COUNT, struct query_holds_kind, by_other)},
	{FIGURE("chain_unknown", COUNT, struct query_holds_kind, chainless)},
	{FIGURE("no_room", COUNT, struct query_holds_kind, no_room)},
	FIGURE_END,
};

static const struct figure price_figures[] = {
	{FIGURE_IF("cost_pct", PCT, struct query_holds_sum, cost_pct, is_priced)},
	{FIGURE_IF("runs_per_s", RATE, struct query_holds_sum, runs_per_s, is_priced)},
	{FIGURE_IF("run_ns", NS, struct query_holds_sum, run_ns, is_priced)},
	{FIGURE("missed", COUNT, struct query_holds_sum, missed)},
	{FIGURE("readers_unknown", COUNT, struct query_holds_sum, readers_unknown)},
	FIGURE_END,
};

void report_holds_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_holds_sum *s = &d->holds_sum;

	report_json_head(j, &d->holds, NULL);
	jsonw_str(j, "of", s->asked ? s->what : NULL);
	jsonw_str(j, "none", s->none);
	jsonw_u64(j, "seen_ns", s->span_ns);
	jsonw_str(j, "level", s->none ? NULL : s->level);
	jsonw_u64(j, "one_in", s->every);
	report_json_figures(j, price_figures, s, 0);
	jsonw_str(j, "no_price", s->none || s->is_priced ? NULL : s->no_price);
	report_json_structs(j, "kinds", kind_figures, s->kinds, s->n_kinds, sizeof(*s->kinds));
	jsonw_begin(j, "notes", '[', true);
	for (size_t i = 0; i < s->n_notes; i++)
		jsonw_str(j, NULL, s->notes[i]);
	jsonw_end(j, ']');
	report_json_rows(j, "rows", &d->holds);
	jsonw_end(j, '}');
	report_json_table(j, &d->holdchains, NULL);
	report_json_table(j, &d->holdtasks, NULL);
}
