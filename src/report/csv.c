// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as CSV: one table with a header line of keys, raw numbers, and empty fields for
 * unknown values. A field that contains the separator, a quote or a line break is quoted and its
 * quotes are doubled (RFC 4180); a text that a spreadsheet would run as a formula gets a ' in front
 * of it. Lines end in one line feed, as Unix tools expect. Views that are no tables become one: the
 * overview as keys and values, the call tree with the depth of every node.
 */
#include "internal.h"
#include "kontend/jsonw.h"
#include "kontend/query-damage.h"
#include "kontend/query-hist.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	FILE *out;
	char separator;
	bool any; /* this line has a field already */
};

static void put_field(struct csv *c, const char *s)
{
	char special[] = {'"', '\r', '\n', c->separator, '\0'};
	bool quote = s[strcspn(s, special)] != '\0';

	if (c->any)
		fputc(c->separator, c->out);
	c->any = true;
	if (quote)
		fputc('"', c->out);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', c->out);
		fputc(*s, c->out);
	}
	if (quote)
		fputc('"', c->out);
}

static void put_u64(struct csv *c, uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	put_field(c, buf);
}

static void put_double(struct csv *c, double v)
{
	char buf[340];

	jsonw_fixed(buf, sizeof(buf), v);
	put_field(c, buf);
}

static void end_line(struct csv *c)
{
	fputc('\n', c->out);
	c->any = false;
}

/*
 * Does a spreadsheet run this text as a formula? Quotes do not prevent that, and names come from
 * untrusted programs. "-" alone is an unknown value. Numbers are not written by this function.
 */
static bool is_formula(const char *s)
{
	return *s == '=' || *s == '+' || *s == '@' || (*s == '-' && s[1]);
}

/* Writes a text of any length in pieces, as text_clean() needs a buffer. */
static void put_text(struct csv *c, const char *s)
{
	char buf[4096];

	buf[0] = '\'';
	text_clean(buf + 1, sizeof(buf) - 1, s);
	put_field(c, is_formula(buf + 1) ? buf : buf + 1);
}

/* A list is one field; semicolons separate its parts. */
static void put_list(struct csv *c, const char *s)
{
	char buf[4096];

	snprintf(buf, sizeof(buf), "%s", s);
	for (char *at = buf; *at; at++)
		*at = *at == '\n' ? ';' : *at;
	put_text(c, buf);
}

static void put_value(struct csv *c, unsigned type, const struct value *v)
{
	char buf[24];

	if (!v->known) {
		put_field(c, "");
		return;
	}
	switch (type) {
	case COLUMN_TEXT:
		put_text(c, v->s);
		break;
	case COLUMN_INT:
		snprintf(buf, sizeof(buf), "%" PRId64, v->i);
		put_field(c, buf);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		put_double(c, v->d);
		break;
	case COLUMN_ADDR:
		snprintf(buf, sizeof(buf), "0x%" PRIx64, v->u);
		put_field(c, buf);
		break;
	default:
		put_u64(c, v->u);
	}
}

static void put_table(struct csv *c, const struct table *t)
{
	for (size_t col = 0; col < t->n_columns; col++)
		if (t->columns[col].flags & COLUMN_REPORT)
			put_field(c, t->columns[col].key);
	end_line(c);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t col = 0; col < t->n_columns; col++) {
			const struct value *v = table_value(t, row, col);
			if (!(t->columns[col].flags & COLUMN_REPORT))
				continue;
			if (v->known && t->columns[col].flags & COLUMN_LIST)
				put_list(c, v->s);
			else
				put_value(c, t->columns[col].type, v);
		}
		end_line(c);
	}
}

void report_csv_table(const struct table *t, char separator, FILE *out)
{
	struct csv c = {.out = out, .separator = separator ? separator : ','};

	put_table(&c, t);
}

/* One line with key and value for each figure that is known. */
static void put_figures(struct csv *c, const struct figure *list, const void *base,
			uint32_t missing)
{
	for (const struct figure *f = list; f->key; f++) {
		struct value v = figure_value(f, base, missing);
		if (f->flags & FIGURE_JSON || !v.known)
			continue;
		put_field(c, f->csv ? f->csv : f->key);
		put_value(c, f->type, &v);
		end_line(c);
	}
}

static void put_keys(struct csv *c, const struct figure *list)
{
	for (const struct figure *f = list; f->key; f++)
		if (!(f->flags & FIGURE_JSON))
			put_field(c, f->key);
	end_line(c);
}

static void put_struct(struct csv *c, const struct figure *list, const void *base)
{
	for (const struct figure *f = list; f->key; f++) {
		struct value v = figure_value(f, base, 0);
		if (!(f->flags & FIGURE_JSON))
			put_value(c, f->type, &v);
	}
	end_line(c);
}

static void put_overview(struct csv *c, const struct report_data *d)
{
	put_field(c, "key");
	put_field(c, "value");
	end_line(c);
	put_figures(c, report_time_figures, &d->overview, 0);
	put_figures(c, report_overview_figures, &d->overview, 0);
	if (d->overview.any_longest)
		put_figures(c, report_longest_figures, &d->overview, 0);
	put_figures(c, query_verdict_figures, &d->verdict, 0);
	put_figures(c, query_damage_figures, &d->overview.damage, 0);
	put_figures(c, query_loss_figures, &d->overview.loss, 0);
	put_figures(c, report_perf_figures, &d->perf, d->perf.known ? d->perf.missing : UINT32_MAX);
	if (!d->rotation_sum.known)
		return;
	put_figures(c, report_pmus_figures, &d->rotation_sum, 0);
	put_figures(c, report_rotation_figures, &d->rotation_sum, 0);
}

static void put_tree(struct csv *c, const struct query_tree *t, double percent_limit)
{
	put_keys(c, report_node_figures);
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].pct >= percent_limit)
			put_struct(c, report_node_figures, &t->nodes[i]);
}

static void put_hist(struct csv *c, const struct query_hist *h)
{
	put_keys(c, report_bar_figures);
	for (size_t i = 0; i < h->n; i++)
		put_struct(c, report_bar_figures, &h->bars[i]);
}

void report_csv(const void *answer, FILE *out)
{
	const struct report_data *d = answer;
	char separator = d->spec->csv_separator ? d->spec->csv_separator : ',';
	struct csv c = {.out = out, .separator = separator};

	if (report_has(d, REPORT_OVERVIEW))
		put_overview(&c, d);
	for (unsigned i = 0; i < REPORT_VIEW_COUNT; i++)
		if (d->views & 1u << i && report_table(d, i))
			put_table(&c, report_table(d, i));
	if (report_has(d, REPORT_TREE))
		put_tree(&c, &d->tree, d->spec->percent_limit);
	if (report_has(d, REPORT_HIST))
		put_hist(&c, &d->hist);
}
