// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the recordings of merge and diff. Each fault of a recording is one message, and counted by
 * its kind.
 */
#include "fleet-input.h"
#include "kontend/codeset.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/sort.h"
#include "kontend/wait-filter.h"
#include "kontend/when.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_NS 86400000000000ull

int fleet_input_spec(struct fleet_spec *s, const struct opts *o, size_t text_rows,
		     struct filter_options *ret_only, struct error *err)
{
	const char *format = o->format ? o->format : o->separator ? "csv" : "text";

	s->csv_separator = cmd_separator(o);
	s->ascii = !codeset_is_utf8();
	s->width = cmd_width(o);
	if (report_format_parse(format, &s->format) < 0)
		return error_set(err, -EINVAL, "--format '%s' is not known", format);
	if (o->tables && fleet_tables_parse(o->tables, &s->tables, err) < 0)
		return -EINVAL;
	s->limit = o->rows == OPTS_ROWS_DEFAULT ? (s->format == REPORT_TEXT ? text_rows : 0)
						: (size_t)o->rows;
	if (filter_options(o, ret_only, err) < 0)
		return -EINVAL;
	s->only = ret_only->words;
	return 0;
}

/* The recording being read, and where it goes. */
struct one {
	struct fleet_input *g;
	const char *path;
	struct fleet *to;
	struct fleet_given *given;
};

static void say_fault(const struct one *o, enum fleet_fault fault, const char *what)
{
	o->given->faults[fault]++;
	cmd_say_as(o->g->o, JOURNAL_ERROR, "%s: %s", o->path, what);
}

/* Damage that a recording was added with. */
static void say_damage(const struct one *o, const struct run *run)
{
	struct reader_stat stat = {0};
	const struct model_damage *d = run->engine.model->damage;

	if (run->from_file)
		reader_stat(run->source, &stat);
	if (stat.is_cut || stat.bad_records || d->bad)
		say_fault(o, FLEET_CUT_OFF,
			  "it ends early or is damaged: what could be read is added");
	if (d->snapshot_unknown || stat.unknown_records)
		say_fault(o, FLEET_VERSION,
			  "another version recorded it, of which " KONTEND_VERSION
			  " does not understand all: what it understands is added");
}

/* @other: what it may overlap with; NULL: nothing. */
static void say_doubt(const struct one *o, const char *other)
{
	char what[600];

	if (!other)
		return;
	snprintf(what, sizeof(what), SPANS_MAY_OVERLAP "it is added all the same", other);
	say_fault(o, FLEET_MAY_OVERLAP, what);
}

static int note_began(struct fleet_input *g, const struct model *m, const char *path,
		      struct error *err)
{
	const struct when w = {.clock_ns = m->host->clock_ns, .wall_ns = m->host->wall_ns};
	uint64_t wall_ns = when_wall_ns(&w, m->start_ns);

	if (!wall_ns)
		return 0;
	if (mem_grow(&g->began, &g->cap_began, g->n_began, sizeof(*g->began)) < 0)
		return error_enomem(err, "the start times of recordings");
	g->began[g->n_began++] = (struct began){path, wall_ns};
	return 0;
}

static int add_to_sums(const struct one *o, struct query *q, struct error *err)
{
	query_begin(q);
	int r = wait_filter_set(q, o->g->only->filter, err);

	r = r < 0 ? r : fleet_take(o->to, q, err);
	return r < 0 || !o->g->also ? r : o->g->also(o->g->also_ctx, q, err);
}

/* One that was read whole. */
static int take_recording(const struct one *o, struct run *run, struct error *err)
{
	struct query q = {0};
	const struct span *twin;
	const char *doubt;
	char what[600];
	int r = query_init(&q, &run->engine);

	if (r < 0)
		return error_errno(err, r, "Cannot sum up the measurement");
	doubt = recording_spans_may_overlap(&o->g->spans, &q);
	r = recording_spans_add(&o->g->spans, &q, o->path, &twin, err);
	if (r == 0 && twin) {
		snprintf(what, sizeof(what),
			 "%s is of the same machine and in part of the same time: it is left out",
			 twin->path);
		say_fault(o, FLEET_OVERLAP, what);
	} else if (r == 0) {
		say_damage(o, run);
		say_doubt(o, doubt);
		r = note_began(o->g, run->engine.model, o->path, err);
		r = r < 0 ? r : add_to_sums(o, &q, err);
	}
	query_deinit(&q);
	return r;
}

