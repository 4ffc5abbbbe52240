// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as text: aligned tables, units as on the screens, header lines that begin with '#' so
 * that a filter can drop them. Tables are laid out in two passes over the rows; the first finds
 * each column's width. The least important columns are left out, and more of them if the width is
 * limited; CSV and JSON have all columns.
 */
#include "kontend/text.h"
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/query-damage.h"
#include "kontend/query-incidents.h"
#include "kontend/query-no-locks.h"
#include "kontend/sandbox-state.h"
#include "kontend/units.h"

#include <string.h>

enum {
	CELL_BUF = 4096, /* longest text of a cell: a call chain of 127 frames may be cut */
	PRIORITY_SHOWN = 5,
	GAP = 2,	  /* blanks between columns */
	TEXT_WIDTH = 100, /* of a text that is not the last of its row */
};

struct text {
	FILE *out;
	bool ascii;
	int width;
	char cell[CELL_BUF];
};

static bool is_left(const struct column *c)
{
	return c->type == COLUMN_TEXT;
}

static size_t columns_of(const struct table *t)
{
	return t->n_columns < TABLE_COLUMNS ? t->n_columns : TABLE_COLUMNS;
}

static void put_blanks(FILE *out, int n)
{
	for (; n > 0; n--)
		fputc(' ', out);
}

static const char *cell(struct text *x, const struct table *t, size_t row, size_t col)
{
	return table_format(&t->columns[col], table_value(t, row, col), x->ascii, x->cell,
			    sizeof(x->cell));
}

/* These columns are shown even if no row has a value, since scripts count columns. */
static bool stays(const struct table *t, const struct column *c)
{
	static const struct {
		const char *table, *column;
	} kept[] = {{"waiters", "holder"},
		    {"uprobes", "hits_per_s"},
		    {"upprocs", "hits_per_s"},
		    {"uphits", "hits_per_s"}};

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!strcmp(t->name, kept[i].table) && !strcmp(c->key, kept[i].column))
			return true;
	return false;
}

static bool is_shown(const struct table *t, size_t col)
{
	const struct column *c = &t->columns[col];

	if (c->flags & COLUMN_CHOSEN || stays(t, c))
		return true;
	if (!(c->flags & COLUMN_SCREEN) || c->type == COLUMN_SERIES || c->priority > PRIORITY_SHOWN)
		return false;
	for (size_t row = 0; row < t->n_rows; row++)
		if (table_value(t, row, col)->known)
			return true;
	return t->n_rows == 0; /* hide columns without a value */
}

static void measure(struct text *x, const struct table *t, int widths[TABLE_COLUMNS])
{
	for (size_t col = 0; col < columns_of(t); col++) {
		widths[col] = 0;
		if (!is_shown(t, col))
			continue;
		widths[col] = text_width(t->columns[col].title);
		for (size_t row = 0; row < t->n_rows; row++) {
			int w = text_width(cell(x, t, row, col));
			widths[col] = w > widths[col] ? w : widths[col];
		}
	}
}

static size_t last_column(const struct table *t, const int *widths)
{
	size_t last = SIZE_MAX;

	for (size_t col = 0; col < columns_of(t); col++)
		last = widths[col] ? col : last;
	return last;
}

/* The number of bytes of @s that fit into @width columns; *ret_left: the columns left over. */
static size_t fitting(const char *s, int width, int *ret_left)
{
	size_t at = 0, len;
	uint32_t ch;

	*ret_left = width;
	while ((len = text_decode(s + at, &ch)) > 0 && text_char_width(ch) <= *ret_left) {
		*ret_left -= text_char_width(ch);
		at += len;
	}
	return at;
}

/* A text that is too long ends in a mark and never in part of a figure. Returns the columns left
 * over. */
static int put_clipped(struct text *x, const char *s, int width)
{
	int left;
	char kept[CELL_BUF];

	if (text_keep_id(kept, sizeof(kept), s, width))
		s = kept;
	size_t at = fitting(s, width, &left), word;

	if (s[at] && width > 0) {
		at = fitting(s, width - 1, &left);
		for (word = at; word && s[word - 1] != ' ';)
			word--;
		if (s[at] != ' ' && text_is_figure(s + word)) {
			left += (int)(at - word);
			at = word;
		}
	}
	fwrite(s, 1, at, x->out);
	if (s[at] && width > 0)
		fputs(x->ascii ? "~" : "…", x->out);
	return left;
}

static void put_cell(struct text *x, const struct column *c, const char *s, int width, bool last)
{
	int pad = width - text_width(s), left;

	if (!is_left(c))
		put_blanks(x->out, pad);
	left = put_clipped(x, s, width);
	if (last)
		fputc('\n', x->out);
	else
		put_blanks(x->out, (is_left(c) ? left : 0) + GAP);
}

/* The width that is left after dropping columns goes to the wide ones, from the left. */
static void widen(const struct table *t, const int *natural, int *widths, int spare)
{
	for (size_t col = 0; col < columns_of(t) && spare > 0; col++) {
		int more = widths[col] ? natural[col] - widths[col] : 0;
		more = more < spare ? more : spare;
		widths[col] += more;
		spare -= more;
	}
}

/* Wide columns begin with the width that they have on the screen. */
static void fit_widths(const struct table *t, int width, int *widths)
{
	struct table_room room[TABLE_COLUMNS];
	int natural[TABLE_COLUMNS], spare;
	bool shown[TABLE_COLUMNS];

	memcpy(natural, widths, sizeof(natural));
	for (size_t col = 0; col < columns_of(t); col++) {
		const struct column *c = &t->columns[col];
		if (c->flags & COLUMN_WIDE && widths[col] > c->width)
			widths[col] = c->width;
		room[col] = (struct table_room){widths[col], 0, c->priority};
	}
	spare = table_fit(room, columns_of(t), width, GAP, shown);
	for (size_t col = 0; col < columns_of(t); col++)
		widths[col] = shown[col] ? widths[col] : 0;
	widen(t, natural, widths, spare);
}

