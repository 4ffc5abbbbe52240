// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenMetrics text. A family is a TYPE line, its unit and help, and all its samples in a run; the
 * same labels occur only once in a family. Durations are in seconds, as is usual, written from
 * whole nanoseconds without rounding. The bounds of the histograms are powers of two, which are
 * also bounds of kontend's own histograms, so that the counts are exact.
 */
#include "kontend/openmetrics.h"
#include "kontend/text.h"

#include <inttypes.h>
#include <string.h>

/* size of a label's value after cleaning: paths of cgroups may be long */
enum { VALUE = OPENMETRICS_VALUE };

const char *openmetrics_text_kind(enum openmetrics_kind t)
{
	static const char *const names[] = {"counter", "gauge", "histogram"};

	return names[t];
}

void openmetrics_text_dump(FILE *out)
{
	for (const struct openmetrics_family *f = openmetrics_families; f->name; f++)
		fprintf(out, "%s\t%s\t%s\t%s\t%s%s\t%s\n", f->name, openmetrics_text_kind(f->type),
			f->unit ? f->unit : "", f->labels,
			f->where & OPENMETRICS_SERVER ? "server" : "",
			f->where & OPENMETRICS_EXPORT ? " export" : "", f->help);
}

void openmetrics_hist_bars(const struct openmetrics_hist *h, uint64_t ret[OPENMETRICS_BUCKETS])
{
	for (size_t i = 0; i < OPENMETRICS_BUCKETS; i++)
		ret[i] = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		ret[openmetrics_text_bucket(hist_upper(i))] += h->counts[i];
}

void openmetrics_text_family(struct openmetrics_text *t, const char *name)
{
	const struct openmetrics_family *f = openmetrics_families;

	while (strcmp(f->name, name))
		f++;
	t->family = f;
	if (t->proto) {
		openmetrics_proto_family(t->proto, f);
		return;
	}
	fprintf(t->out, "# TYPE %s %s\n", f->name, openmetrics_text_kind(f->type));
	if (f->unit)
		fprintf(t->out, "# UNIT %s %s\n", f->name, f->unit);
	fprintf(t->out, "# HELP %s %s\n", f->name, f->help);
}

static void put_value(FILE *out, const char *value)
{
	char buf[VALUE];

	text_clean(buf, sizeof(buf), value);
	for (const char *s = buf; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', out);
		putc(*s, out);
	}
}

/* Name and labels of a sample, and the blank before its number. @le: the last label, or NULL. */
static void put_sample(const struct openmetrics_text *t, const char *suffix,
		       const char *const *values, const char *le)
{
	const char *key = t->family->labels;
	char before = '{';

	fputs(t->family->name, t->out);
	fputs(suffix, t->out);
	for (size_t i = 0; *key; i++) {
		size_t len = strcspn(key, " ");
		putc(before, t->out);
		fwrite(key, 1, len, t->out);
		fputs("=\"", t->out);
		put_value(t->out, values[i]);
		putc('"', t->out);
		before = ',';
		key += len + (key[len] == ' ');
	}
	if (le)
		fprintf(t->out, "%cle=\"%s\"", before, le);
	fputs(le || before == ',' ? "} " : " ", t->out);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static const char *suffix_of(const struct openmetrics_text *t)
{
	return t->family->type == OPENMETRICS_COUNTER ? "_total" : "";
}

void openmetrics_text_count(struct openmetrics_text *t, const char *const *values, uint64_t n)
{
	if (t->proto) {
		openmetrics_proto_value(t->proto, values, (double)n);
		return;
	}
	put_sample(t, suffix_of(t), values, NULL);
	fprintf(t->out, "%" PRIu64 "\n", n);
}

void openmetrics_text_seconds(struct openmetrics_text *t, const char *const *values, uint64_t ns)
{
	if (t->proto) {
		openmetrics_proto_value(t->proto, values, (double)ns / 1e9);
		return;
	}
	put_sample(t, suffix_of(t), values, NULL);
	put_seconds(t->out, ns);
	putc('\n', t->out);
}

void openmetrics_text_ratio(struct openmetrics_text *t, const char *const *values, double ratio)
{
	if (t->proto) {
		openmetrics_proto_value(t->proto, values, ratio);
		return;
	}
	put_sample(t, suffix_of(t), values, NULL);
	fprintf(t->out, "%.6g\n", ratio);
}

/* " # {incident="kontend-1.data"} 0.312000000 1764013586.000000000" */
static void put_exemplar(FILE *out, const struct openmetrics_exemplar *e)
{
	fputs(" # {incident=\"", out);
	put_value(out, e->incident);
	fputs("\"} ", out);
	put_seconds(out, e->ns);
	putc(' ', out);
	put_seconds(out, e->wall_ns);
}

static void put_bucket(const struct openmetrics_text *t, const char *const *values, unsigned k,
		       uint64_t n, const struct openmetrics_exemplar *e)
{
	uint64_t bound = UINT64_C(1) << k;
	char le[32] = "+Inf";

	if (k <= OPENMETRICS_LAST)
		snprintf(le, sizeof(le), "%" PRIu64 ".%09" PRIu64, bound / 1000000000u,
			 bound % 1000000000u);
	put_sample(t, "_bucket", values, le);
	fprintf(t->out, "%" PRIu64, n);
	if (e)
		put_exemplar(t->out, e);
	putc('\n', t->out);
}

void openmetrics_text_histogram(struct openmetrics_text *t, const char *const *values,
				const struct openmetrics_hist *h,
				const struct openmetrics_exemplar *e)
{
	bool any = e && e->wall_ns;
	size_t of = any ? openmetrics_text_bucket(e->ns) : SIZE_MAX;
	uint64_t n = 0, bars[OPENMETRICS_BUCKETS];

	if (t->proto) {
		openmetrics_proto_histogram(t->proto, values, h, any ? e : NULL);
		return;
	}
	openmetrics_hist_bars(h, bars);
	for (unsigned k = OPENMETRICS_FIRST; k <= OPENMETRICS_LAST + 1; k++) {
		size_t i = k - OPENMETRICS_FIRST;
		n += bars[i];
		put_bucket(t, values, k, n, i == of ? e : NULL);
	}
	put_sample(t, "_count", values, NULL);
	fprintf(t->out, "%" PRIu64 "\n", n);
	put_sample(t, "_sum", values, NULL);
	put_seconds(t->out, h->total_ns);
	putc('\n', t->out);
}
