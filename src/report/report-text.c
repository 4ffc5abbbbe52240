// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report for people: aligned tables, units as on the screens, header lines that begin with '#'
 * so that a filter drops them with ease. Tables are laid out in two passes over the rows, the first
 * to find each column's width. Columns of least use are left out, as are more of them where a width
 * is asked for; CSV and JSON have them all.
 */
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/when.h"
#include "report-int.h"

#include <string.h>

enum {
	CELL_BUF = 4096, /* longest text of a cell: a call chain of 127 frames may be cut */
	MAX_COLUMNS = 64,
	PRIORITY_SHOWN = 5,
	BAR_WIDTH = 40,
	TEXT_WIDTH = 100, /* of one text that is not the last of its row */
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

static bool is_shown(const struct table *t, size_t col)
{
	const struct column *c = &t->columns[col];

	if (!(c->flags & COLUMN_SCREEN) || c->type == COLUMN_SERIES || c->priority > PRIORITY_SHOWN)
		return false;
	for (size_t row = 0; row < t->n_rows; row++)
		if (table_value(t, row, col)->known)
			return true;
	return t->n_rows == 0; /* a column of dashes says nothing */
}

static void measure(struct text *x, const struct table *t, int widths[MAX_COLUMNS])
{
	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++) {
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

static int sum_widths(const struct table *t, const int *widths)
{
	int sum = 0;

	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
		sum += widths[col] ? widths[col] + 2 : 0;
	return sum;
}

static bool drop_one(const struct table *t, int *widths)
{
	size_t worst = SIZE_MAX;

	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
		if (widths[col] && t->columns[col].priority &&
		    (worst == SIZE_MAX || t->columns[col].priority >= t->columns[worst].priority))
			worst = col;
	if (worst == SIZE_MAX)
		return false;
	widths[worst] = 0;
	return true;
}

static size_t last_column(const struct table *t, const int *widths)
{
	size_t last = SIZE_MAX;

	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
		last = widths[col] ? col : last;
	return last;
}

/* The bytes of @s that are at most @width columns; what these leave of it. */
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

/* What does not fit ends in a mark, and no part of a figure is left. Answers what is left over. */
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
		put_blanks(x->out, (is_left(c) ? left : 0) + 2);
}

/* What is left over after dropping goes to the wide columns, from the left. */
static void widen(const struct table *t, const int *natural, int *widths, int spare)
{
	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS && spare > 0; col++) {
		int more = widths[col] ? natural[col] - widths[col] : 0;
		more = more < spare ? more : spare;
		widths[col] += more;
		spare -= more;
	}
}

static void limit_widths(const struct text *x, const struct table *t, int *widths)
{
	int natural[MAX_COLUMNS];

	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
		if (widths[col] > TEXT_WIDTH && col != last_column(t, widths))
			widths[col] = TEXT_WIDTH;
	if (x->width == 0)
		return;
	memcpy(natural, widths, sizeof(natural));
	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++) {
		const struct column *c = &t->columns[col];
		if (c->flags & COLUMN_WIDE && widths[col] > c->width)
			widths[col] = c->width;
	}
	while (sum_widths(t, widths) > x->width && drop_one(t, widths))
		;
	widen(t, natural, widths, x->width - sum_widths(t, widths));
}

static void put_table(struct text *x, const struct table *t)
{
	int widths[MAX_COLUMNS] = {0};
	size_t last;

	measure(x, t, widths);
	limit_widths(x, t, widths);
	last = last_column(t, widths);
	fputs("# ", x->out);
	for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
		if (widths[col])
			put_cell(x, &t->columns[col], t->columns[col].title, widths[col],
				 col == last);
	for (size_t row = 0; row < t->n_rows; row++) {
		fputs("  ", x->out);
		for (size_t col = 0; col < t->n_columns && col < MAX_COLUMNS; col++)
			if (widths[col])
				put_cell(x, &t->columns[col], cell(x, t, row, col), widths[col],
					 col == last);
	}
}

