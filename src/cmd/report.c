// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend report`: measures once (measure.c) and prints. The options are worked out and checked
 * first, since an error after ten minutes of measuring would be a bad joke.
 */
#include "kontend/report.h"
#include "kontend/caught.h"
#include "kontend/codeset.h"
#include "kontend/ended.h"
#include "kontend/filter-options.h"
#include "kontend/query-no-locks.h"
#include "kontend/query-verdict.h"
#include "kontend/units.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reporter {
	struct measure_job job;
	const struct opts *o;
	struct report_spec spec;
	struct verdict_limits verdict;
	char filter[OPTS_FILTER];
	struct filter_options only;
	struct caught caught;
};

enum { TEXT_ROWS = 20 };

enum { BLAMES = REPORT_BLAME | REPORT_DID };

static const double TEXT_PERCENT = 0.5; /* least width of a frame */

static unsigned default_views(const struct opts *o, enum report_format f)
{
	if (o->annotate)
		return 0;
	if (o->triggers[0])
		return REPORT_INCIDENTS;
	if (o->holds)
		return REPORT_HOLDS;
	if (f == REPORT_CSV)
		return REPORT_LOCKS;
	return f == REPORT_JSON ? REPORT_LOCKS | REPORT_WAITERS
				: REPORT_OVERVIEW | REPORT_LOCKS | REPORT_WAITERS;
}

/* --by blame is a word for a view, so that users need not know the name of that view. */
static int check_by_blame(const struct report_spec *s, struct error *err)
{
	if (s->views & REPORT_BLAME)
		return 0;
	return error_set(err, -EINVAL,
			 "--by 'blame' is a table of its own: leave out --view, or give --view "
			 "blame");
}

/* A key may be one of locks, of the profile, or of both. */
static int parse_by(const struct opts *o, struct report_spec *s, struct error *err)
{
	bool locks, hot, is_blame;

	s->hot_locks = o->group && !strcmp(o->group, "locks");
	if (!o->by)
		return 0;
	if (strcmp(o->by, "blame") == 0)
		return check_by_blame(s, err);
	is_blame = query_blame_by_parse(o->by, &s->blame_by) == 0;
	s->is_blame_by = is_blame;
	is_blame &= (s->views & BLAMES) != 0;
	if (!is_blame && s->views && !(s->views & ~(unsigned)BLAMES))
		return error_set(err, -EINVAL,
				 "--by '%s': who is to blame is by task, process, lock, type, "
				 "caller, stack or state",
				 o->by);
	locks = query_by_parse(o->by, &s->query.by) == 0;
	s->is_by = locks;
	hot = query_hot_by_parse(o->by, &s->hot_by) == 0;
	if (!hot && s->views == REPORT_HOT)
		return error_set(err, -EINVAL,
				 "--by '%s': rows of the profile are by symbol, object, process, "
				 "task, group, cpu or stack",
				 o->by);
	if (!locks && s->is_blame_by && !is_blame)
		return error_set(err, -EINVAL, "--by '%s' is for --view blame", o->by);
	if (!locks && !is_blame && !(s->views & REPORT_HOT))
		return error_set(err, -EINVAL,
				 "--by '%s' is for --view hot: locks are by lock, caller, task, "
				 "process, type, cpu, cgroup or stack",
				 o->by);
	return 0;
}

/* "1ms,8ms" */
static int parse_lengths(const char *s, struct heat_part *ret, struct error *err)
{
	const char *comma = strchr(s, ',');
	char from[32];

	if (comma && (size_t)(comma - s) < sizeof(from)) {
		memcpy(from, s, (size_t)(comma - s));
		from[comma - s] = '\0';
		if (units_parse_ns(from, &ret->lower_ns) == 0 &&
		    units_parse_ns(comma + 1, &ret->upper_ns) == 0 && ret->lower_ns < ret->upper_ns)
			return 0;
	}
	return error_set(err, -EINVAL,
			 "--lengths '%s': give two times, the shorter one first, like 1ms,8ms", s);
}

