// SPDX-License-Identifier: GPL-2.0-only
/*
 * --time for verbs without a screen. A range is relative to the begin and end of a recording. The
 * begin is known when its first event comes, which is early enough. The end is in the head of a
 * finished file of kontend. Heads of others may be copied from another recording: such a file is
 * walked through where its end is needed, without looking at its events. The end of a measurement,
 * or of a pipe, is known when it is too late: forms that need it are refused there.
 */
#include "kontend/time-range.h"
#include "kontend/reader.h"
#include "kontend/when.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP_RECORDS = 1024, WAIT_MS = 100 };

static struct when when_of(const struct time_range *r, uint64_t begin_ns)
{
	const struct record_host *h = r->engine->model->host;

	return (struct when){.begin_ns = begin_ns,
			     .end_ns = r->end_ns > begin_ns ? r->end_ns : WHEN_UNKNOWN,
			     .now_ns = begin_ns,
			     .clock_ns = h->clock_ns,
			     .wall_ns = h->wall_ns};
}

static int parse_text(const char *text, uint64_t length_ns, const struct when *w,
		      uint64_t *ret_from, uint64_t *ret_to, struct error *err)
{
	if (!length_ns)
		return when_parse_range(text, w, ret_from, ret_to, err);
	int r = when_parse(text, w, ret_to, err);
	if (r < 0)
		return r;
	if (*ret_to <= w->begin_ns)
		return error_set(err, -EINVAL,
				 "'%s' is the beginning: there is nothing before it to compare",
				 text);
	*ret_from = *ret_to - w->begin_ns > length_ns ? *ret_to - length_ns : w->begin_ns;
	return 0;
}

static int parse(struct time_range *r, const struct when *w, uint64_t *ret_from, uint64_t *ret_to,
		 struct error *err)
{
	struct error local = {0};
	int e = parse_text(r->text, r->length_ns, w, ret_from, ret_to, &local);

	if (e == 0)
		return 0;
	r->is_bad = true;
	const char *option = r->length_ns ? "--compare" : "--time";
	return r->path ? error_set(err, e, "%s of %s: %s", option,
				   strcmp(r->path, "-") ? r->path : "standard input", local.text)
		       : error_set(err, e, "%s: %s", option, local.text);
}

static int find_begin(struct engine_range *range, uint64_t begin_ns, struct error *err)
{
	struct time_range *r = (struct time_range *)range;
	struct when w = when_of(r, begin_ns);
	size_t len = strlen(r->text);
	int e = parse(r, &w, &range->from_ns, &range->to_ns, err);

	/* An end that was not said is where the stream ends, whatever its head says. */
	if (e == 0 && r->text[len - 1] == ',')
		range->to_ns = UINT64_MAX;
	return e;
}

/* Rounds and ticks say how far the stream has come; the last one is at its end. */
static void note_time(const struct record *rec, uint64_t *end_ns)
{
	uint64_t time;

	if ((rec->kind != RECORD_ROUND && rec->kind != RECORD_TICK) || rec->len != sizeof(time))
		return;
	memcpy(&time, rec->data, sizeof(time));
	if (time > *end_ns)
		*end_ns = time;
}

static int walk(struct source *s, uint64_t *end_ns, bool (*stop)(void *ctx), void *ctx,
		struct error *err)
{
	struct record rec;
	unsigned n = 0;
	int e = 0;

	while (e != SOURCE_END) {
		if (n++ % STEP_RECORDS == 0 && stop(ctx))
			return -EINTR;
		e = source_next(s, WAIT_MS, &rec, err);
		if (e < 0)
			return e;
		if (e)
			continue;
		note_time(&rec, end_ns);
		source_release(s, &rec);
	}
	return 0;
}

/* Finds the end of a regular file without one in its head. */
static int find_end(struct time_range *r, bool (*stop)(void *ctx), void *ctx, struct error *err)
{
	struct reader_options o = r->reader;
	struct source *s;
	struct stat st;
	uint64_t end_ns = 0;

	o.no_symbols = true;
	if (!strcmp(r->path, "-") || stat(r->path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	int e = reader_new(&s, &o, err);
	if (e < 0)
		return e;
	e = walk(s, &end_ns, stop, ctx, err);
	source_free(s);
	r->end_ns = end_ns;
	return e;
}

/* Is anything in it said by the end? Times of day may be: where they are is not known yet. */
static bool needs_end(const char *text, uint64_t length_ns)
{
	const struct when w = {.begin_ns = 1, .end_ns = WHEN_UNKNOWN, .now_ns = 1};
	struct error local = {0};
	uint64_t from, to;

	return parse_text(text, length_ns, &w, &from, &to, &local) < 0;
}

int time_range_set(struct time_range *r, struct engine *e, const char *text, uint64_t length_ns,
		   const struct reader_options *how, bool (*stop)(void *ctx), void *ctx,
		   struct error *err)
{
	struct reader_stat st;
	uint64_t first;

	*r = (struct time_range){.range = {.find = find_begin},
				 .engine = e,
				 .text = text,
				 .length_ns = length_ns,
				 .reader = *how,
				 .path = how->path,
				 .end_ns = WHEN_UNKNOWN};
	e->range = &r->range;
	if (!how->path)
		return 0;
	reader_stat(e->source, &st);
	if (st.by_kontend && source_span(e->source, &first, &r->end_ns))
		return 0;
	return needs_end(text, length_ns) ? find_end(r, stop, ctx, err) : 0;
}

int time_range_check(struct time_range *r, struct error *err)
{
	const struct model *m = r->engine->model;
	uint64_t from, to;

	if (r->range.state >= ENGINE_RANGE_WITHIN)
		return 0;
	r->end_ns = m->now_ns;
	struct when w = when_of(r, m->start_ns);
	return parse(r, &w, &from, &to, err);
}