void report_text_table(const struct table *t, bool ascii, int width, FILE *out)
{
	struct text x = {.out = out, .ascii = ascii, .width = width};

	put_table(&x, t);
}

static void put_count(FILE *out, const char *what, uint64_t n)
{
	char buf[UNITS_BUF];

	if (n)
		fprintf(out, ", %s %s", units_count(buf, n), what);
}

static void put_quality(FILE *out, const struct query_overview *o)
{
	const struct model_damage *d = &o->damage;
	char a[UNITS_BUF], b[UNITS_BUF];

	fprintf(out, "# quality: lost %s, unmatched %s%%", units_count(a, d->lost + d->dropped),
		o->unmatched_pct > 0 ? units_pct(b, o->unmatched_pct) : "0");
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (f->words)
			put_count(out, f->words, figure_value(f, d, 0).u);
	if (o->cpus_offline == 1)
		fprintf(out, ", CPU %u offline", o->first_offline);
	else
		put_count(out, "CPUs offline", o->cpus_offline);
	fputc('\n', out);
	if (o->no_ends)
		fprintf(out,
			"# no ends: %s waits began, but lock:contention_end was not recorded, so "
			"none has a duration or is shown\n",
			units_count(a, d->unmatched_begin));
	if (o->sym_state == SYM_WITHHELD)
		fputs("# kernel symbols are withheld: run as root, or sysctl "
		      "kernel.kptr_restrict=0\n",
		      out);
	else if (o->sym_state == SYM_UNREADABLE)
		fputs("# kernel symbols: /proc/kallsyms cannot be read; addresses are shown\n",
		      out);
}

static void put_range(struct text *x, const struct query_overview *o)
{
	const struct when w = {.clock_ns = o->host->clock_ns, .wall_ns = o->host->wall_ns};
	char a[WHEN_BUF], b[WHEN_BUF];

	fprintf(x->out, "# range +%s to +%s", when_elapsed(a, o->from_ns - o->start_ns, 3),
		when_elapsed(b, o->to_ns - o->start_ns, 3));
	if (w.wall_ns)
		fprintf(x->out, ", %s to %s", when_date(a, when_wall_ns(&w, o->from_ns), 3),
			when_date(b, when_wall_ns(&w, o->to_ns), 3));
	fputc('\n', x->out);
}

static void put_head(struct text *x, const struct report_spec *s, const struct query_overview *o)
{
	const struct record_host *h = o->host;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF], d[UNITS_BUF];

	fputs("# kontend report: ", x->out);
	fputs(text_clean(x->cell, sizeof(x->cell), h->targets[0] ? h->targets : "?"), x->out);
	fputs(", kernel ", x->out);
	fputs(text_clean(x->cell, sizeof(x->cell), h->release[0] ? h->release : "?"), x->out);
	fputs(text_clean(x->cell, sizeof(x->cell), h->machine[0] ? " " : ""), x->out);
	fputs(text_clean(x->cell, sizeof(x->cell), h->machine), x->out);
	fprintf(x->out, ", %u CPUs\n", h->cpus_online);
	if (s->is_range)
		put_range(x, o);
	fprintf(x->out, "# measured %s: %s events, %s waits, %s waited\n",
		units_ns(a, o->elapsed_ns), units_count(b, o->n_events),
		units_count(c, o->contended), units_ns(d, o->total_ns));
	put_quality(x->out, o);
}

