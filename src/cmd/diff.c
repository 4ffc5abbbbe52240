// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend diff`: reads two recordings, one after the other, into an engine each, and compares
 * them. Two groups of recordings are added up by src/fleet and compared by name.
 */
#include "kontend/diff.h"
#include "diff-chains.h"
#include "fleet-input.h"
#include "kontend/codeset.h"
#include "kontend/filter-options.h"
#include "kontend/query-no-locks.h"
#include "kontend/tables.h"
#include "kontend/units.h"
#include "kontend/wait-filter.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct differ {
	struct measure_job job;
	struct opts o; /* the new recording as --input */
	const char *old;
	/* --compare: where the parts of the one recording end, how long they are. */
	char moments[2][OPTS_FILTER];
	uint64_t length_ns; /* 0: two recordings */
	struct run run;	    /* of the old one */
	char sides[2][sizeof((struct filter_options){0}.filter) + OPTS_FILTER +
		      8]; /* --side: filters, with that of all waits */
	struct diff_spec spec;
	char filter[OPTS_FILTER];
	struct filter_options only;
	struct diff_chains chains;
	char names[2][OPTS_FILTER]; /* of both sides, in pictures */
};

enum { TEXT_ROWS = 20 };
static const char default_old[] = "kontend.data.old", default_new[] = "kontend.data";

static const char *const no_moments = "--compare wants two times, like 0:12,0:50, and perhaps how "
				      "long the parts that end there are: 0:12,0:50,1m";

static int parse_moments(struct differ *d, const struct opts *o, struct error *err)
{
	const char *b = strchr(o->compare, ','), *length = b ? strchr(b + 1, ',') : NULL;
	size_t len_b = length ? (size_t)(length - b - 1) : b ? strlen(b + 1) : 0;

	if (o->time)
		return error_set(err, -EINVAL, "--compare names the times: leave out --time");
	if (o->more[0] && o->more[1])
		return error_set(err, -EINVAL,
				 "--compare is about two times of one recording: give one FILE");
	if (o->more[0] && !strcmp(o->more[0], "-"))
		return error_set(err, -EINVAL,
				 "--compare reads the recording twice: give a file, not '-'");
	d->length_ns = 10000000000ull;
	if (!b || b == o->compare || !len_b || strlen(o->compare) >= sizeof(d->moments[0]) ||
	    (length && (units_parse_ns(length + 1, &d->length_ns) < 0 || !d->length_ns)))
		return error_set(err, -EINVAL, "%s", no_moments);
	snprintf(d->moments[0], sizeof(d->moments[0]), "%.*s", (int)(b - o->compare), o->compare);
	snprintf(d->moments[1], sizeof(d->moments[1]), "%.*s", (int)len_b, b + 1);
	return 0;
}

/* Parts of the waits that other options select. */
static int make_sides(struct differ *d, const struct opts *o, struct error *err)
{
	char filter[OPTS_FILTER];

	for (int i = 0; o->sides[0] && i < 2; i++) {
		if (opts_filter(o->sides[i], filter, sizeof(filter), err) < 0 ||
		    wait_filter_check(filter, err) < 0)
			return -EINVAL;
		snprintf(d->sides[i], sizeof(d->sides[i]), "%s (%s)", d->only.filter, filter);
	}
	return 0;
}

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct differ *d, const struct opts *o, struct error *err)
{
	struct diff_spec *s = &d->spec;
	const char *format = o->format && !diff_chains_alone(o) ? o->format
			     : o->separator			? "csv"
								: "text";

	if (diff_chains_begin(&d->chains, o, err) < 0)
		return -EINVAL;
	*s = (struct diff_spec){
		.moments = o->compare != NULL,
		.query = {.by = o->compare ? BY_LOCK : BY_CALLER,
			  .sort = o->sort,
			  .reverse = o->reverse,
			  .filter = o->filter ? d->filter : NULL,
			  .limit = (size_t)o->rows},
		.csv_separator = cmd_separator(o),
		.ascii = !codeset_is_utf8(),
		.width = cmd_width(o),
	};
	if (report_format_parse(format, &s->format) < 0)
		return error_set(err, -EINVAL, "--format '%s' is not known", format);
	if (o->by && query_by_parse(o->by, &s->query.by) < 0)
		return error_set(err, -EINVAL, "--by '%s' is not known", o->by);
	if (o->rows == OPTS_ROWS_DEFAULT)
		s->query.limit = s->format == REPORT_TEXT ? TEXT_ROWS : 0;
	if (filter_options(o, &d->only, err) < 0 || make_sides(d, o, err) < 0)
		return -EINVAL;
	s->fields = o->fields;
	s->only = d->only.words;
	if (o->compare && parse_moments(d, o, err) < 0)
		return -EINVAL;
	const char *table = o->compare ? "compare" : "diff";
	return cmd_check_rows(o, tables_find(table, strlen(table)), d->filter, err);
}

