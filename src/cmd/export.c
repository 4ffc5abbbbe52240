// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend export`: measurements in the formats of other tools. A trace is written while events
 * come; flame graphs, folded stacks, profiles and metrics are sums, written at the end, or metrics
 * again and again. Rows for engines are in export-rows.c.
 */
#include "kontend/event-filter.h"
#include "kontend/export-formats.h"
#include "kontend/filter-options.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "kontend/heatmap.h"
#include "kontend/openmetrics.h"
#include "kontend/pprof.h"
#include "kontend/query-hot.h"
#include "kontend/send.h"
#include "kontend/tracefile.h"
#include "kontend/wait-filter.h"
#include "measure.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLERS = 20 };

static const char folded_hint[] = "--format folded --weight samples gives its profile";

struct exporter {
	struct measure_job job;
	struct tracefile *trace;
	struct run known; /* the whole recording, where the filter of a trace is about names */
	struct event_filter *gate;
	struct openmetrics *metrics;
	struct query_zoom zoom;
	struct filter_options only;
	bool written, failing; /* --interval: once; the last time */
};

static bool is_format(const struct opts *o, enum export_format format)
{
	return export_format_of(o) == format;
}

/* TRACEFILE_FORMATS: it is none. */
static enum tracefile_format format_of(const struct opts *o)
{
	switch (export_format_of(o)) {
	case EXPORT_PERFETTO:
		return TRACEFILE_PERFETTO;
	case EXPORT_FIREFOX:
		return TRACEFILE_FIREFOX;
	default:
		return TRACEFILE_FORMATS;
	}
}

static int begin_trace(struct measure_job *j, struct measure *m, struct error *err)
{
	struct exporter *e = (struct exporter *)j;
	const struct tracefile_spec spec = {.format = format_of(m->o), .version = KONTEND_VERSION};
	int ret = tracefile_new(&e->trace, &spec, &m->run.engine, m->output.file, err);

	if (ret == 0 && *e->only.filter)
		ret = measure_gate(m, &e->known, e->only.filter, &e->gate, err);
	if (ret < 0)
		return ret;
	tracefile_gate(e->trace, e->gate);
	m->run.engine.watch = tracefile_watch(e->trace);
	return 0;
}

static int finish_trace(struct measure_job *j, struct measure *m, struct error *err)
{
	struct tracefile *t = ((struct exporter *)j)->trace;
	int ret = tracefile_finish(t, err);

	if (ret == 0 && tracefile_left_out(t))
		cmd_say(m->o,
			"%" PRIu64 " waits are not in the trace, which has room for so many: "
			"give a part of the time (--time) or fewer waits (--min-wait)",
			tracefile_left_out(t));
	measure_say_no_locks(m, folded_hint);
	return ret;
}

/* While its engine and the sandbox are there. */
static void end_trace(struct measure_job *j)
{
	struct exporter *e = (struct exporter *)j;

	tracefile_free(e->trace);
	e->trace = NULL;
	event_filter_free(e->gate);
	run_close(&e->known, NULL);
}

static bool is_profile(const struct opts *o)
{
	return is_format(o, EXPORT_PPROF) || is_format(o, EXPORT_OTLP);
}

/* A graph is of samples where there are any; stacks are of waits unless asked for. */
static int weigh(const struct opts *o, struct query *q, bool *ret_wait, struct error *err)
{
	struct query_hot_sum sum;
	int ret = query_hot_sum(q, NULL, &sum);

	if (ret < 0)
		return error_errno(err, ret, "Cannot sum up the measurement");
	if (!o->weight) {
		*ret_wait = !is_format(o, EXPORT_FLAMEGRAPH) || !sum.samples;
		return 0;
	}
	*ret_wait = strcmp(o->weight, "samples") != 0;
	if (!*ret_wait && !sum.samples)
		return error_set(err, -ENODATA, "--weight samples: %s", query_hot_none(&sum));
	return 0;
}

static bool is_blame(const struct opts *o)
{
	return o->weight && strcmp(o->weight, "blame") == 0;
}

static int write_profile(struct exporter *e, struct measure *m, struct query *q, bool by_wait,
			 struct error *err)
{
	const struct pprof_spec spec = {.what = by_wait ? SAMPLES_WAITS : SAMPLES_CPU,
					.zoom = &e->zoom,
					.version = KONTEND_VERSION};
	struct pprof *p = NULL;
	int ret = pprof_new(&p, &spec, err);