static enum report_weight parse_weight(const char *s)
{
	if (!s)
		return REPORT_WEIGHT_ANY;
	if (!strcmp(s, "blame"))
		return REPORT_WEIGHT_BLAME;
	return strcmp(s, "wait") ? REPORT_WEIGHT_SAMPLES : REPORT_WEIGHT_WAIT;
}

/* Options about the profile and call chains. */
static int parse_chains(const struct opts *o, struct report_spec *s, struct error *err)
{
	int r = cmd_zoom(o, &s->zoom, err);

	if (r < 0)
		return r;
	s->percent_limit = cmd_percent_limit(o);
	if (o->percent_limit && !(s->views & (REPORT_HOT | REPORT_FLAME | REPORT_TREE)))
		return error_set(err, -EINVAL, "--percent-limit is for --view hot, flame and tree");
	if (s->zoom.n && !(s->views & (REPORT_HOT | REPORT_FLAME)))
		return error_set(err, -EINVAL, "--zoom is for --view hot and flame");
	if (o->weight && !(s->views & REPORT_FLAME))
		return error_set(err, -EINVAL, "--weight is for --view flame");
	s->weight = parse_weight(o->weight);
	s->flame_limit = o->percent_limit	    ? s->percent_limit
			 : s->format == REPORT_TEXT ? TEXT_PERCENT
						    : 0;
	return 0;
}

/* From options to what the report module takes: -EINVAL is a usage error. */
static int make_spec(struct reporter *r, struct error *err)
{
	const struct opts *o = r->o;
	struct report_spec *s = &r->spec;
	const char *format = o->format ? o->format : o->separator ? "csv" : "text";

	*s = (struct report_spec){
		.query = {.by = BY_LOCK,
			  .sort = o->sort,
			  .reverse = o->reverse,
			  .filter = o->filter ? r->filter : NULL,
			  .limit = (size_t)o->rows},
		.csv_separator = cmd_separator(o),
		.source_kind = o->input ? "perf.data" : "live",
		.ascii = !codeset_is_utf8(),
		.width = cmd_width(o),
		.is_range = o->time != NULL,
		.annotate = o->annotate,
		.no_source = o->no_source,
		.follows = o->why,
	};
	if (report_format_parse(format, &s->format) < 0)
		return error_set(err, -EINVAL, "--format '%s' is not known", format);
	if (o->input && o->tids)
		s->why_tid = (int32_t)strtol(o->tids, NULL, 10);
	s->views = default_views(o, s->format);
	if (o->rows == OPTS_ROWS_DEFAULT)
		s->query.limit = s->format == REPORT_TEXT ? TEXT_ROWS : 0;
	if (o->view && report_view_parse(o->view, &s->views) < 0)
		return error_set(err, -EINVAL,
				 "--view '%s': give one or more of " REPORT_VIEW_NAMES
				 ", separated by commas; see 'kontend report --help'",
				 o->view);
	if (o->view && strstr(o->view, "incidents") && !o->triggers[0])
		return error_set(err, -EINVAL, "--view incidents: give --trigger, too");
	if (o->by && !strcmp(o->by, "blame") && !o->view)
		s->views = REPORT_BLAME;
	if (cmd_verdict(o, &r->verdict, err) < 0)
		return -EINVAL;
	s->verdict = &r->verdict;
	if (filter_options(o, &r->only, err) < 0 || caught_check(o, err) < 0)
		return -EINVAL;
	s->fields = o->fields;
	s->only = r->only.filter;
	s->only_words = r->only.words;
	if (o->lengths && parse_lengths(o->lengths, &s->part, err) < 0)
		return -EINVAL;
	int by = parse_by(o, s, err);
	by = by < 0 ? by : parse_chains(o, s, err);
	if (by < 0)
		return by;
	if (s->format == REPORT_CSV && s->views & (s->views - 1))
		return error_set(err, -EINVAL, "CSV holds one table: give one --view, not '%s'",
				 o->view);
	if (o->by && s->views & REPORT_CONTEXTS && !(s->views & REPORT_LOCKS) &&
	    s->query.by != BY_PROCESS && s->query.by != BY_CGROUP)
		return error_set(
			err, -EINVAL,
			"--by '%s': contexts are grouped by process or cgroup, or, without --by, "
			"are a row each",
			o->by);
	return cmd_check_rows(o, report_sorted_table(s->views), r->filter, err);
}