static void put_overview(struct text *x, const struct report_data *d)
{
	const struct query_overview *o = &d->overview;
	char a[UNITS_BUF], b[UNITS_BUF];

	fprintf(x->out, "#\n# overview: %s contentions/s, %s waited/s\n",
		units_rate(a, report_rate(d, o->contended)),
		units_nsrate(b, report_rate(d, o->waited_ns)));
	fprintf(x->out, "# waiting now: %u (rwsem W %u, R %u)", o->waiting, o->waiting_rwsem_w,
		o->waiting_rwsem_r);
	if (o->waiting_early)
		fprintf(x->out, ", %u since before measuring began", o->waiting_early);
	if (o->waiting_doubtful)
		fprintf(x->out, ", %u doubtful", o->waiting_doubtful);
	if (o->any_longest) {
		fprintf(x->out, ", longest %s%s: ", o->longest_approx ? "~" : "",
			units_ns(a, o->longest_ns));
		fputs(text_clean(x->cell, sizeof(x->cell), o->longest_task), x->out);
		fprintf(x->out, " on %s ", o->longest_type);
		fputs(text_clean(x->cell, sizeof(x->cell), o->longest_lock), x->out);
	}
	fputc('\n', x->out);
	if (o->own_waits || o->own_waiting)
		fprintf(x->out, "# of these kontend itself: %u waiting now; %s waits of %s\n",
			o->own_waiting, units_count(a, o->own_waits), units_ns(b, o->own_wait_ns));
	report_mmap_text_worst(d, x->out);
	report_perf_text_sum(d, x->out);
	if (d->rotation_sum.known)
		report_rotation_text_sum(d, x->out);
	report_uprobe_text_sum(d, x->out);
	fputs("#\n", x->out);
	put_table(x, &d->types);
	fputs("#\n", x->out);
	put_table(x, &d->cpus);
}

void report_text_rows(const struct report_spec *s, const char *what, const struct table *t,
		      bool unknown, FILE *out)
{
	fprintf(out, "#\n# %s: ", what);
	if (!t->n_total && unknown)
		fputs("not known\n", out);
	else if (t->n_rows == t->n_total)
		fprintf(out, "%zu rows\n", t->n_rows);
	else
		fprintf(out, "%zu of %zu rows\n", t->n_rows, t->n_total);
	if (t->n_total)
		report_text_table(t, s->ascii, s->width, out);
}

void report_text_limit(const char *what, double percent_limit, FILE *out)
{
	char a[UNITS_BUF];

	if (percent_limit > 0)
		fprintf(out, "# %s of less than %s%% are left out\n", what,
			units_pct(a, percent_limit));
}

static void put_rows_shown(struct text *x, const struct table *t)
{
	if (t->n_rows == t->n_total)
		fprintf(x->out, "%zu rows\n", t->n_rows);
	else
		fprintf(x->out, "%zu of %zu rows\n", t->n_rows, t->n_total);
}

static void put_no_look(struct text *x, const struct report_data *d, const char *what)
{
	const struct query_lock_look *look = &d->lock_look;

	if (look->refused)
		fprintf(x->out, "# not known: %s: %s\n", what,
			text_clean(x->cell, sizeof(x->cell), look->reason));
}

static void put_locks(struct text *x, const struct report_data *d)
{
	const struct table *t = &d->locks;

	fprintf(x->out, "#\n# locks by %s, sorted by %s%s: ", query_by_name(d->spec->query.by),
		t->columns[t->sort_col].key, t->reverse ? " (reversed)" : "");
	put_rows_shown(x, t);
	put_no_look(x, d, "names, holders");
	if (d->spec->query.by == BY_OWNER && !d->q->model->owners_told)
		fputs("# who held the locks was not seen: measure or record with --owner\n",
		      x->out);
	if (t->n_total == 0)
		fputs(d->overview.no_ends ? "# no wait was seen to end\n"
					  : "# no contention was seen\n",
		      x->out);
	else
		put_table(x, t);
}

static void put_waiters(struct text *x, const struct report_data *d)
{
	fputs("#\n# waiters at the end: ", x->out);
	put_rows_shown(x, &d->waiters);
	put_no_look(x, d, "names, holders, places");
	if (d->waiters.n_total == 0)
		fputs(d->overview.no_ends ? "# not known without ends\n" : "# nobody was waiting\n",
		      x->out);
	else
		put_table(x, &d->waiters);
}

