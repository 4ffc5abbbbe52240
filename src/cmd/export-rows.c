// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend export --format ndjson`: rows for engines, of one recording after the other. With
 * --bucket the stream is cut where the wall clock has a multiple of it, so that parts of machines
 * are of the same time; at each end the rows are written and the model is cleared. A fault of a
 * recording is printed once, marked in its rows, and makes the exit status 1: a user who loads rows
 * by the thousand does not read messages.
 */
#include "kontend/damage.h"
#include "kontend/filter-options.h"
#include "kontend/query-incidents.h"
#include "kontend/recording-spans.h"
#include "kontend/rows.h"
#include "kontend/wait-filter.h"
#include "measure.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct rows_job {
	struct measure_job job;
	struct engine_slices slices;
	const struct opts *o;
	const struct filter_options *only;
	struct rows_spec spec;
	FILE *out;    /* what packs, or the output itself */
	FILE *packed; /* NULL: it is not packed */
	/* Of the recording at hand. */
	const char *path;
	struct run *run;
	struct query q;
	bool has_query;
	const struct span *twin; /* of the same machine and time */
	bool incident_done;
	struct spans spans; /* of those before it */
	bool any_bad;	    /* a fault was printed */
	bool any_locks;	    /* a recording with events of locks was read, or it was measured */
};

static struct rows_job *of_slices(struct engine_slices *s)
{
	return (struct rows_job *)((char *)s - offsetof(struct rows_job, slices));
}

/* How far it is to the next moment at which the clock of the wall has a multiple of --bucket. */
static uint64_t until_multiple(const struct rows_job *j, uint64_t ns)
{
	const struct record_host *h = j->run->engine.model->host;
	uint64_t wall = ns + (h->wall_ns ? h->wall_ns - h->clock_ns : 0);

	return j->o->bucket_ns - wall % j->o->bucket_ns;
}

static uint64_t later(uint64_t ns, uint64_t by)
{
	return ns > UINT64_MAX - by ? UINT64_MAX : ns + by;
}

static uint64_t first_end(struct engine_slices *s, uint64_t begin_ns)
{
	return later(begin_ns, until_multiple(of_slices(s), begin_ns));
}

static unsigned marks_of(struct rows_job *j)
{
	const struct model *m = j->run->engine.model;
	const struct span *twin = recording_spans_find(&j->spans, &j->q, m->zero_ns, m->now_ns);

	j->twin = twin ? twin : j->twin;
	return (twin ? ROWS_OVERLAP : 0u) | (m->damage->snapshot_unknown ? ROWS_VERSION : 0u);
}

/* The incident that a trigger wrote the file for, in the part where it fired, or the last one. */
static void take_incident(struct rows_job *j, bool is_last, struct query_incidents *ret)
{
	const struct model *m = j->run->engine.model;
	struct incident in;

	if (j->incident_done || !query_incident(m, &in) ||
	    (!is_last && (in.fired_ns < m->zero_ns || in.fired_ns > m->now_ns)))
		return;
	query_incident_name(&j->q, &in);
	query_incidents_add(ret, &in);
	j->incident_done = true;
}

static int write_part(struct rows_job *j, unsigned marks, bool is_last, struct error *err)
{
	struct query_incidents incidents = {0};
	struct rows_spec spec = j->spec;

	query_begin(&j->q);
	int r = wait_filter_set(&j->q, j->only->filter, err);
	spec.marks |= marks | marks_of(j);
	take_incident(j, is_last, &incidents);
	j->q.incidents = &incidents;
	r = r < 0 ? r : rows_write(&j->q, &spec, j->out, err);
	j->q.incidents = NULL;
	query_incidents_deinit(&incidents);
	if (r == 0 && ferror(j->out))
		r = error_errno(err, errno == EPIPE ? -EPIPE : -EIO, "Cannot write the rows");
	return r;
}

/* Parts in which nothing comes, and there may be many, are one. */
static int close_part(struct engine_slices *s, uint64_t time_ns, struct error *err)
{
	struct rows_job *j = of_slices(s);
	const uint64_t bucket_ns = j->o->bucket_ns, end_ns = later(s->next_ns, bucket_ns);
	int r = write_part(j, 0, false, err);

	s->next_ns = time_ns <= end_ns
			     ? end_ns
			     : time_ns - bucket_ns + until_multiple(j, time_ns - bucket_ns);
	return r;
}

/* Of a file that is made shorter while it is read its head says nothing: so it is asked twice. */
static struct reader_stat stat_of(const struct run *run)
{
	struct reader_stat stat = {0};

	if (run->from_file)
		reader_stat(run->source, &stat);
	return stat;
}

static int begin_recording(struct rows_job *j, struct run *run, const char *path, struct error *err)
{
	int r = query_init(&j->q, &run->engine);

	if (r < 0)
		return error_errno(err, r, "Cannot sum up the measurement");
	j->has_query = true;
	j->path = path;
	j->run = run;
	j->twin = NULL;
	j->incident_done = false;
	j->slices = (struct engine_slices){.close = close_part, .first = first_end};
	run->engine.slices = j->o->bucket_ns ? &j->slices : NULL;
	if (j->o->bucket_ns && engine_slices_sums(&run->engine) < 0)
		return error_enomem(err, "reading sums of short waits");
	j->spec.marks = stat_of(run).is_cut ? ROWS_CUT_OFF : 0;
	return 0;
}

static void forget_query(struct rows_job *j)
{
	if (j->has_query)
		query_deinit(&j->q);
	j->has_query = false;
}

