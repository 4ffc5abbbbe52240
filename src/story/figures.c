// SPDX-License-Identifier: GPL-2.0-only
/* Figures of a story: as lines, read again, and beside those that were published. */
#include "kontend/jsonw.h"
#include "kontend/mem.h"
#include "kontend/story-figures.h"
#include "kontend/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 5, LINE = 256, WHAT = 38, CELL = 13 };

void story_figures_write(FILE *out, const struct story *s, const struct bench_figures *f)
{
	for (size_t i = 0; i < f->n; i++)
		fprintf(out, "%s\t%s\t%s\t%s\t%.9g\n", s->name, f->v[i].of, f->v[i].metric,
			f->v[i].unit, f->v[i].value);
}

static int add(struct story_figures *f, char *words[WORDS])
{
	char *end;
	double value = strtod(words[4], &end);

	if (!*words[4] || *end)
		return -EINVAL;
	if (mem_grow(&f->v, &f->cap, f->n, sizeof(*f->v)) < 0)
		return -ENOMEM;
	struct story_figure *one = &f->v[f->n++];
	*one = (struct story_figure){.value = value};
	snprintf(one->of, sizeof(one->of), "%s", words[1]);
	snprintf(one->metric, sizeof(one->metric), "%s", words[2]);
	snprintf(one->unit, sizeof(one->unit), "%s", words[3]);
	return 0;
}

static int take_line(struct story_figures *f, const struct story *s, const char *text, size_t len)
{
	char line[LINE], *words[WORDS], *rest = line;
	int n = 0;

	if (len >= sizeof(line) || memchr(text, 0, len))
		return -EINVAL;
	memcpy(line, text, len);
	line[len] = '\0';
	while (rest && n < WORDS)
		words[n++] = strsep(&rest, "\t");
	if (n < WORDS || rest)
		return -EINVAL;
	return strcmp(words[0], s->name) == 0 ? add(f, words) : 0;
}

int story_figures_parse(struct story_figures *ret, const struct story *s, const char *text,
			size_t len)
{
	const char *end = text + len;
	int code = 0;

	*ret = (struct story_figures){0};
	while (code == 0 && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		if (!stop)
			code = -EINVAL;
		else if (*text != '#')
			code = take_line(ret, s, text, (size_t)(stop - text));
		text = stop ? stop + 1 : end;
	}
	if (code < 0)
		story_figures_deinit(ret);
	return code;
}

void story_figures_deinit(struct story_figures *f)
{
	mem_free(f->v);
	*f = (struct story_figures){0};
}

/* The last one of a pattern: benchmarks go from one CPU to all. */
static const struct story_figure *find(const struct story_figures *f, const char *of,
				       const char *metric)
{
	const struct story_figure *found = NULL;
	size_t n = strlen(of);
	bool is_part = n && of[n - 1] == '*';

	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].metric, metric) &&
		    (is_part ? !strncmp(f->v[i].of, of, n - 1) : !strcmp(f->v[i].of, of)))
			found = &f->v[i];
	return found;
}

double story_figures_value(const struct story_figures *f, const struct story_row *row,
			   const char **ret_unit)
{
	const struct story_figure *one = find(f, row->of, row->metric), *other = NULL;

	*ret_unit = one ? one->unit : "";
	if (!one || !row->over)
		return one ? one->value : (double)NAN;
	other = find(f, row->over, row->metric);
	*ret_unit = "x";
	return other && other->value > 0 ? one->value / other->value : (double)NAN;
}

static const char *text_of(char buf[UNITS_BUF], const char *unit, double v)
{
	if (isnan(v))
		return "-";
	if (!strcmp(unit, "ns"))
		return units_ns(buf, (uint64_t)v);
	if (!strcmp(unit, "1/s"))
		return units_rate(buf, v);
	if (!strcmp(unit, "1") && v == floor(v) && v < 1e15)
		return units_count(buf, (uint64_t)v);
	snprintf(buf, UNITS_BUF, "%.3g%s", v,
		 !strcmp(unit, "%")   ? "%"
		 : !strcmp(unit, "x") ? "x"
				      : "");
	return buf;
}

/* The unit of a row of which there is no figure here. */
static const char *unit_of(const struct story_row *row, const char *unit)
{
	if (*unit)
		return unit;
	return row->over ? "x" : !strcmp(row->metric, "calls") ? "1/s" : "ns";
}

static void put_row(FILE *out, const struct story_row *row, const struct story_figures *f,
		    bool is_published)
{
	char before[UNITS_BUF], after[UNITS_BUF], here[UNITS_BUF];
	const char *unit;
	double v = story_figures_value(f, row, &unit);

	unit = unit_of(row, unit);
	fprintf(out, "%-*s", WHAT, row->what);
	if (is_published)
		fprintf(out, " %*s %*s", CELL, text_of(before, unit, row->before), CELL,
			text_of(after, unit, row->after));
	fprintf(out, " %*s\n", CELL, text_of(here, unit, v));
}

void story_figures_text(FILE *out, const struct story *s, const struct story_figures *f,
			const char *machine, bool is_recorded)
{
	const char *here = is_recorded ? "recorded" : "here";

	fprintf(out, "%s: %s\n", s->name, s->title);
	if (s->published)
		fprintf(out, "%-*s %*s\n", WHAT, "", CELL, "published");
	fprintf(out, "%-*s", WHAT, "");
	if (s->published)
		fprintf(out, " %*s %*s", CELL, "before", CELL, "after");
	fprintf(out, " %*s\n", CELL, here);
	for (const struct story_row *row = s->rows; row->what; row++)
		put_row(out, row, f, s->published != NULL);
	if (s->published)
		fprintf(out, "published: %s\n", s->published);
	fprintf(out, "%s: %s\ncompare: %s\n", here, machine, s->compare);
}

static void put_figure(struct jsonw *j, const struct story_row *row, const struct story_figures *f)
{
	const char *unit;
	double v = story_figures_value(f, row, &unit);

	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "what", row->what);
	jsonw_str(j, "case", row->of);
	jsonw_str(j, "metric", row->metric);
	jsonw_str(j, "over", row->over);
	jsonw_str(j, "unit", row->over ? "1" : unit_of(row, unit));
	jsonw_double(j, "value", v);
	jsonw_double(j, "published_before", row->before);
	jsonw_double(j, "published_after", row->after);
	jsonw_end(j, '}');
}

void story_figures_json(FILE *out, const struct story *s, const struct story_figures *f,
			const char *machine, bool is_recorded)
{
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.story/1");
	jsonw_str(&j, "story", s->name);
	jsonw_str(&j, "title", s->title);
	jsonw_bool(&j, "recorded", is_recorded);
	jsonw_str(&j, "machine", machine);
	jsonw_str(&j, "published", s->published);
	jsonw_str(&j, "compare", s->compare);
	jsonw_begin(&j, "figures", '[', false);
	for (const struct story_row *row = s->rows; row->what; row++)
		put_figure(&j, row, f);
	jsonw_end(&j, ']');
	jsonw_end(&j, '}');
}