static void limit_widths(const struct text *x, const struct table *t, int *widths)
{
	size_t last = last_column(t, widths);

	for (size_t col = 0; col < columns_of(t); col++)
		if (widths[col] > TEXT_WIDTH && col != last)
			widths[col] = TEXT_WIDTH;
	if (x->width)
		fit_widths(t, x->width, widths);
}

static void put_table(struct text *x, const struct table *t)
{
	int widths[TABLE_COLUMNS] = {0};
	size_t last;

	measure(x, t, widths);
	limit_widths(x, t, widths);
	last = last_column(t, widths);
	fputs("# ", x->out);
	for (size_t col = 0; col < columns_of(t); col++)
		if (widths[col])
			put_cell(x, &t->columns[col], t->columns[col].title, widths[col],
				 col == last);
	for (size_t row = 0; row < t->n_rows; row++) {
		fputs("  ", x->out);
		for (size_t col = 0; col < columns_of(t); col++)
			if (widths[col])
				put_cell(x, &t->columns[col], cell(x, t, row, col), widths[col],
					 col == last);
	}
}

void report_text_table(const struct table *t, const struct report_spec *s, FILE *out)
{
	struct text x = {.out = out, .ascii = s->ascii, .width = s->width};

	put_table(&x, t);
}

void report_text_clean(const char *text, FILE *out)
{
	char buf[CELL_BUF];

	fputs(text_clean(buf, sizeof(buf), text), out);
}

void report_text_count(const struct table *t, const char *unit, FILE *out)
{
	if (t->n_rows < t->n_total)
		fprintf(out, "%zu of %zu %s\n", t->n_rows, t->n_total, unit);
	else
		fprintf(out, "%zu %s\n", t->n_rows, unit);
}

bool report_text_title(const char *what, const struct report_snapshot *s, FILE *out)
{
	fprintf(out, "#\n# %s", what);
	if (s->known) {
		fputc(' ', out);
		return true;
	}
	fputs(": ", out);
	report_text_clean(s->reason, out);
	fputc('\n', out);
	return false;
}

void report_text_limits(struct query *q, const struct report_snapshot *s, FILE *out)
{
	char n[UNITS_BUF];

	if (s->incomplete)
		fprintf(out, "# %u lists changed while they were read: rows may be missing\n",
			s->incomplete);
	if (s->dropped)
		fprintf(out, "# %u %s were left out for lack of room\n", s->dropped,
			s->dropped_what);
	if (s->ended_more)
		fprintf(out, "# %s more %s ended, and are not listed\n",
			units_count(n, s->ended_more), s->ended_what);
	if (!s->missing)
		return;
	fprintf(out, "# not known: %s%s", s->text(q, s->missing), *s->reason ? ": " : "");
	report_text_clean(s->reason, out);
	fputc('\n', out);
}

void report_text_part(const struct report_spec *spec, const char *what, const struct table *t,
		      const struct report_snapshot *s, uint32_t needs, FILE *out)
{
	fprintf(out, "#\n# %s: ", what);
	if (!t->n_total && s->missing & needs)
		fputs("not known\n", out);
	else
		report_text_count(t, "rows", out);
	if (t->n_total)
		report_text_table(t, spec, out);
}

void report_text_limit(const char *what, double percent_limit, FILE *out)
{
	char a[UNITS_BUF];

	if (percent_limit > 0)
		fprintf(out, "# %s of less than %s%% are left out\n", what,
			units_pct(a, percent_limit));
}

void report_text(const void *answer, FILE *out)
{
	const struct report_data *d = answer;
	struct incident in;

	if (query_incident(d->q->model, &in))
		report_incident_text(out, &in, report_incident_wall_ns(d->overview.host, &in));
	report_head_text(d, out);
	for (const struct report_part *p = report_parts; p->views; p++)
		if (d->views & p->views)
			p->text(d, out);
}

void report_text_lost(const struct model_damage *d, const struct query_loss *loss, FILE *out)
{
	char buf[UNITS_BUF];

	fprintf(out, "lost %s", units_count(buf, d->lost + d->dropped));
	if (loss->lost_pct > 0)
		fprintf(out, " (%s%%)", units_pct(buf, loss->lost_pct));
}

void report_text_at_least(const struct query_loss *loss, const char *front, FILE *out)
{
	char n[UNITS_BUF], pct[UNITS_BUF];

	if (!loss->at_least)
		return;
	fprintf(out, "%sfigures are lower bounds: ", front);
	if (loss->no_locks)
		fputs("samples of the profile are missing\n", out);
	else if (loss->counted)
		fprintf(out, "up to %s waits (%s%%) are missing\n",
			units_count(n, loss->missing_most), units_pct(pct, loss->missing_pct));
	else
		fputs("it is not known how many waits are missing\n", out);
}

void report_text_no_locks(struct query *q, const char *front, FILE *out)
{
	const char *text = query_no_locks(q);

	if (text)
		fprintf(out, "%sno lock events: %s\n", front, text);
}

void report_sandbox_text(const struct sandbox *s, FILE *out)
{
	char buf[200];
	const char *note = sandbox_note(s, buf, sizeof(buf));

	if (note)
		fprintf(out, "# %s\n", note);
}
