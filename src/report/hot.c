// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile in reports: how much was sampled, the shares of locking code and other groups, and
 * the table of functions, programs or whatever the user grouped by.
 */
#include "internal.h"
#include "kontend/ksyms.h"
#include "kontend/units.h"

/* Trylocks: hot code that no figure of waits includes. */
static void put_trylocks(const struct report_data *d, FILE *out)
{
	const char *name;

	for (size_t at = 0; (name = query_hot_trylock(&d->hot, &at));) {
		fputs("# ", out);
		report_text_clean(name, out);
		fprintf(out, ": %s\n", sym_trylock_note);
	}
}

/* The reasons are in the column NOTE, too, which a screen may have no room for. */
static void put_unnamed(const struct report_data *d, FILE *out)
{
	const char *why;
	size_t rows;

	for (size_t at = 0; (why = query_hot_unnamed(&d->hot, &at, &rows));) {
		fprintf(out, "# %zu row%s without the name of a function: ", rows,
			rows == 1 ? "" : "s");
		report_text_clean(why, out);
		fputc('\n', out);
	}
}

static void put_groups(const struct report_data *d, FILE *out)
{
	const struct query_hot_sum *s = &d->hot_sum;
	char a[UNITS_BUF];

	fprintf(out, "# in lock paths: %s%%", units_pct(a, units_percent(s->locks, s->part)));
	for (int g = PATH_IRQ_OFF; g < PATH_ALL; g++)
		if (s->groups[g])
			fprintf(out, "%s %s %s%%", g <= PATH_IDLE ? ";" : ",",
				query_hot_group_name(d->q, (enum path_group)g),
				units_pct(a, units_percent(s->groups[g], s->part)));
	fputc('\n', out);
}

void report_hot_zoom_text(const struct report_data *d, FILE *out)
{
	const struct query_zoom *z = &d->spec->zoom;
	char a[UNITS_BUF];

	for (size_t i = 0; i < z->n; i++)
		fprintf(out, "%s %s %s", i ? "," : "# only", query_zoom_kind_name(z->terms[i].kind),
			z->terms[i].name);
	if (z->n)
		fprintf(out, ": %s%% of all samples; shares are of these\n",
			units_pct(a, units_percent(d->hot_sum.part, d->hot_sum.samples)));
}

void report_hot_text(const struct report_data *d, FILE *out)
{
	const struct query_hot_sum *s = &d->hot_sum;
	char a[UNITS_BUF];

	fputs("#\n# hot: ", out);
	if (!s->samples) {
		fprintf(out, "%s\n", query_hot_none(s));
		return;
	}
	fprintf(out, "%s%s samples of %s, by %s%s", query_hot_is_short(s) ? "~" : "",
		units_count(a, s->samples), s->event, query_hot_by_name(d->spec->hot_by),
		d->spec->hot_locks ? ", lock paths only" : "");
	fputs(": ", out);
	report_text_count(&d->hot, "rows", out);
	report_hot_zoom_text(d, out);
	put_groups(d, out);
	if (query_hot_is_short(s))
		fprintf(out,
			"# %s counted %s%% of the time, as other events share its counter: the "
			"rest of the time was not sampled\n",
			s->event, units_pct(a, s->running_pct));
	if (!s->chains)
		fputs("# no call chains were recorded: groups are those of functions only\n", out);
	if (s->shortened)
		fprintf(out, "# outer frames of %s samples were dropped for lack of room\n",
			units_count(a, s->shortened));
	if (s->ended)
		fprintf(out,
			"# %s samples of programs that have ended lack their place in the "
			"program\n",
			units_count(a, s->ended));
	if (s->no_task)
		fprintf(out, "# %s samples lack their task: %s\n", units_count(a, s->no_task),
			s->no_task_name);
	if (s->groups[PATH_IRQ_OFF])
		fputs("# irq-off?: code that ran with interrupts off is sampled where they are "
		      "enabled again\n",
		      out);
	if (s->other)
		fprintf(out, "# %s samples have only their CPU, for lack of room\n",
			units_count(a, s->other));
	if (s->unnamed)
		fprintf(out,
			"# %llu piece%s of code that the kernel made %s no name: there are more "
			"than %d, or one is too long\n",
			(unsigned long long)s->unnamed, s->unnamed == 1 ? "" : "s",
			s->unnamed == 1 ? "has" : "have", KSYMS_MOST);
	put_trylocks(d, out);
	put_unnamed(d, out);
	report_text_limit("rows", d->spec->percent_limit, out);
	report_text_table(&d->hot, d->spec, out);
}

void report_hot_zoom_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_zoom *z = &d->spec->zoom;

	jsonw_begin(j, "zoom", '[', true);
	for (size_t i = 0; i < z->n; i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "of", query_zoom_kind_name(z->terms[i].kind));
		jsonw_str(j, "name", z->terms[i].name);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

/* The samples of the row's group on each CPU. */
static void put_cpus(const struct report_data *d, size_t row, struct jsonw *j)
{
	enum path_group g = query_hot_row_group(d->hot.ids[row]);

	jsonw_begin(j, "cpus", '[', true);
	for (size_t i = 0; i < d->hot_cpus.n; i++) {
		const struct query_hot_cpu *c = &d->hot_cpus.cpus[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "cpu", c->cpu);
		jsonw_u64(j, "samples", c->groups[g].samples);
		jsonw_double(j, "pct", query_hot_cpu_pct(c, g));
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_rows(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "rows", '[', false);
	for (size_t row = 0; row < d->hot.n_rows; row++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_row(j, &d->hot, row);
		if (d->spec->hot_by == HOT_GROUP)
			put_cpus(d, row, j);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static const struct figure event_figures[] = {
	{FIGURE_IF("event", TEXT, struct query_hot_sum, event, known)},
	{FIGURE_IF("hz", COUNT, struct query_hot_sum, hz, hz)},
	FIGURE_END,
};

static const struct figure sample_figures[] = {
	{FIGURE("samples", COUNT, struct query_hot_sum, samples)},
	{FIGURE("samples_part", COUNT, struct query_hot_sum, part)},
	{FIGURE("samples_locks", COUNT, struct query_hot_sum, locks)},
	{FIGURE("samples_shortened", COUNT, struct query_hot_sum, shortened)},
	{FIGURE("samples_ended", COUNT, struct query_hot_sum, ended)},
	{FIGURE("samples_other", COUNT, struct query_hot_sum, other)},
	FIGURE_END,
};

void report_hot_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_hot_sum *s = &d->hot_sum;

	report_json_head(j, &d->hot, query_hot_by_name(d->spec->hot_by));
	report_json_figures(j, event_figures, s, 0);
	jsonw_double(j, "running_pct", s->running_pct);
	jsonw_double(j, "percent_limit", d->spec->percent_limit);
	report_json_figures(j, sample_figures, s, 0);
	report_hot_zoom_json(d, j);
	jsonw_begin(j, "groups", '{', false);
	for (int g = PATH_IRQ_OFF; g < PATH_ALL; g++)
		if (*query_hot_group_name(d->q, (enum path_group)g))
			jsonw_u64(j, query_hot_group_name(d->q, (enum path_group)g), s->groups[g]);
	jsonw_end(j, '}');
	put_rows(d, j);
	jsonw_end(j, '}');
}
