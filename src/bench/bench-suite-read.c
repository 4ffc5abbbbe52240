// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suites from JSON, by libjansson: it limits the nesting of values, refuses invalid UTF-8 and
 * numbers that exceed a double, and names the place. The file is untrusted, so types, sizes and
 * numbers are checked here: a file is refused as a whole, with the place of the first value that no
 * suite of kontend has. The library is loaded at the first use.
 */
#include "kontend/bench-suite.h"
#include "kontend/library.h"
#include "kontend/text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SONAME "libjansson.so.4"

enum { FIGURES = 4000, CPUS = 1 << 20 };

struct library {
	__typeof__(json_loadb) *load;
	__typeof__(json_delete) *free;
	__typeof__(json_object_get) *get;
	__typeof__(json_array_size) *size;
	__typeof__(json_array_get) *at;
	__typeof__(json_string_value) *text;
	__typeof__(json_number_value) *number;
};

struct reading {
	const struct library *lib;
	struct bench_suite *s;
	const char *name;
	struct error *err;
};

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct library, load, json_loadb),
	LIBRARY_FUNCTION(struct library, free, json_delete),
	LIBRARY_FUNCTION(struct library, get, json_object_get),
	LIBRARY_FUNCTION(struct library, size, json_array_size),
	LIBRARY_FUNCTION(struct library, at, json_array_get),
	LIBRARY_FUNCTION(struct library, text, json_string_value),
	LIBRARY_FUNCTION(struct library, number, json_number_value),
};

static const struct library_spec library = {
	SONAME, functions, sizeof(functions) / sizeof(functions[0]), "read JSON", "libjansson4"};

/* @where: "figures[3].values" of the file. */
__attribute__((format(printf, 3, 4))) static int refuse(struct reading *r, const char *where,
							const char *fmt, ...)
{
	char what[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return error_set(r->err, -EBADMSG, "%s: %s: %s, so it is no suite of 'kontend bench suite'",
			 r->name, where, what);
}

/* Member @key of @of, whose place is @where, as a text of less than @size bytes. */
static int take_text(struct reading *r, const json_t *of, const char *where, const char *key,
		     char *ret, size_t size)
{
	const json_t *v = r->lib->get(of, key);

	if (!json_is_string(v))
		return refuse(r, where, "'%s' is no text", key);
	if ((size_t)snprintf(ret, size, "%s", r->lib->text(v)) >= size)
		return refuse(r, where, "'%s' is longer than %zu bytes", key, size - 1);
	text_clean(ret, size, ret);
	return 0;
}

static int take_number(struct reading *r, const json_t *of, const char *where, const char *key,
		       double most, double *ret)
{
	const json_t *v = r->lib->get(of, key);

	*ret = json_is_number(v) ? r->lib->number(v) : (double)NAN;
	if (!(*ret >= 0 && *ret <= most))
		return refuse(r, where, "'%s' is no number from 0 to %.0f", key, most);
	return 0;
}

static int take_better(struct reading *r, const char *where, const char *word,
		       enum bench_better *ret)
{
	for (int i = BENCH_FACT; i <= BENCH_LOWER; i++)
		if (strcmp(word, bench_figures_better((enum bench_better)i)) == 0) {
			*ret = (enum bench_better)i;
			return 0;
		}
	return refuse(r, where, "'better' is none of fact, higher and lower");
}

static int take_values(struct reading *r, const json_t *of, const char *where,
		       struct bench_suite_figure *f)
{
	const json_t *values = r->lib->get(of, "values");
	size_t n = r->lib->size(values);

	if (!json_is_array(values) || n > BENCH_STATS_MOST)
		return refuse(r, where, "'values' is no list of up to %d", BENCH_STATS_MOST);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = r->lib->at(values, i);
		if (json_is_null(v))
			continue;
		if (!json_is_number(v))
			return refuse(r, where, "'values' has a value that is no number");
		if (bench_suite_add(f, r->lib->number(v)) < 0)
			return error_enomem(r->err, "%s", r->name);
	}
	return 0;
}

