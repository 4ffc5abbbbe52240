// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map in reports: in text a picture, a line an octave, the longest waits on top; else the
 * table of its cells, with what is needed to draw it.
 */
#include "internal.h"
#include "kontend/query-tree.h"
#include "kontend/units.h"

enum { LABEL = 7, NOW = 7, WIDTH = 100, LEAST = 8, TICK = 12 };

static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
static const char *const ascii_shades[] = {" ", ".", ":", "*", "#"};
enum { LEVELS = sizeof(shades) / sizeof(*shades) - 1 };

int report_heat_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	const struct report_spec *r = d->spec;
	struct query_heatmap_spec spec = {.scope = s->scope};
	struct query_spec rows = *s;

	/* In their own order they are a picture, of which no part is left out. */
	if (!rows.sort)
		rows.limit = 0;
	if (r->format == REPORT_TEXT) {
		int width = (r->width ? r->width : WIDTH) - LABEL - 2 - NOW;
		spec.columns = width > LEAST ? (uint32_t)width : LEAST;
	}
	return query_heatmap_table(d->q, &spec, &rows, &d->heat, err);
}

static void put_row(const struct report_data *d, uint32_t row, FILE *out)
{
	const struct query_heatmap *h = &d->heat.map;
	const char *const *marks = d->spec->ascii ? ascii_shades : shades;
	char buf[UNITS_BUF];
	uint32_t end = h->columns;

	while (end && !query_heatmap_at(h, end - 1, row)->n && !h->now[row])
		end--;
	fprintf(out, "%*s %s", LABEL, units_ns(buf, query_heatmap_lower(h, row)),
		d->spec->ascii ? "|" : "│");
	for (uint32_t c = 0; c < end; c++)
		fputs(marks[query_heatmap_cell_level(h, query_heatmap_at(h, c, row), false,
						     LEVELS)],
		      out);
	if (h->now[row])
		fprintf(out, "%s%s", d->spec->ascii ? "|" : "│", units_count(buf, h->now[row]));
	fputc('\n', out);
}

/* A time below the column that begins there, as often as there is room. */
static void put_times(const struct query_heatmap *h, FILE *out)
{
	char buf[UNITS_BUF];

	fprintf(out, "%*s", LABEL + 2, "");
	for (uint32_t c = 0; c < h->columns; c += TICK) {
		units_ns(buf, c * h->column_ns);
		fprintf(out, "%-*s", c + TICK < h->columns ? TICK : 0, buf);
	}
	fputc('\n', out);
}

void report_heat_text(const struct report_data *d, FILE *out)
{
	const struct query_heatmap *h = &d->heat.map;
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("#\n# heat map of waits", out);
	if (!h->known) {
		fputs(": not known: nothing is kept of when waits ended\n", out);
		return;
	}
	fprintf(out, " by time and length: %s waits, %s", units_count(a, h->n), units_ns(b, h->ns));
	fprintf(out, ", a column is %s; darkest: %s waits", units_ns(a, h->column_ns),
		units_count(b, h->most_n));
	if (h->n_inflight)
		fprintf(out, "; at the right: %s that still wait", units_count(a, h->n_inflight));
	fputc('\n', out);
	if (h->kept_ns > h->begin_ns)
		fprintf(out, "# waits of the first %s are missing: there was no room for them\n",
			units_ns(a, h->kept_ns - h->begin_ns));
	if (h->n_lost)
		fprintf(out, "# %s waits are missing: out of memory\n", units_count(a, h->n_lost));
	for (uint32_t row = h->rows; row-- > 0;)
		put_row(d, row, out);
	if (h->rows)
		put_times(h, out);
}

static const struct figure figures[] = {
	{FIGURE("known", BOOL, struct query_heatmap, known)},
	{FIGURE("begin_ns", NS, struct query_heatmap, begin_ns)},
	{FIGURE("column_ns", NS, struct query_heatmap, column_ns)},
	{FIGURE("columns", COUNT, struct query_heatmap, columns)},
	{FIGURE_IF("kept_from_ns", NS, struct query_heatmap, kept_ns, kept_ns)},
	{FIGURE("waits", COUNT, struct query_heatmap, n)},
	{FIGURE("wait_ns", NS, struct query_heatmap, ns)},
	{FIGURE("inflight", COUNT, struct query_heatmap, n_inflight)},
	{FIGURE("missing_waits", COUNT, struct query_heatmap, n_lost)},
	FIGURE_END,
};

void report_heat_json(const struct report_data *d, struct jsonw *j)
{
	report_json_head(j, &d->heat.table, NULL);
	report_json_figures(j, figures, &d->heat.map, 0);
	report_json_rows(j, "rows", &d->heat.table);
	jsonw_end(j, '}');
}