static void put_tree(struct text *x, const struct report_data *d)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];
	const struct query_tree *t = &d->tree;

	fprintf(x->out, "#\n# call tree, from the %s: %s waits, %s waited",
		d->spec->inverted ? "outermost frames" : "call sites", units_count(a, t->n_waits),
		units_ns(b, t->total_ns));
	if (t->n_inflight)
		fprintf(x->out, "; %s of them, %s, go on", units_count(a, t->n_inflight),
			units_ns(b, t->inflight_ns));
	fputc('\n', x->out);
	report_text_limit("calls", d->spec->percent_limit, x->out);
	fprintf(x->out, "# %5s  %6s  %6s  %6s  FUNCTION\n", d->spec->by_count ? "COUNT%" : "WAIT%",
		"TOTAL", "COUNT", "MAX");
	for (size_t i = 0; i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		if (n->pct < d->spec->percent_limit)
			continue;
		fprintf(x->out, "  %5s", units_pct(a, n->pct));
		fprintf(x->out, "  %6s  %6s  %6s  ", units_ns(a, n->total_ns), units_count(b, n->n),
			units_ns(c, n->max_ns));
		put_blanks(x->out, n->depth * 2);
		fputs(text_clean(x->cell, sizeof(x->cell), n->name), x->out);
		fputc('\n', x->out);
	}
}

static void put_bar(struct text *x, const struct query_bar *bar, uint64_t most)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];
	int len = (int)((double)bar->n / (double)most * BAR_WIDTH + 0.5);

	fprintf(x->out, "  %6s  %6s  %5s", units_ns(a, bar->lower_ns), units_count(b, bar->n),
		bar->n ? units_pct(c, bar->pct) : "0");
	if (bar->n)
		fputs("  ", x->out);
	for (int i = 0; bar->n && i < (len ? len : 1); i++)
		fputs(x->ascii ? "#" : "█", x->out);
	fputc('\n', x->out);
}

static void put_hist(struct text *x, const struct report_data *d)
{
	const struct query_hist *h = &d->hist;
	char min[UNITS_BUF], a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF], max[UNITS_BUF];
	uint64_t most = 1;

	fprintf(x->out, "#\n# wait histogram: %s waits", units_count(a, h->n_waits));
	if (h->n_waits)
		fprintf(x->out, ", min %s, p50 %s, p90 %s, p99 %s, max %s",
			units_ns(min, h->min_ns), units_ns(a, h->p50_ns), units_ns(b, h->p90_ns),
			units_ns(c, h->p99_ns), units_ns(max, h->max_ns));
	fprintf(x->out, "\n# %6s  %6s  %5s\n", "FROM", "COUNT", "%");
	for (size_t i = 0; i < h->n; i++)
		most = h->bars[i].n > most ? h->bars[i].n : most;
	for (size_t i = 0; i < h->n; i++)
		put_bar(x, &h->bars[i], most);
}

static const struct {
	unsigned views; /* one of these is asked for */
	void (*put)(struct text *x, const struct report_data *d);
	void (*elsewhere)(const struct report_data *d, FILE *out); /* the same, in another file */
} parts[] = {
	{REPORT_OVERVIEW, put_overview, NULL},
	{REPORT_LOCKS, put_locks, NULL},
	{REPORT_WAITERS, put_waiters, NULL},
	{REPORT_MMAP, NULL, report_mmap_text},
	{REPORT_SLOTS | REPORT_HOLDERS | REPORT_CONTEXTS | REPORT_EVENTS, NULL, report_perf_text},
	{REPORT_ROTATION, NULL, report_rotation_text},
	{REPORT_UPROBES | REPORT_XOL, NULL, report_uprobe_text},
	{REPORT_HOT, NULL, report_hot_text},
	{REPORT_FLAME, NULL, report_flame_text},
	{REPORT_CODE, NULL, report_annotate_text},
	{REPORT_TREE, put_tree, NULL},
	{REPORT_HIST, put_hist, NULL},
};

void report_text(const struct report_data *d, FILE *out)
{
	struct text x = {.out = out, .ascii = d->spec->ascii, .width = d->spec->width};

	put_head(&x, d->spec, &d->overview);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!(d->views & parts[i].views))
			continue;
		if (parts[i].put)
			parts[i].put(&x, d);
		else
			parts[i].elsewhere(d, out);
	}
}
