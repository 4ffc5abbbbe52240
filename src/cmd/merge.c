// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend merge`: recordings are read one after the other, each into an engine of its own, and
 * what its tables have is added up by name. So there is never more than one recording in memory,
 * and the cage, which is entered before the first byte of the first one, is around all of them. One
 * that cannot be read, or has what another one has, is named and left out: the others are done.
 */
#include "kontend/codeset.h"
#include "kontend/fleet-report.h"
#include "kontend/mem.h"
#include "kontend/query-only.h"
#include "kontend/reader.h"
#include "kontend/sort.h"
#include "kontend/when.h"
#include "measure.h"
#include "only.h"
#include "spans.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_NS 86400000000000ull

/* When a recording began, by its own clock. */
struct began {
	const char *path;
	uint64_t wall_ns;
};

struct merger {
	struct measure_job job;
	struct opts o; /* the first recording as --input */
	struct fleet *merge;
	struct fleet_spec spec;
	struct cmd_only only;
	struct spans spans;
	struct began *began;
	size_t n_began, cap_began;
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

static void say_fault(struct merger *g, enum fleet_fault fault, const char *path, const char *what)
{
	g->spec.faults[fault]++;
	cmd_say_as(&g->o, JOURNAL_ERROR, "%s: %s", path, what);
}

/* Damage that a recording was added with. */
static void say_damage(struct merger *g, const struct run *run, const char *path)
{
	struct reader_stat stat = {0};
	const struct model_damage *d = &run->engine.model.damage;

	if (run->from_file)
		reader_stat(run->source, &stat);
	if (stat.is_cut || stat.bad_records)
		say_fault(g, FLEET_CUT_OFF, path,
			  "it ends early or is damaged: what could be read is added");
	if (d->snapshot_unknown || stat.unknown_records)
		say_fault(g, FLEET_VERSION, path,
			  "another version recorded it, of which " KONTEND_VERSION
			  " does not understand all: what it understands is added");
}

/* @other: what it may overlap with; NULL: nothing. */
static void say_doubt(struct merger *g, const char *other, const char *path)
{
	char what[600];

	if (!other)
		return;
	snprintf(what, sizeof(what), SPANS_MAY_OVERLAP "it is added all the same", other);
	say_fault(g, FLEET_MAY_OVERLAP, path, what);
}

static int add(struct merger *g, struct query *q, struct error *err)
{
	query_begin(q);
	int r = query_only_set(q, g->only.filter, err);

	return r < 0 ? r : fleet_take(g->merge, q, err);
}

static int note_began(struct merger *g, const struct model *m, const char *path, struct error *err)
{
	const struct when w = {.clock_ns = m->host.clock_ns, .wall_ns = m->host.wall_ns};
	uint64_t wall_ns = when_wall_ns(&w, m->start_ns);

	if (!wall_ns)
		return 0;
	if (mem_grow(&g->began, &g->cap_began, g->n_began, sizeof(*g->began)) < 0)
		return error_errno(err, -ENOMEM, "Cannot keep when recordings began");
	g->began[g->n_began++] = (struct began){path, wall_ns};
	return 0;
}

/* One that was read whole. */
static int take(struct merger *g, struct run *run, const char *path, struct error *err)
{
	struct query q = {0};
	const struct span *twin;
	const char *doubt;
	char what[600];
	int r = query_init(&q, &run->engine);

	if (r < 0)
		return error_errno(err, r, "Cannot sum up what was measured");
	doubt = spans_may_overlap(&g->spans, &q);
	r = spans_add(&g->spans, &q, path, &twin, err);
	if (r == 0 && twin) {
		snprintf(what, sizeof(what),
			 "%s is of the same machine and in part of the same time: it is left out",
			 twin->path);
		say_fault(g, FLEET_OVERLAP, path, what);
	} else if (r == 0) {
		say_damage(g, run, path);
		say_doubt(g, doubt, path);
		r = note_began(g, &run->engine.model, path, err);
		r = r < 0 ? r : add(g, &q, err);
	}
	query_deinit(&q);
	return r;
}

static int read_one(struct merger *g, struct measure *m, const char *path, struct error *err)
{
	struct run run = {.groups = g->o.groups, .keep_symbols = !g->o.no_symbol_cache};
	struct error local = {0};
	int r = measure_read(m, &run, path, &local);

	g->spec.given++;
	if (r == 0) {
		r = take(g, &run, path, err);
	} else if (r != -EINTR) {
		/* The others may be whole. */
		g->spec.faults[FLEET_NOT_READ]++;
		cmd_fail(CMD_EXIT_FAILURE, &local);
		r = 0;
	}
	run_close(&run, &local);
	return r;
}

static int before(const void *a, const void *b)
{
	return ((const struct began *)a)->wall_ns < ((const struct began *)b)->wall_ns;
}

/* Against the one in the middle, so that a few wrong ones do not make the others wrong. */
static int say_clocks(struct merger *g, struct error *err)
{
	struct began *room = mem_calloc(g->n_began + 1, sizeof(*room));

	if (!room)
		return error_errno(err, -ENOMEM, "Cannot compare when recordings began");
	sort_merge(g->began, room, g->n_began, sizeof(*room), before);
	mem_free(room);
	for (size_t i = 0; i < g->n_began; i++) {
		uint64_t a = g->began[i].wall_ns, b = g->began[g->n_began / 2].wall_ns;
		uint64_t days = (a > b ? a - b : b - a) / DAY_NS;
		char what[200];

		if (!days)
			continue;
		snprintf(
			what, sizeof(what),
			"by its clock it began %llu day%s %s most others: it is added all the same",
			(unsigned long long)days, days > 1 ? "s" : "", a > b ? "after" : "before");
		say_fault(g, FLEET_CLOCK, g->began[i].path, what);
	}
	return 0;
}

static int finish(struct measure_job *job, struct measure *m, struct error *err)
{
	struct merger *g = (struct merger *)job;
	int r = read_one(g, m, g->o.input, err);

	for (const char *const *more = job->more; r == 0 && *more; more++)
		r = read_one(g, m, *more, err);
	r = r < 0 ? r : say_clocks(g, err);
	g->spec.sandbox = &m->caged.sandbox;
	return r < 0 ? r : fleet_report_write(g->merge, &g->spec, m->output.file, err);
}

static int run_merge(struct merger *g)
{
	int status = measure_run(&g->o, &g->job);
	bool any_bad = false;

	for (int i = 0; i < FLEET_DOUBTS; i++)
		any_bad |= g->spec.faults[i] != 0;
	return status == CMD_EXIT_OK && any_bad ? CMD_EXIT_FAILURE : status;
}

int cmd_merge(const struct opts *o)
{
	struct merger g = {.job = {.finish = finish, .many = true}, .o = *o};
	struct error err = {0};
	int status;

	g.job.more = g.o.more;
	if (make_spec(&g, o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	g.merge = fleet_new(g.spec.by, g.spec.tables);
	if (!g.merge)
		status = cmd_fail(CMD_EXIT_FAILURE,
				  &(struct error){.text = "Cannot merge: out of memory"});
	else
		status = run_merge(&g);
	fleet_free(g.merge);
	spans_deinit(&g.spans);
	mem_free(g.began);
	return status;
}
