// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend diff`: reads two recordings, one after the other, into an engine each, and compares
 * them.
 */
#include "kontend/diff.h"
#include "diff-groups.h"
#include "kontend/codeset.h"
#include "kontend/filter-options.h"
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
	struct diff_spec spec;
	char filter[OPTS_FILTER];
	struct filter_options only;
};

enum { TEXT_ROWS = 20 };

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

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct differ *d, const struct opts *o, struct error *err)
{
	struct diff_spec *s = &d->spec;
	const char *format = o->format ? o->format : o->separator ? "csv" : "text";

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
	if (filter_options(o, &d->only, err) < 0)
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

	if (!d->length_ns)
		return measure_read(m, &d->run, d->old, err);
	m->range_ns = d->length_ns;
	d->o.time = d->moments[0];
	int r = measure_read(m, &d->run, d->old, err);
	d->o.time = d->moments[1];
	return r;
}

static int write_diff(struct measure_job *j, struct measure *m, struct error *err)
{
	struct differ *d = (struct differ *)j;
	struct query a = {0}, b = {0};
	const bool moments = d->spec.moments;
	struct diff_side old = {d->old, moments ? d->moments[0] : NULL, &a};
	struct diff_side new = {d->o.input, moments ? d->moments[1] : NULL, &b};
	int ret = query_init(&a, &d->run.engine);

	if (ret == 0)
		ret = query_init(&b, &m->run.engine);
	if (ret < 0) {
		error_errno(err, ret, "Cannot sum up the measurement");
	} else {
		query_begin(&a);
		query_begin(&b);
		ret = wait_filter_set(&a, d->only.filter, err);
		if (ret == 0)
			ret = wait_filter_set(&b, d->only.filter, err);
		if (ret == 0)
			ret = diff_write(&old, &new, &d->spec, m->output.file, err);
	}
	query_deinit(&a);
	query_deinit(&b);
	return ret;
}

int cmd_diff(const struct opts *o)
{
	if (o->two_groups)
		return cmd_diff_groups(o);

	struct differ d = {
		.job = {.begin = read_old, .finish = write_diff},
		.o = *o,
		.old = o->more[0] ? o->more[0] : "kontend.data.old",
	};
	struct error err = {0};
	int ret = make_spec(&d, o, &err);

	if (ret < 0)
		return cmd_fail(ret == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	d.o.input = o->more[0] && o->more[1] ? o->more[1] : "kontend.data";
	if (o->compare)
		d.old = d.o.input = o->more[0] ? o->more[0] : "kontend.data";
	d.job.also = d.old;
	int status = measure_run(&d.o, &d.job);
	run_close(&d.run, NULL);
	return status;
}
