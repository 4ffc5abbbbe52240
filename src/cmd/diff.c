// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend diff`: two recordings are read, one after the other, into an engine each, and compared.
 */
#include "kontend/diff.h"
#include "kontend/tables.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>
#include <langinfo.h>
#include <string.h>

struct differ {
	struct measure_job job;
	struct opts o; /* the new recording as --input */
	const char *old;
	struct run run; /* of the old one */
	struct diff_spec spec;
	char filter[OPTS_FILTER];
};

enum { TEXT_ROWS = 20 };

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct differ *d, const struct opts *o, struct error *err)
{
	struct diff_spec *s = &d->spec;
	const char *format = o->format ? o->format : o->separator ? "csv" : "text";

	*s = (struct diff_spec){
		.query = {.by = BY_CALLER,
			  .sort = o->sort,
			  .reverse = o->reverse,
			  .filter = o->filter ? d->filter : NULL,
			  .limit = (size_t)o->rows},
		.csv_separator = cmd_separator(o),
		.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.width = cmd_width(o),
	};
	if (report_format_parse(format, &s->format) < 0)
		return error_set(err, -EINVAL, "--format '%s' is not known", format);
	if (o->by && query_by_parse(o->by, &s->query.by) < 0)
		return error_set(err, -EINVAL, "--by '%s' is not known", o->by);
	if (o->rows == OPTS_ROWS_DEFAULT)
		s->query.limit = s->format == REPORT_TEXT ? TEXT_ROWS : 0;
	return cmd_check_rows(o, tables_find("diff", strlen("diff")), d->filter, err);
}

static int read_old(struct measure_job *j, struct measure *m, struct error *err)
{
	struct differ *d = (struct differ *)j;

	return measure_read(m, &d->run, d->old, err);
}

static int write_diff(struct measure_job *j, struct measure *m, struct error *err)
{
	struct differ *d = (struct differ *)j;
	struct query a = {0}, b = {0};
	struct diff_side old = {d->old, &a}, new = {d->o.input, &b};
	int ret = query_init(&a, &d->run.engine);

	if (ret == 0)
		ret = query_init(&b, &m->run.engine);
	if (ret < 0) {
		error_errno(err, ret, "Cannot sum up what was measured");
	} else {
		query_begin(&a);
		query_begin(&b);
		ret = diff_write(&old, &new, &d->spec, m->output.file, err);
	}
	query_deinit(&a);
	query_deinit(&b);
	return ret;
}

int cmd_diff(const struct opts *o)
{
	struct differ d = {
		.job = {.begin = read_old, .finish = write_diff},
		.o = *o,
		.old = o->files[0] ? o->files[0] : "kontend.data.old",
	};
	struct error err = {0};
	int ret = make_spec(&d, o, &err);

	if (ret < 0)
		return cmd_fail(ret == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	d.o.input = o->files[1] ? o->files[1] : "kontend.data";
	int status = measure_run(&d.o, &d.job);
	run_close(&d.run, NULL);
	return status;
}