	if (ret == 0)
		ret = pprof_add(p, q, err);
	if (ret == 0)
		ret = is_format(m->o, EXPORT_PPROF)
			      ? pprof_write(p, m->output.file, err)
			      : pprof_write_otlp(p, m->output.file, e->job.send, err);
	pprof_free(p);
	return ret;
}

static int write_heatmap(struct measure *m, struct query *q, struct error *err)
{
	const struct heatmap_spec spec = {.by_wait = m->o->weight != NULL};

	measure_say_no_locks(m, folded_hint);
	return heatmap_write(q, &spec, m->output.file, err);
}

static int write_chains(struct exporter *e, struct measure *m, struct query *q, struct error *err)
{
	const struct opts *o = m->o;
	bool by_wait = true, blame = is_blame(o);
	int ret = weigh(o, q, &by_wait, err);

	if (ret < 0)
		return ret;
	if (by_wait)
		measure_say_no_locks(m, "--weight samples gives its profile");
	if (is_profile(o))
		return write_profile(e, m, q, by_wait, err);
	if (is_format(o, EXPORT_FLAMEGRAPH)) {
		const struct flamegraph_spec graph = {
			.by_wait = by_wait, .blame = blame, .zoom = &e->zoom};
		return flamegraph_write(q, &graph, m->output.file, err);
	}
	const struct folded_spec folded = {.samples = !by_wait,
					   .blame = blame,
					   .mark_kernel = o->mark_kernel,
					   .zoom = &e->zoom};
	return folded_write(q, &folded, m->output.file, err);
}

static int finish_chains(struct measure_job *j, struct measure *m, struct error *err)
{
	struct exporter *e = (struct exporter *)j;
	struct query q;
	int ret = query_init(&q, &m->run.engine);

	if (ret < 0)
		return error_errno(err, ret, "Cannot sum up the measurement");
	query_begin(&q);
	ret = wait_filter_set(&q, e->only.filter, err);
	if (ret == 0)
		ret = is_format(m->o, EXPORT_HEATMAP) ? write_heatmap(m, &q, err)
						      : write_chains(e, m, &q, err);
	if (ret == 0)
		measure_say_losses(m);
	measure_say_names(m, &q);
	query_deinit(&q);
	return ret;
}

static struct openmetrics_spec metrics_spec(const struct opts *o)
{
	return (struct openmetrics_spec){
		.callers = o->rows == OPTS_ROWS_DEFAULT ? CALLERS : (size_t)o->rows,
		.version = KONTEND_VERSION,
	};
}

/* Adds the model to the totals, and clears it. */
static int add_metrics(struct exporter *e, struct measure *m, struct error *err)
{
	const struct openmetrics_spec spec = metrics_spec(m->o);
	struct query q;
	int ret = e->metrics ? 0 : openmetrics_new(&e->metrics, &spec);

	if (ret == 0)
		ret = query_init(&q, &m->run.engine);
	if (ret < 0)
		return error_errno(err, ret, "Cannot sum up the measurement");
	query_begin(&q);
	ret = wait_filter_set(&q, e->only.filter, err);
	if (ret == 0)
		ret = openmetrics_add(e->metrics, &q, err);
	query_deinit(&q);
	model_zero(m->run.engine.model);
	return ret;
}

static int finish_openmetrics(struct measure_job *j, struct measure *m, struct error *err)
{
	struct exporter *e = (struct exporter *)j;
	int ret = add_metrics(e, m, err);

	measure_say_no_locks(m, folded_hint);
	return ret < 0 ? ret : openmetrics_put(e->metrics, m->output.file, err);
}

/* All of it or nothing: a reader of the file never sees a half. */
static int rewrite(struct measure_job *j, struct measure *m, struct error *err)
{
	struct exporter *e = (struct exporter *)j;
	struct output out = {0};
	int ret = add_metrics(e, m, err);

	if (ret == 0)
		ret = output_open(&out, m->o->output, NULL, err);
	if (ret == 0)
		ret = openmetrics_put(e->metrics, out.file, err);
	if (ret == 0)
		ret = output_commit(&out, err);
	output_close(&out);
	e->written |= ret == 0;
	return ret;
}

/* A disk that is full for a while is no reason to lose the totals; at the start it is one to end.
 */
