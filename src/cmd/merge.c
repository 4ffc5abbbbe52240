// SPDX-License-Identifier: GPL-2.0-only
/* `kontend merge`: what the tables of recordings have is added up by name. */
#include "gather.h"
#include "kontend/codeset.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

struct merger {
	struct measure_job job;
	struct opts o; /* the first recording as --input */
	struct fleet *merge;
	struct fleet_spec spec;
	struct cmd_only only;
	struct gather gather;
};

enum { TEXT_ROWS = 10 };

static int parse_format(struct merger *g, const struct opts *o, struct error *err)
{
	struct fleet_spec *s = &g->spec;
	const char *format = o->format ? o->format : o->separator ? "csv" : "text";

	if (report_format_parse(format, &s->format) < 0)
		return error_set(err, -EINVAL, "--format '%s' is not known", format);
	if (o->tables && fleet_tables_parse(o->tables, &s->tables, err) < 0)
		return -EINVAL;
	if (s->format == REPORT_CSV && s->tables & (s->tables - 1))
		return error_set(err, -EINVAL,
				 "CSV is of one table: give --tables one of '%s', or nothing for "
				 "that of %ss",
				 o->tables, fleet_by_name(s->by));
	s->limit = o->rows == OPTS_ROWS_DEFAULT ? (s->format == REPORT_TEXT ? TEXT_ROWS : 0)
						: (size_t)o->rows;
	return 0;
}

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct merger *g, const struct opts *o, struct error *err)
{
	g->spec = (struct fleet_spec){
		.csv_separator = cmd_separator(o),
		.ascii = !codeset_is_utf8(),
		.width = cmd_width(o),
	};
	if (o->by && fleet_by_parse(o->by, &g->spec.by) < 0)
		return error_set(err, -EINVAL, "--by '%s' is not known", o->by);
	if (parse_format(g, o, err) < 0 || cmd_only(o, &g->only, err) < 0)
		return -EINVAL;
	g->spec.only = g->only.words;
	return 0;
}

static int finish(struct measure_job *job, struct measure *m, struct error *err)
{
	struct merger *g = (struct merger *)job;
	struct fleet_given *given = &g->spec.given;
	int r = gather_read(&g->gather, m, g->o.input, g->merge, given, err);

	for (const char *const *more = job->more; r == 0 && *more; more++)
		r = gather_read(&g->gather, m, *more, g->merge, given, err);
	r = r < 0 ? r : gather_say_clocks(&g->gather, given, err);
	g->spec.sandbox = &m->caged.sandbox;
	return r < 0 ? r : fleet_report_write(g->merge, &g->spec, m->output.file, err);
}

static int run_merge(struct merger *g)
{
	int status = measure_run(&g->o, &g->job);

	return status == CMD_EXIT_OK && gather_any_bad(&g->spec.given) ? CMD_EXIT_FAILURE : status;
}

int cmd_merge(const struct opts *o)
{
	struct merger g = {.job = {.finish = finish, .many = true}, .o = *o};
	struct error err = {0};
	int status;

	g.job.more = g.o.more;
	g.gather.o = &g.o;
	g.gather.only = &g.only;
	if (make_spec(&g, o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	g.merge = fleet_new(g.spec.by, g.spec.tables);
	if (!g.merge)
		status = cmd_fail(CMD_EXIT_FAILURE,
				  &(struct error){.text = "Cannot merge: out of memory"});
	else
		status = run_merge(&g);
	fleet_free(g.merge);
	gather_deinit(&g.gather);
	return status;
}
