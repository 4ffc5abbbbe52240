// SPDX-License-Identifier: GPL-2.0-only
/* `kontend merge`: adds up the tables of recordings by name. */
#include "fleet-input.h"
#include "verbs.h"

#include <errno.h>

struct merger {
	struct measure_job job;
	struct opts o; /* the first recording as --input */
	struct fleet *merge;
	struct fleet_spec spec;
	struct filter_options only;
	struct fleet_input gather;
};

enum { TEXT_ROWS = 10 };

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct merger *g, const struct opts *o, struct error *err)
{
	struct fleet_spec *s = &g->spec;

	if (o->by && fleet_by_parse(o->by, &s->by) < 0)
		return error_set(err, -EINVAL, "--by '%s' is not known", o->by);
	if (fleet_input_spec(s, o, TEXT_ROWS, &g->only, err) < 0)
		return -EINVAL;
	if (s->format == REPORT_CSV && s->tables & (s->tables - 1))
		return error_set(err, -EINVAL,
				 "CSV is of one table: give --tables one of '%s', or nothing for "
				 "that of %ss",
				 o->tables, fleet_by_name(s->by));
	return 0;
}

static int finish(struct measure_job *job, struct measure *m, struct error *err)
{
	struct merger *g = (struct merger *)job;
	struct fleet_given *given = &g->spec.given;
	int r = fleet_input_read(&g->gather, m, g->o.input, g->merge, given, err);

	for (const char *const *more = job->more; r == 0 && *more; more++)
		r = fleet_input_read(&g->gather, m, *more, g->merge, given, err);
	r = r < 0 ? r : fleet_input_say_clocks(&g->gather, given, err);
	m->no_data = r == 0 && fleet_input_say_no_data(&g->o, g->merge, g->spec.tables);
	g->spec.sandbox = &m->sandboxed.sandbox;
	return r < 0 ? r : fleet_report_write(g->merge, &g->spec, m->output.file, err);
}

static int run_merge(struct merger *g)
{
	int status = measure_run(&g->o, &g->job);
	bool is_done = status == CMD_EXIT_OK || status == CMD_EXIT_NO_DATA;

	return is_done && fleet_input_any_bad(&g->spec.given) ? CMD_EXIT_FAILURE : status;
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
	fleet_input_deinit(&g.gather);
	return status;
}