static int rewrite_or_try_again(struct measure_job *j, struct measure *m, struct error *err)
{
	struct exporter *e = (struct exporter *)j;
	struct error local = {0};
	bool begun = e->written;
	int ret = rewrite(j, m, begun ? &local : err);

	if (ret < 0 && !begun)
		return ret;
	if (ret < 0 && !e->failing)
		cmd_fail(CMD_EXIT_FAILURE, &local);
	if (ret == 0 && e->failing)
		cmd_say(m->o, "%s is written again", m->o->output);
	e->failing = ret < 0;
	return 0;
}

static int check_replaceable(const struct opts *o, struct error *err)
{
	struct stat st;

	if (stat(o->output, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return error_set(err, -EINVAL,
			 "--output '%s' is no regular file, which --interval could write again",
			 o->output);
}

/* Options about call chains have no meaning for the other formats. */
static int check_chains(const struct opts *o, struct error *err)
{
	const char *given = o->weight	     ? "weight"
			    : o->zooms[0]    ? "zoom"
			    : o->mark_kernel ? "mark-kernel"
					     : NULL;
	bool chains = is_format(o, EXPORT_FLAMEGRAPH) || is_profile(o);

	bool heat = is_format(o, EXPORT_HEATMAP) && !o->zooms[0];

	if (given && !is_format(o, EXPORT_FOLDED) && (o->mark_kernel || !(chains || heat)))
		return error_set(err, -EINVAL, "--%s does not go with --format %s",
				 o->mark_kernel ? "mark-kernel" : given, o->format);
	if (is_format(o, EXPORT_HEATMAP) && o->weight && strcmp(o->weight, "wait") != 0)
		return error_set(err, -EINVAL,
				 "--weight %s does not go with --format heatmap: its colours are "
				 "numbers of waits, or with --weight wait their time",
				 o->weight);
	if (is_blame(o) && is_profile(o))
		return error_set(
			err, -EINVAL,
			"--weight blame does not go with --format %s: give wait or samples",
			o->format);
	return 0;
}

/* Bytes are for a file. */
static int check_terminal(const struct opts *o, const char *what, const char *like,
			  struct error *err)
{
	if (o->output || !isatty(STDOUT_FILENO))
		return 0;
	return error_set(err, -EINVAL,
			 "A %s is no text for a terminal: give --output FILE, like -o waits.%s",
			 what, like);
}

/* Before anything is measured: it may not have been built in. */
static int check_profile(const struct opts *o, struct error *err)
{
	const struct pprof_spec spec = {.what = SAMPLES_WAITS};
	struct pprof *p = NULL;
	int ret = check_terminal(o, "profile", is_format(o, EXPORT_PPROF) ? "pb.gz" : "pb", err);

	if (ret == 0)
		ret = pprof_new(&p, &spec, err);
	pprof_free(p);
	if (ret == 0 && is_format(o, EXPORT_OTLP) && send_is_address(o->output))
		ret = send_check(err);
	return ret;
}

static int check_trace(const struct opts *o, struct error *err)
{
	int ret = tracefile_check(format_of(o), err);

	if (ret == 0 && format_of(o) == TRACEFILE_PERFETTO)
		ret = check_terminal(o, "trace", "pftrace", err);
	return ret;
}

static int check(const struct opts *o, struct exporter *e, struct error *err)
{
	int ret = o->interval_ns ? check_replaceable(o, err) : 0;

	if (ret == 0)
		ret = check_chains(o, err);
	if (ret == 0)
		ret = is_profile(o) ? check_profile(o, err) : check_trace(o, err);
	if (ret == 0)
		ret = filter_options(o, &e->only, err);
	return ret < 0 ? ret : cmd_zoom(o, &e->zoom, err);
}

int cmd_export(const struct opts *o)
{
	struct exporter e = {.job.finish = finish_chains};
	struct error err = {0};

	if (check(o, &e, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (is_format(o, EXPORT_OTLP) && send_is_address(o->output))
		e.job.send = send_profile;
	if (is_format(o, EXPORT_NDJSON))
		return cmd_export_rows(o, &e.only);
	if (o->interval_ns)
		e.job = (struct measure_job){.every = rewrite_or_try_again, .finish = rewrite};
	else if (format_of(o) < TRACEFILE_FORMATS)
		e.job = (struct measure_job){.begin = begin_trace,
					     .finish = finish_trace,
					     .end = end_trace,
					     .held = true};
	else if (is_format(o, EXPORT_OPENMETRICS))
		e.job.finish = finish_openmetrics;
	e.job.blame = is_blame(o);
	e.job.heat = is_format(o, EXPORT_HEATMAP);
	int status = measure_run(o, &e.job);

	openmetrics_free(e.metrics);
	return status;
}
