// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile in reports: what was sampled, how much of it is in locking code and other groups, and
 * the table, by what was asked for.
 */
#include "kontend/units.h"
#include "report-int.h"

static double share(uint64_t n, uint64_t all)
{
	return all ? 100.0 * (double)n / (double)all : 0;
}

static void put_groups(const struct query_hot_sum *s, FILE *out)
{
	char a[UNITS_BUF];

	fprintf(out, "# in lock paths: %s%%", units_pct(a, share(s->locks, s->samples)));
	for (int g = PATH_IDLE; g < PATH_GROUPS; g++)
		if (s->groups[g])
			fprintf(out, "%s %s %s%%", g == PATH_IDLE ? ";" : ",",
				pathgroup_name((enum path_group)g),
				units_pct(a, share(s->groups[g], s->samples)));
	fputc('\n', out);
}

void report_hot_text(const struct report_data *d, FILE *out)
{
	const struct query_hot_sum *s = &d->hot_sum;
	char a[UNITS_BUF];

	if (!report_has(d, REPORT_HOT))
		return;
	fputs("#\n# hot: ", out);
	if (!s->samples) {
		fprintf(out, "%s\n", query_hot_none(s));
		return;
	}
	fprintf(out, "%s samples of %s, by %s%s", units_count(a, s->samples), s->event,
		query_hot_by_name(d->spec->hot_by), d->spec->hot_locks ? ", lock paths only" : "");
	if (d->hot.n_rows == d->hot.n_total)
		fprintf(out, ": %zu rows\n", d->hot.n_rows);
	else
		fprintf(out, ": %zu of %zu rows\n", d->hot.n_rows, d->hot.n_total);
	put_groups(s, out);
	if (!s->chains)
		fputs("# no call chains were taken: groups are those of functions alone\n", out);
	if (s->shortened)
		fprintf(out, "# outer frames were given up for %s samples, for want of room\n",
			units_count(a, s->shortened));
	if (s->other)
		fprintf(out, "# nothing but the CPU is kept of %s samples, for want of room\n",
			units_count(a, s->other));
	report_text_table(&d->hot, d->spec->ascii, d->spec->width, out);
}

void report_hot_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_hot_sum *s = &d->hot_sum;

	if (!report_has(d, REPORT_HOT))
		return;
	report_json_head(j, &d->hot, query_hot_by_name(d->spec->hot_by));
	jsonw_str(j, "event", s->known ? s->event : NULL);
	if (s->hz)
		jsonw_u64(j, "hz", s->hz);
	else
		jsonw_null(j, "hz");
	jsonw_u64(j, "samples", s->samples);
	jsonw_u64(j, "samples_locks", s->locks);
	jsonw_u64(j, "samples_shortened", s->shortened);
	jsonw_u64(j, "samples_other", s->other);
	jsonw_begin(j, "groups", '{', false);
	for (int g = PATH_IDLE; g < PATH_GROUPS; g++)
		jsonw_u64(j, pathgroup_name((enum path_group)g), s->groups[g]);
	jsonw_end(j, '}');
	report_json_rows(j, "rows", &d->hot);
	jsonw_end(j, '}');
}
