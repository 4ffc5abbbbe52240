// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap_locks in reports: one row for each owner, or the sentence that says why there is none.
 */
#include "internal.h"
#include "kontend/query-hist.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <errno.h>

static const char *none_of(const struct report_data *d)
{
	return d->mmap.n_total ? NULL : query_mmap_none(d->q, d->spec->query.by, &d->mmap_sum);
}

static void put_level(const struct report_data *d, FILE *out)
{
	const struct query_mmap_sum *s = &d->mmap_sum;
	char a[UNITS_BUF], b[UNITS_BUF], clean[512];

	fprintf(out, "# level %s", query_mmap_level_text(d->q, s));
	if (*s->missing)
		fprintf(out, ", not %s: %s", mmlevel_name(s->asked),
			text_clean(clean, sizeof(clean), s->missing));
	if (s->level != MMLEVEL_CONTENDED)
		fprintf(out, ": %s events, %s unpaired", units_count(a, s->events),
			units_count(b, s->unpaired));
	if (s->event_ns)
		fprintf(out, ", %s/s of %s, ~%s%% of a CPU", units_rate(a, s->events_per_s),
			units_ns(b, s->event_ns), units_pct(clean, s->cost_pct));
	fputc('\n', out);
	if (s->level != MMLEVEL_CONTENDED && s->event_ns)
		fprintf(out,
			"# times to acquire and to hold a lock include the cost of an event: ~%s\n",
			units_ns(a, s->event_ns));
}

static int ask_hist(struct report_data *d, size_t row, struct report_mmap_hist *ret)
{
	const struct query_scope scope = {.mask = 1u << BY_MMAP_MEMCG,
					  .id[BY_MMAP_MEMCG] = d->mmap.ids[row]};
	struct query_mmap_row reported;
	int r = query_hist(d->q, &scope, &ret->waited);

	if (r == 0)
		r = query_mmap_row(d->q, BY_MMAP_MEMCG, d->mmap.ids[row], &reported);
	if (r < 0)
		return r;
	ret->memcg = table_text(&d->mmap, row, "memcg");
	ret->mode = table_text(&d->mmap, row, "mode");
	ret->acquired = reported.wait;
	ret->held = reported.hold;
	return 0;
}

int report_mmap_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int r = query_mmap(d->q, s, &d->mmap, err);

	if (r < 0 || s->by != BY_CGROUP)
		return r;
	d->mmap_hists = arena_alloc(&d->q->arena, (d->mmap.n_rows + 1) * sizeof(*d->mmap_hists));
	if (!d->mmap_hists)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < d->mmap.n_rows; i++)
		r = ask_hist(d, i, &d->mmap_hists[d->n_mmap_hists++]);
	return r;
}

static void put_hist(const struct report_data *d, const struct report_mmap_hist *h,
		     const char *what, const struct query_hist *of, FILE *out)
{
	char n[UNITS_BUF];

	if (!of->n_waits)
		return;
	fputs("#\n# mmap_locks of ", out);
	report_text_clean(h->memcg ? h->memcg : "no known memcg", out);
	fprintf(out, " %s, %s: %s", h->mode ? h->mode : "-", what, units_count(n, of->n_waits));
	report_text_hist(of, d->spec->ascii, out);
}

static void put_hists(const struct report_data *d, FILE *out)
{
	for (size_t i = 0; i < d->n_mmap_hists; i++) {
		const struct report_mmap_hist *h = &d->mmap_hists[i];
		put_hist(d, h, "waits", &h->waited, out);
		put_hist(d, h, "time to get it", &h->acquired, out);
		put_hist(d, h, "time held", &h->held, out);
	}
}

void report_mmap_text(const struct report_data *d, FILE *out)
{
	const char *none = none_of(d);
	char buf[1024];

	fputs("#\n", out);
	put_level(d, out);
	fprintf(out, "# mmap_locks by %s: ", query_mmap_by_name(d->spec->query.by));
	if (none) {
		fprintf(out, "%s\n", text_clean(buf, sizeof(buf), none));
		return;
	}
	fprintf(out, "%zu of %zu rows\n", d->mmap.n_rows, d->mmap.n_total);
	report_text_table(&d->mmap, d->spec, out);
	put_hists(d, out);
}