static int read_old(struct measure_job *j, struct measure *m, struct error *err)
{
	struct differ *d = (struct differ *)j;

	if (d->o.sides[0])
		return 0;
	if (!d->length_ns)
		return measure_read(m, &d->run, d->old, err);
	m->range_ns = d->length_ns;
	d->o.time = d->moments[0];
	int r = measure_read(m, &d->run, d->old, err);
	d->o.time = d->moments[1];
	return r;
}

/* There are no waits to compare: the rows, if the other side has some, would mislead. */
static void say_no_locks(struct measure *m, const struct diff_side *d)
{
	const char *text = query_no_locks(d->q);
	bool hot = query_no_locks_but_profile(d->q) && !d->at;

	if (!d->q->model->no_locks)
		return;
	m->no_data = true;
	cmd_say(m->o, "%s: %s; no waits can be compared%s", d->file, text ? text : "no lock events",
		hot ? ": --tables hot compares profiles" : "");
}

static const char *name_of(const struct diff_side *s)
{
	return s->only ? s->only : s->at ? s->at : s->file;
}

static int write_sides(struct differ *d, const struct diff_side *old, const struct diff_side *new,
		       struct measure *m, struct error *err)
{
	const struct diff_side *const sides[FLAME_SIDES] = {old, new};
	int ret = 0;

	if (!d->chains.sum)
		return diff_write(old, new, &d->spec, m->output.file, err);
	for (int i = 0; ret == 0 && i < FLAME_SIDES; i++) {
		d->chains.side = (enum flame_side)i;
		snprintf(d->names[i], sizeof(d->names[i]), "%s%s", sides[i]->at ? "up to " : "",
			 name_of(sides[i]));
		d->chains.name[i] = d->names[i];
		ret = diff_chains_add(&d->chains, sides[i]->q, err);
	}
	if (ret < 0 || !d->chains.json)
		return ret < 0 ? ret : diff_chains_write(&d->chains, m->output.file, err);
	ret = diff_chains_get(&d->chains, err);
	d->spec.chains = &d->chains.both;
	return ret < 0 ? ret : diff_write(old, new, &d->spec, m->output.file, err);
}

static int write_diff(struct measure_job *j, struct measure *m, struct error *err)
{
	struct differ *d = (struct differ *)j;
	struct query a = {0}, b = {0};
	const bool moments = d->spec.moments, parts = d->o.sides[0];
	struct diff_side old = {d->old, moments ? d->moments[0] : NULL, d->o.sides[0], &a};
	struct diff_side new = {d->o.input, moments ? d->moments[1] : NULL, d->o.sides[1], &b};
	int ret = query_init(&a, parts ? &m->run.engine : &d->run.engine);

	if (ret == 0)
		ret = query_init(&b, &m->run.engine);
	if (ret < 0) {
		error_errno(err, ret, "Cannot sum up the measurement");
	} else {
		query_begin(&a);
		query_begin(&b);
		ret = wait_filter_set(&a, parts ? d->sides[0] : d->only.filter, err);
		if (ret == 0)
			ret = wait_filter_set(&b, parts ? d->sides[1] : d->only.filter, err);
		if (ret == 0)
			ret = write_sides(d, &old, &new, m, err);
		/* Samples need none. */
		bool waits = !d->chains.sum || d->chains.by_wait;
		if (waits && (ret == 0 || ret == -ENODATA)) {
			say_no_locks(m, &old);
			if (!moments && !parts)
				say_no_locks(m, &new);
		}
	}
	query_deinit(&a);
	query_deinit(&b);
	return ret;
}

/* `kontend diff OLD... -- NEW...`: two groups of recordings, each added up; with --tables also two
 * recordings. */
enum { BEFORE, AFTER, SIDES };

struct groups {
	struct measure_job job;
	struct opts o; /* the first recording as --input */
	struct fleet_input gather;
	struct filter_options only;
	struct fleet_side sides[SIDES];
	struct fleet *fleets[SIDES];
	struct fleet_spec spec;
	struct diff_chains chains;
};

/* The dimension of rows is a table here. */
static int table_by(const char *by, unsigned *ret, struct error *err)
{
	static const struct {
		const char *by, *table;
	} tables[] = {
		{"lock", "locks"}, {"caller", "callers"}, {"type", "types"}, {"task", "tasks"}};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(by, tables[i].by) == 0)
			return fleet_tables_parse(tables[i].table, ret, err);
	return error_set(err, -EINVAL,
			 "--by %s is about two recordings; two groups are compared by lock, "
			 "caller, type or task",
			 by);
}

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_groups_spec(struct groups *g, const struct opts *o, struct error *err)
{
	struct fleet_spec *s = &g->spec;

	s->by = FLEET_BY_RECORDING;
	if (diff_chains_begin(&g->chains, o, err) < 0)
		return -EINVAL;
	if (g->chains.sum && !g->chains.json)
		g->o.format = NULL;
	if (fleet_input_spec(s, &g->o, TEXT_ROWS, &g->only, err) < 0)
		return -EINVAL;
	if (o->by && table_by(o->by, &s->tables, err) < 0)
		return -EINVAL;
	if (s->format == REPORT_CSV && !s->tables)
		s->tables = 1u << FLEET_LOCKS;
	if (s->format == REPORT_CSV && s->tables & (s->tables - 1))
		return error_set(err, -EINVAL, "CSV is of one table: give --tables one of '%s'",
				 o->tables);
	return 0;
}

