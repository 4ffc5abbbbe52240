// SPDX-License-Identifier: GPL-2.0-only
/* `kontend diff OLD... -- NEW...`: two groups of recordings, each as one, are compared by name. */
#include "diff-groups.h"
#include "fleet-input.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

enum { BEFORE, AFTER, SIDES, TEXT_ROWS = 20 };

struct groups {
	struct measure_job job;
	struct opts o; /* the first recording as --input */
	struct fleet_input gather;
	struct filter_options only;
	struct fleet_side sides[SIDES];
	struct fleet *fleets[SIDES];
	struct fleet_spec spec;
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
static int make_spec(struct groups *g, const struct opts *o, struct error *err)
{
	struct fleet_spec *s = &g->spec;

	s->by = FLEET_BY_RECORDING;
	if (fleet_input_spec(s, o, TEXT_ROWS, &g->only, err) < 0)
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

static int finish(struct measure_job *job, struct measure *m, struct error *err)
{
	struct groups *g = (struct groups *)job;
	int r = 0;

	for (size_t i = 0; r == 0 && g->o.more[i]; i++) {
		int side = i < g->o.n_before ? BEFORE : AFTER;
		r = fleet_input_read(&g->gather, m, g->o.more[i], g->fleets[side],
				     &g->sides[side].given, err);
	}
	for (int side = 0; r == 0 && side < SIDES; side++)
		if (!fleet_sum(g->fleets[side])->recordings)
			r = error_set(err, -ENODATA,
				      "None of the recordings %s can be compared: see the "
				      "messages above",
				      side == BEFORE ? "before '--'" : "after '--'");
	g->spec.sandbox = &m->sandboxed.sandbox;
	return r < 0 ? r
		     : fleet_report_diff(&g->sides[BEFORE], &g->sides[AFTER], &g->spec,
					 m->output.file, err);
}

static int run(struct groups *g)
{
	int status = measure_run(&g->o, &g->job);

	for (int side = 0; side < SIDES; side++)
		if (status == CMD_EXIT_OK && fleet_input_any_bad(&g->sides[side].given))
			status = CMD_EXIT_FAILURE;
	return status;
}

int cmd_diff_groups(const struct opts *o)
{
	struct groups g = {.job = {.finish = finish, .many = true}, .o = *o};
	struct error err = {0};
	int status;

	if (make_spec(&g, o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	g.o.input = g.o.more[0];
	g.job.more = g.o.more + 1;
	g.gather.o = &g.o;
	g.gather.only = &g.only;
	for (int side = 0; side < SIDES; side++)
		g.sides[side].m = g.fleets[side] = fleet_new(FLEET_BY_RECORDING, g.spec.tables);
	if (!g.fleets[BEFORE] || !g.fleets[AFTER])
		status = cmd_fail(CMD_EXIT_FAILURE,
				  &(struct error){.text = "Cannot compare: out of memory"});
	else
		status = run(&g);
	for (int side = 0; side < SIDES; side++)
		fleet_free(g.fleets[side]);
	fleet_input_deinit(&g.gather);
	return status;
}