static const struct figure event_figures[] = {
	{FIGURE("events", COUNT, struct query_mmap_sum, events)},
	{FIGURE("events_per_s", RATE, struct query_mmap_sum, events_per_s)},
	{FIGURE_IF("event_ns", NS, struct query_mmap_sum, event_ns, event_ns)},
	{FIGURE_IF("cost_pct", PCT, struct query_mmap_sum, cost_pct, event_ns)},
	{FIGURE("asked_only", COUNT, struct query_mmap_sum, asked_only)},
	{FIGURE("held_only", COUNT, struct query_mmap_sum, held_only)},
	{FIGURE("release_only", COUNT, struct query_mmap_sum, release_only)},
	{FIGURE("tried", COUNT, struct query_mmap_sum, tried)},
	{FIGURE("downgraded", COUNT, struct query_mmap_sum, downgraded)},
	{FIGURE("dropped", COUNT, struct query_mmap_sum, dropped)},
	FIGURE_END,
};

static void json_level(const struct query_mmap_sum *s, struct jsonw *j)
{
	const char *scaled = s->counted ? "count" : "time";

	jsonw_begin(j, "level", '{', false);
	jsonw_str(j, "name", mmlevel_name(s->level));
	jsonw_str(j, "asked", mmlevel_name(s->asked));
	jsonw_str(j, "missing", *s->missing ? s->missing : NULL);
	jsonw_u64(j, "one_in", s->one_in);
	jsonw_u64(j, "seen_ns", s->seen_ns);
	jsonw_bool(j, "paths", s->paths);
	jsonw_str(j, "scaled_by", s->level == MMLEVEL_SAMPLED ? scaled : NULL);
	report_json_figures(j, event_figures, s, 0);
	jsonw_end(j, '}');
}

static void json_hists(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "histograms", '[', false);
	for (size_t i = 0; i < d->n_mmap_hists; i++) {
		const struct report_mmap_hist *h = &d->mmap_hists[i];
		jsonw_begin(j, NULL, '{', false);
		jsonw_str(j, "memcg", h->memcg);
		jsonw_str(j, "mode", h->mode);
		report_json_hist(j, "waited", &h->waited);
		report_json_hist(j, "acquired", &h->acquired);
		report_json_hist(j, "held", &h->held);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void report_mmap_json(const struct report_data *d, struct jsonw *j)
{
	report_json_head(j, &d->mmap, query_mmap_by_name(d->spec->query.by));
	jsonw_str(j, "none", none_of(d));
	json_level(&d->mmap_sum, j);
	report_json_rows(j, "rows", &d->mmap);
	json_hists(d, j);
	jsonw_end(j, '}');
}

static void put_cell(const struct table *t, size_t row, const char *key, bool ascii, FILE *out)
{
	size_t col = table_column(t, key);
	char text[256], clean[512];

	if (col == SIZE_MAX)
		return;
	table_format(&t->columns[col], table_value(t, row, col), ascii, text, sizeof(text));
	fputs(text_clean(clean, sizeof(clean), text), out);
}

void report_mmap_text_worst(const struct report_data *d, FILE *out)
{
	const struct table *t = &d->mmap_worst;

	for (size_t i = 0; i < t->n_rows; i++) {
		fputs(i ? "; " : "# worst mmap_locks: ", out);
		put_cell(t, i, "process", d->spec->ascii, out);
		fputc(' ', out);
		put_cell(t, i, "mode", d->spec->ascii, out);
		fputc(' ', out);
		put_cell(t, i, "wait_ns_per_s", d->spec->ascii, out);
		fputs("/s, p99 ", out);
		put_cell(t, i, "p99_ns", d->spec->ascii, out);
	}
	if (t->n_rows)
		fputc('\n', out);
}

void report_mmap_json_worst(const struct report_data *d, struct jsonw *j)
{
	report_json_rows(j, "mmap_worst", &d->mmap_worst);
}