static void say_bad(struct rows_job *j, const char *what)
{
	j->any_bad = true;
	cmd_say_as(j->o, JOURNAL_ERROR, "%s: %s", j->path ? j->path : "what was measured", what);
}

static void say_marks(struct rows_job *j, unsigned marks)
{
	const struct record_machine machine = query_machine(&j->q);
	char what[600];

	if (marks & ROWS_CUT_OFF)
		say_bad(j, "it ends early or is damaged: rows say 'cut_off' in marks");
	if (j->run->engine.model->damage->snapshot_unknown || marks & ROWS_VERSION) {
		snprintf(what, sizeof(what),
			 "kontend %s recorded it, of which %s does not understand all: rows say "
			 "'other_version' in marks",
			 *machine.kontend ? machine.kontend : "of another version",
			 KONTEND_VERSION);
		say_bad(j, what);
	}
	if (!j->twin)
		return;
	snprintf(what, sizeof(what),
		 "%s is of the same machine and in part of the same time: rows say 'overlap' in "
		 "marks",
		 j->twin->path);
	say_bad(j, what);
}

/* No mark: queries leave out what is marked, and this may be of another machine. */
static void say_doubt(struct rows_job *j)
{
	const char *other = recording_spans_may_overlap(&j->spans, &j->q);
	char what[600];

	if (!other)
		return;
	snprintf(what, sizeof(what), SPANS_MAY_OVERLAP "rows have no mark", other);
	cmd_say(j->o, "%s: %s", j->path ? j->path : "what was measured", what);
}

/* As perf makes them: such a recording has a row in the table of parts, and no other. */
static void say_no_locks(struct rows_job *j)
{
	j->any_locks |= !j->run->from_file || !j->run->engine.model->no_locks;
	if (j->run->from_file && j->run->engine.model->no_locks)
		cmd_say(j->o,
			"%s has no lock events, so its only row is that of the table parts: "
			"--format folded --weight samples gives a profile",
			j->path);
}

/* All events have come: the last part is written. */
static int end_recording(struct rows_job *j, struct error *err)
{
	const struct reader_stat stat = stat_of(j->run);
	const struct span *twin;
	const bool is_bad = stat.bad_records || j->run->engine.model->damage->bad;
	unsigned marks = (stat.is_cut || is_bad ? ROWS_CUT_OFF : 0u) |
			 (stat.unknown_records ? ROWS_VERSION : 0u);
	int r = write_part(j, marks, true, err);

	if (r == 0) {
		say_marks(j, marks | j->spec.marks);
		say_doubt(j);
		say_no_locks(j);
	}
	j->run->engine.slices = NULL;
	r = r < 0 ? r : recording_spans_add(&j->spans, &j->q, j->path, &twin, err);
	forget_query(j);
	return r;
}

static int open_out(struct rows_job *j, struct measure *m, struct error *err)
{
	j->out = m->output.file;
	if (j->o->compress) {
		j->out = j->packed = rows_pack_open(m->output.file, (int)j->o->compress);
		if (!j->packed)
			return error_enomem(err, "packing rows");
	}
	return 0;
}

static int begin(struct measure_job *job, struct measure *m, struct error *err)
{
	struct rows_job *j = (struct rows_job *)job;
	int r = open_out(j, m, err);

	return r < 0 ? r : begin_recording(j, &m->run, j->o->input, err);
}

static int begin_other(struct measure_job *job, struct run *run, struct error *err)
{
	struct rows_job *j = (struct rows_job *)job;

	return begin_recording(j, run, j->path, err);
}

static int read_other(struct rows_job *j, struct measure *m, const char *path, struct error *err)
{
	struct run run = {.groups = j->o->groups, .keep_symbols = !j->o->no_symbol_cache};
	struct error local = {0};

	j->path = path;
	int r = measure_read(m, &run, path, &local);
	if (r == 0) {
		r = end_recording(j, err);
	} else if (r != -EINTR) {
		/* The others may be whole. */
		j->any_bad = true;
		cmd_fail(CMD_EXIT_FAILURE, &local);
		r = 0;
	}
	forget_query(j);
	run_close(&run, &local);
	return r;
}

static int finish(struct measure_job *job, struct measure *m, struct error *err)
{
	struct rows_job *j = (struct rows_job *)job;
	int r = j->job.many ? open_out(j, m, err) : end_recording(j, err);

	if (r == 0 && j->job.many)
		r = read_other(j, m, j->o->input, err);
	for (const char *const *more = j->job.more; r == 0 && *more; more++)
		r = read_other(j, m, *more, err);
	FILE *packed = j->packed;
	j->packed = NULL;
	if (packed && fclose(packed) != 0 && r == 0)
		r = output_failed(&m->output, -errno, err);
	return r;
}

static void end(struct measure_job *job)
{
	struct rows_job *j = (struct rows_job *)job;

	forget_query(j);
	if (j->packed)
		fclose(j->packed);
	recording_spans_deinit(&j->spans);
}

int cmd_export_rows(const struct opts *o, const struct filter_options *only)
{
	struct rows_job j = {.job = {.more = o->more,
				     .many = *o->more != NULL,
				     .begin = begin,
				     .begin_other = begin_other,
				     .finish = finish,
				     .end = end},
			     .o = o,
			     .only = only,
			     .spec = {.version = KONTEND_VERSION}};
	struct error err = {0};

	if (o->tables && rows_parse(o->tables, &j.spec.tables, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	int status = measure_run(o, &j.job);

	if (status != CMD_EXIT_OK)
		return status;
	return j.any_bad ? CMD_EXIT_FAILURE : j.any_locks ? CMD_EXIT_OK : CMD_EXIT_NO_DATA;
}