static int take_figure(struct reading *r, const json_t *of, size_t i)
{
	char bench[BENCH_SUITE_WORD], name[BENCH_SUITE_WORD], metric[BENCH_SUITE_WORD],
		unit[BENCH_SUITE_WORD], better[BENCH_SUITE_WORD], where[32];
	size_t before = r->s->n;

	snprintf(where, sizeof(where), "figures[%zu]", i);
	if (!json_is_object(of))
		return refuse(r, where, "it is no object");
	int code = take_text(r, of, where, "bench", bench, sizeof(bench));
	if (code == 0)
		code = take_text(r, of, where, "case", name, sizeof(name));
	if (code == 0)
		code = take_text(r, of, where, "metric", metric, sizeof(metric));
	if (code == 0)
		code = take_text(r, of, where, "unit", unit, sizeof(unit));
	if (code == 0)
		code = take_text(r, of, where, "better", better, sizeof(better));
	if (code < 0)
		return code;
	struct bench_suite_figure *f = bench_suite_figure(r->s, bench, name, metric, unit);
	if (!f)
		return error_enomem(r->err, "%s", r->name);
	if (r->s->n == before)
		return refuse(r, where, "it is there twice");
	code = take_better(r, where, better, &f->better);
	return code < 0 ? code : take_values(r, of, where, f);
}

static int take_figures(struct reading *r, const json_t *root)
{
	const json_t *all = r->lib->get(root, "figures");
	size_t n = r->lib->size(all);
	int code = 0;

	if (!json_is_array(all) || n > FIGURES)
		return refuse(r, "figures", "it is no list of up to %d", FIGURES);
	for (size_t i = 0; code == 0 && i < n; i++)
		code = take_figure(r, r->lib->at(all, i), i);
	return code;
}

static int take_skipped(struct reading *r, const json_t *root)
{
	const json_t *all = r->lib->get(root, "skipped");
	size_t n = r->lib->size(all);
	int code = 0;

	if (!json_is_array(all) || n > FIGURES)
		return refuse(r, "skipped", "it is no list of up to %d", FIGURES);
	for (size_t i = 0; code == 0 && i < n; i++) {
		const json_t *one = r->lib->at(all, i);
		char bench[BENCH_SUITE_WORD], why[BENCH_SUITE_TEXT], where[32];
		snprintf(where, sizeof(where), "skipped[%zu]", i);
		code = take_text(r, one, where, "bench", bench, sizeof(bench));
		if (code == 0)
			code = take_text(r, one, where, "reason", why, sizeof(why));
		if (code == 0 && bench_suite_skip(r->s, bench, why) < 0)
			code = error_enomem(r->err, "%s", r->name);
	}
	return code;
}

static int take_head(struct reading *r, const json_t *root)
{
	struct bench_suite *s = r->s;
	double cpus = 0, runs = 0;
	char schema[BENCH_SUITE_WORD];
	const struct {
		const char *key;
		char *ret;
		size_t size;
	} texts[] = {
		{"schema", schema, sizeof(schema)},
		{"date", s->date, sizeof(s->date)},
		{"host", s->host, sizeof(s->host)},
		{"kernel", s->kernel, sizeof(s->kernel)},
		{"machine", s->machine, sizeof(s->machine)},
		{"version", s->version, sizeof(s->version)},
	};
	int code = json_is_object(root) ? 0 : refuse(r, "the whole", "it is no object");

	for (size_t i = 0; code == 0 && i < sizeof(texts) / sizeof(*texts); i++)
		code = take_text(r, root, "the whole", texts[i].key, texts[i].ret, texts[i].size);
	if (code == 0 && strcmp(schema, BENCH_SUITE_SCHEMA) != 0)
		code = refuse(r, "schema", "it is not " BENCH_SUITE_SCHEMA);
	if (code == 0)
		code = take_number(r, root, "the whole", "cpus", CPUS, &cpus);
	if (code == 0)
		code = take_number(r, root, "the whole", "runs", BENCH_STATS_MOST, &runs);
	s->cpus = code == 0 ? (uint32_t)cpus : 0;
	s->runs = code == 0 ? (uint32_t)runs : 0;
	return code;
}

int bench_suite_read(struct bench_suite *ret, const char *text, size_t len, const char *name,
		     struct error *err)
{
	struct library lib;
	struct reading r = {&lib, ret, name, err};
	json_error_t place;
	int code = library_load(&library, &lib, err);

	*ret = (struct bench_suite){0};
	if (code < 0)
		return code;
	json_t *root = lib.load(text, len, JSON_REJECT_DUPLICATES, &place);
	if (!root)
		return error_set(err, -EBADMSG, "%s:%d:%d: this is no JSON: %s", name, place.line,
				 place.column, place.text);
	code = take_head(&r, root);
	if (code == 0)
		code = take_figures(&r, root);
	if (code == 0)
		code = take_skipped(&r, root);
	/* json_decref() is inlined, and calls it by its name. */
	if (--root->refcount == 0)
		lib.free(root);
	if (code < 0)
		bench_suite_deinit(ret);
	return code;
}