static int finish_groups(struct measure_job *job, struct measure *m, struct error *err)
{
	struct groups *g = (struct groups *)job;
	int r = 0;

	for (size_t i = 0; r == 0 && g->o.more[i]; i++) {
		int side = i < g->o.n_before ? BEFORE : AFTER;
		g->chains.side = side == BEFORE ? FLAME_A : FLAME_B;
		r = fleet_input_read(&g->gather, m, g->o.more[i], g->fleets[side],
				     &g->sides[side].given, err);
	}
	for (int side = 0; r == 0 && side < SIDES; side++)
		if (!fleet_sum(g->fleets[side])->recordings)
			r = error_set(err, -ENODATA,
				      "None of the recordings %s can be compared: see the "
				      "messages above",
				      side == BEFORE ? "before '--'" : "after '--'");
	for (int side = 0; r == 0 && side < SIDES; side++)
		m->no_data |= fleet_input_say_no_data(&g->o, g->fleets[side], g->spec.tables);
	g->spec.sandbox = &m->sandboxed.sandbox;
	if (r == 0 && g->chains.sum && !g->chains.json)
		return diff_chains_write(&g->chains, m->output.file, err);
	if (r == 0 && g->chains.json)
		r = diff_chains_get(&g->chains, err);
	g->spec.chains = g->chains.json ? &g->chains.both : NULL;
	return r < 0 ? r
		     : fleet_report_diff(&g->sides[BEFORE], &g->sides[AFTER], &g->spec,
					 m->output.file, err);
}

static int run_groups(struct groups *g)
{
	int status = measure_run(&g->o, &g->job);
	bool is_done = status == CMD_EXIT_OK || status == CMD_EXIT_NO_DATA;

	for (int side = 0; side < SIDES; side++)
		if (is_done && fleet_input_any_bad(&g->sides[side].given))
			status = CMD_EXIT_FAILURE;
	return status;
}

/* One recording each. */
static void take_two(struct opts *o)
{
	o->n_before = 1;
	if (o->more[0])
		return;
	o->more[0] = default_old;
	o->more[1] = default_new;
}

static int diff_groups(const struct opts *o)
{
	struct groups g = {.job = {.finish = finish_groups, .many = true}, .o = *o};
	struct error err = {0};
	int status;

	if (make_groups_spec(&g, o, &err) < 0) {
		diff_chains_end(&g.chains);
		return cmd_fail(CMD_EXIT_USAGE, &err);
	}
	if (!o->two_groups)
		take_two(&g.o);
	g.o.input = g.o.more[0];
	g.job.more = g.o.more + 1;
	g.gather.o = &g.o;
	g.gather.only = &g.only;
	g.gather.also = g.chains.sum ? diff_chains_add : NULL;
	g.gather.also_ctx = &g.chains;
	for (int side = 0; side < SIDES; side++)
		g.sides[side].m = g.fleets[side] = fleet_new(FLEET_BY_RECORDING, g.spec.tables);
	if (!g.fleets[BEFORE] || !g.fleets[AFTER])
		status = cmd_fail(CMD_EXIT_FAILURE,
				  &(struct error){.text = "Cannot compare: out of memory"});
	else
		status = run_groups(&g);
	for (int side = 0; side < SIDES; side++)
		fleet_free(g.fleets[side]);
	fleet_input_deinit(&g.gather);
	diff_chains_end(&g.chains);
	return status;
}

int cmd_diff(const struct opts *o)
{
	if (o->two_groups || o->tables)
		return diff_groups(o);

	struct differ d = {
		.job = {.begin = read_old, .finish = write_diff},
		.o = *o,
		.old = o->more[0] ? o->more[0] : default_old,
	};
	struct error err = {0};
	int ret = make_spec(&d, o, &err);

	if (ret < 0) {
		diff_chains_end(&d.chains);
		return cmd_fail(ret == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	}
	d.o.input = o->more[0] && o->more[1] ? o->more[1] : default_new;
	if (o->compare || o->sides[0])
		d.old = d.o.input = o->more[0] ? o->more[0] : default_new;
	d.job.also = d.old;
	int status = measure_run(&d.o, &d.job);
	run_close(&d.run, NULL);
	diff_chains_end(&d.chains);
	return status;
}
