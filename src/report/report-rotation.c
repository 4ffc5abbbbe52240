// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation in reports: one line of sums, which says so when there is nothing, then the table.
 */
#include "kontend/text.h"
#include "kontend/units.h"
#include "report-int.h"

static void put_clean(FILE *out, const char *text)
{
	char buf[1024];

	fputs(text_clean(buf, sizeof(buf), text), out);
}

void report_rotation_text_sum(const struct report_data *d, FILE *out)
{
	const struct query_rotation_sum *s = &d->rotation_sum;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	fputs("# rotation: ", out);
	if (!s->rotations) {
		put_clean(out, query_rotation_none(s));
		fputc('\n', out);
		return;
	}
	fprintf(out, "%s on %u timers, %s/s, %s/s (", units_count(a, s->rotations), s->timers,
		units_rate(b, s->per_s), units_nsrate(c, s->ns_per_s));
	put_clean(out, s->pmu);
	fputs(")\n", out);
	if (s->unpaired + s->unmatched + s->dropped)
		fprintf(out, "# %s of them without an end, %s ends without a begin, %s left out\n",
			units_count(a, s->unpaired), units_count(b, s->unmatched),
			units_count(c, s->dropped));
}

void report_rotation_text(const struct report_data *d, FILE *out)
{
	if (!report_has(d, REPORT_ROTATION))
		return;
	fputs("#\n", out);
	report_rotation_text_sum(d, out);
	if (d->rotation.n_total)
		report_text_table(&d->rotation, d->spec->ascii, d->spec->width, out);
}

void report_rotation_json_sum(const struct report_data *d, struct jsonw *j)
{
	const struct query_rotation_sum *s = &d->rotation_sum;

	jsonw_begin(j, "rotation", '{', false);
	if (s->known)
		jsonw_u64(j, "pmus", s->pmus);
	else
		jsonw_null(j, "pmus");
	jsonw_str(j, "none", s->rotations ? NULL : query_rotation_none(s));
	jsonw_u64(j, "timers", s->timers);
	jsonw_u64(j, "rotations", s->rotations);
	jsonw_u64(j, "unpaired", s->unpaired);
	jsonw_u64(j, "unmatched", s->unmatched);
	jsonw_u64(j, "dropped", s->dropped);
	jsonw_double(j, "rotations_per_s", s->per_s);
	jsonw_u64(j, "total_ns", s->total_ns);
	jsonw_end(j, '}');
}

void report_rotation_json(const struct report_data *d, struct jsonw *j)
{
	if (!report_has(d, REPORT_ROTATION))
		return;
	report_json_head(j, &d->rotation, NULL);
	report_rotation_json_sum(d, j);
	report_json_rows(j, "rows", &d->rotation);
	jsonw_end(j, '}');
}