/*
 * Another name of a file that was read is known before it is read again. *@ret: that file, NULL:
 * there is none. 0 or -ENOMEM.
 */
static int find_twin(struct fleet_input *g, const struct run *run, const char *path,
		     const struct gathered **ret, struct error *err)
{
	struct reader_stat stat = {0};

	*ret = NULL;
	if (run->from_file)
		reader_stat(run->source, &stat);
	if (!stat.inode)
		return 0;
	for (size_t i = 0; i < g->n_files; i++) {
		const struct gathered *f = &g->files[i];
		if (f->dev == stat.dev && f->inode == stat.inode) {
			*ret = f;
			return 0;
		}
	}
	if (mem_grow(&g->files, &g->cap_files, g->n_files, sizeof(*g->files)) < 0)
		return error_enomem(err, "the list of files");
	g->files[g->n_files++] = (struct gathered){path, stat.dev, stat.inode};
	return 0;
}

/* @ret_twin: another name of this file was read, and nothing was now. */
static int read_once(const struct one *o, struct measure *m, struct run *run,
		     const struct gathered **ret_twin, struct error *err)
{
	*ret_twin = NULL;
	int r = measure_open(m, run, o->path, err);

	r = r < 0 ? r : find_twin(o->g, run, o->path, ret_twin, err);
	return r < 0 || *ret_twin ? r : measure_read_opened(m, run, o->path, err);
}

int fleet_input_read(struct fleet_input *g, struct measure *m, const char *path, struct fleet *to,
		     struct fleet_given *given, struct error *err)
{
	const struct one o = {.g = g, .path = path, .to = to, .given = given};
	struct run run = {.groups = g->o->groups, .keep_symbols = !g->o->no_symbol_cache};
	struct error local = {0};
	const struct gathered *twin;
	char what[600];
	int r = read_once(&o, m, &run, &twin, &local);

	given->n++;
	if (r == 0 && twin) {
		snprintf(what, sizeof(what), "%s is the same file: it is left out", twin->path);
		say_fault(&o, FLEET_OVERLAP, what);
	} else if (r == 0) {
		r = take_recording(&o, &run, err);
	} else if (r != -EINTR) {
		/* The others may be whole. */
		given->faults[FLEET_NOT_READ]++;
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
int fleet_input_say_clocks(struct fleet_input *g, struct fleet_given *given, struct error *err)
{
	struct began *room = mem_calloc(g->n_began + 1, sizeof(*room));

	if (!room)
		return error_enomem(err, "the start times of recordings");
	sort_merge(g->began, room, g->n_began, sizeof(*room), before);
	mem_free(room);
	for (size_t i = 0; i < g->n_began; i++) {
		const struct one o = {.g = g, .path = g->began[i].path, .given = given};
		uint64_t a = g->began[i].wall_ns, b = g->began[g->n_began / 2].wall_ns;
		uint64_t days = (a > b ? a - b : b - a) / DAY_NS;
		char what[200];

		if (!days)
			continue;
		snprintf(
			what, sizeof(what),
			"by its clock it began %llu day%s %s most others: it is added all the same",
			(unsigned long long)days, days > 1 ? "s" : "", a > b ? "after" : "before");
		say_fault(&o, FLEET_CLOCK, what);
	}
	return 0;
}

bool fleet_input_say_no_data(const struct opts *o, const struct fleet *f, unsigned tables)
{
	const struct fleet_sum *s = fleet_sum(f);
	const unsigned long long n = s->recordings, samples = s->samples;
	const bool no_locks = s->no_locks == n;
	const char *what = no_locks ? "lock events" : "a profile";

	if (!n || fleet_has_rows(f) || (!no_locks && (tables != 1u << FLEET_HOT || samples)))
		return false;
	if (samples)
		cmd_say(o,
			"%llu recording%s without %s: the tables have no row; --tables hot has "
			"the profile of %llu samples",
			n, n > 1 ? "s" : "", what, samples);
	else
		cmd_say(o, "%llu recording%s without %s%s: the tables have no row", n,
			n > 1 ? "s" : "", what, no_locks ? " and a profile" : "");
	return true;
}

bool fleet_input_any_bad(const struct fleet_given *given)
{
	for (int i = 0; i < FLEET_DOUBTS; i++)
		if (given->faults[i])
			return true;
	return false;
}

void fleet_input_deinit(struct fleet_input *g)
{
	recording_spans_deinit(&g->spans);
	mem_free(g->began);
	mem_free(g->files);
}