/* Of a recording without lock events the profile is more than empty tables of locks. */
static void choose_views(struct reporter *r, const struct query *q)
{
	const struct opts *o = r->o;
	bool is_default = !o->view && !o->annotate && !o->triggers[0] && !o->holds;
	bool about_locks = o->by || o->sort || o->filter || o->fields;

	if (!is_default || about_locks || !query_no_locks_but_profile(q))
		return;
	r->spec.views = r->spec.format == REPORT_JSON ? r->spec.views | REPORT_OVERVIEW | REPORT_HOT
						      : REPORT_HOT;
}

static int write_report(struct measure_job *j, struct measure *m, struct error *err)
{
	struct reporter *r = (struct reporter *)j;
	struct query q;
	struct error local = {0};
	int ret = query_init(&q, &m->run.engine);

	if (ret < 0)
		return error_errno(err, ret, "Cannot sum up the measurement");
	query_begin(&q);
	caught_take(&r->caught);
	if (r->caught.triggers)
		q.incidents = &r->caught.all;
	choose_views(r, &q);
	ret = report_write(&q, &r->spec, m->output.file, &local);
	measure_say_names(m, &q);
	query_deinit(&q);
	if (ret < 0 && ferror(m->output.file))
		return output_failed(&m->output, ret, err);
	return ret < 0 ? error_set(err, ret, "%s", local.text) : 0;
}

static void take_incidents(struct measure_job *j)
{
	caught_take(&((struct reporter *)j)->caught);
}

static void end_incidents(struct measure_job *j)
{
	caught_end(&((struct reporter *)j)->caught);
}

/* A report is of all that its looks have seen. */
static int keep_ended(struct measure_job *j, struct measure *m, struct error *err)
{
	struct reporter *r = (struct reporter *)j;
	int code = caught_begin(&r->caught, &m->run.engine, r->o, err);

	if (code < 0)
		return code;
	code = ended_new(&m->run.engine.model->ended);
	return code < 0 ? error_enomem(err, "the list of ended things") : 0;
}

/* Only tables that show one moment, as ps(1) shows processes. */
static bool is_look(const struct report_spec *s)
{
	const unsigned looks = REPORT_SLOTS | REPORT_HOLDERS | REPORT_CONTEXTS | REPORT_EVENTS;

	return s->views && !(s->views & ~looks) && !s->annotate;
}

int cmd_report(const struct opts *o)
{
	struct reporter r = {
		.job = {.begin = keep_ended, .finish = write_report, .end = end_incidents}, .o = o};
	struct error err = {0};
	int ret = make_spec(&r, &err);

	if (ret < 0)
		return cmd_fail(ret == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	/* Column sets of one view: each knows the more holders if both are followed. Queues have
	 * how evenly tasks use their locks. */
	bool blame = r.spec.views & (REPORT_HELD | REPORT_QUEUES | BLAMES);
	r.job.held = blame;
	r.job.blame = blame || r.spec.weight == REPORT_WEIGHT_BLAME;
	r.job.heat = r.spec.views & REPORT_HEAT || o->lengths;
	r.job.look = is_look(&r.spec);
	/* An incident names the holder of its lock. */
	r.job.blame |= o->triggers[0] != NULL;
	if (o->triggers[0])
		r.job.pumped = take_incidents;
	return measure_run(o, &r.job);
}
