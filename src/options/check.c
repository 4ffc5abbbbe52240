// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks options together: which exclude each other, and which have no meaning without another one.
 * Nothing here depends on the system, so a command line has the same meaning everywhere.
 */
#include "internal.h"
#include "kontend/export-formats.h"
#include "kontend/holdsnap.h"
#include "kontend/opts.h"
#include "kontend/when.h"

#include <errno.h>
#include <string.h>

bool opts_is_given(const struct opts *o, const struct opts_info *i)
{
	const void *at = (const char *)o + i->offset;

	switch (i->kind) {
	case OPTS_FLAG:
		return *(const bool *)at;
	case OPTS_TIME:
	case OPTS_COUNT:
	case OPTS_POWER:
		return *(const uint64_t *)at != 0;
	default:
		return *(const char *const *)at != NULL;
	}
}

/* When reading a recording, several targets narrow the selection. */
static bool is_reading(const struct opts *o)
{
	return o->input || opts_plays(o) || o->verb == VERB_DIFF || o->verb == VERB_MERGE;
}

static int check_targets(const struct opts *o, struct error *err)
{
	const char *given[5];
	size_t n = 0;

	if (o->all_cpus)
		given[n++] = "--all-cpus";
	if (o->pids)
		given[n++] = "--pid";
	if (o->tids)
		given[n++] = "--tid";
	if (o->cgroup)
		given[n++] = "--cgroup";
	if (o->command && !o->all_cpus)
		given[n++] = "-- COMMAND";
	if (n > 1 && !is_reading(o))
		return error_set(err, -EINVAL,
				 "%s and %s say two things about what to measure: give one of them",
				 given[0], given[1]);
	return 0;
}

bool opts_samples(const struct opts *o)
{
	return o->freq && (o->verb == VERB_LIVE || o->freq != OPTS_FREQ_DEFAULT);
}

/* A recording has been measured: options for measuring contradict it. */
static int check_input(const struct opts *o, struct error *err)
{
	for (const struct opts_info *info = opts_table; info->name; info++) {
		if (info->measures && !info->reads && opts_is_said(o, info) &&
		    (info->kind != OPTS_FLAG || opts_is_given(o, info)))
			return error_set(err, -EINVAL,
					 "--input reads a recording and --%s is for "
					 "measuring: give one of them",
					 info->name);
	}
	if (o->command)
		return error_set(err, -EINVAL,
				 "--input reads a recording: leave out the "
				 "command");
	return 0;
}

enum export_format export_format_of(const struct opts *o)
{
	static const char *const names[] = {
#define EXPORT_NAME(NAME, word, help, name, note) [EXPORT_##NAME] = name,
		EXPORT_FORMATS(EXPORT_NAME)
#undef EXPORT_NAME
	};

	for (size_t i = 0; o->format && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(o->format, names[i]) == 0)
			return (enum export_format)i;
	return EXPORT_FOLDED;
}

static int check_interval(const struct opts *o, struct error *err)
{
	if (export_format_of(o) != EXPORT_OPENMETRICS)
		return error_set(err, -EINVAL, "--interval is for --format openmetrics");
	if (!o->output)
		return error_set(err, -EINVAL, "--interval needs --output FILE to write to");
	if (o->input || o->time)
		return error_set(err, -EINVAL,
				 "--interval measures until it is stopped: leave out --%s",
				 o->input ? "input" : "time");
	return 0;
}

/* Only ndjson takes recordings of several machines and times. */
static int check_rows(const struct opts *o, struct error *err)
{
	const char *given = o->bucket_ns  ? "bucket"
			    : o->tables	  ? "tables"
			    : o->compress ? "compress"
					  : NULL;

	if (o->more[0] && o->time)
		return error_set(err, -EINVAL, "--time is for one recording: leave out '%s'",
				 o->more[0]);
	if (export_format_of(o) == EXPORT_NDJSON)
		return 0;
	if (o->more[0])
		return error_set(err, -EINVAL,
				 "'%s' and '%s' are two recordings: give one of them, or --format "
				 "ndjson; a command to measure comes after '--'",
				 o->input, o->more[0]);
	return given ? error_set(err, -EINVAL, "--%s is for --format ndjson", given) : 0;
}

/* Options for rows of two recordings do not apply to groups, and to tables of two recordings. */
static int check_groups(const struct opts *o, struct error *err)
{
	const char *given = o->compare	  ? "compare"
			    : o->sides[0] ? "side"
			    : o->time	  ? "time"
			    : o->sort	  ? "sort"
			    : o->fields	  ? "fields"
			    : o->reverse  ? "reverse"
			    : o->filter	  ? "filter"
					  : NULL;

	if (given && o->two_groups)
		return error_set(err, -EINVAL,
				 "--%s is for two recordings, not for two groups of them", given);
	if (given)
		return error_set(err, -EINVAL, "--%s does not go with --tables: leave one out",
				 given);
	if (o->by && o->tables)
		return error_set(err, -EINVAL,
				 "--by and --tables exclude each other: give one of them");
	if (o->two_groups && (!o->n_before || !o->more[o->n_before]))
		return error_set(err, -EINVAL,
				 "No recordings %s '--': give those before, '--', and those "
				 "after",
				 o->n_before ? "after" : "before");
	return 0;
}

/* Two parts of the waits of one recording. */
static int check_sides(const struct opts *o, struct error *err)
{
	if (!o->sides[1] || o->sides[2])
		return error_set(err, -EINVAL,
				 "--side is given twice: the waits of the first are A, those of "
				 "the second B");
	if (o->compare)
		return error_set(err, -EINVAL,
				 "--side and --compare exclude each other: give one of them");
	if (o->more[0] && o->more[1])
		return error_set(err, -EINVAL,
				 "--side is about two parts of one recording: leave out '%s'",
				 o->more[1]);
	return 0;
}

static int check_compared(const struct opts *o, struct error *err)
{
	if ((o->two_groups || o->tables) && check_groups(o, err) < 0)
		return -EINVAL;
	if (o->two_groups)
		return 0;
	if (o->sides[0])
		return check_sides(o, err);
	if (o->event && !o->tables)
		return error_set(err, -EINVAL,
				 "--event chooses what profiles show, and two recordings are "
				 "compared by their waits: give --tables hot, too");
	if (o->more[0] && o->more[1] && o->more[2])
		return error_set(err, -EINVAL,
				 "'%s' is a third recording: put '--' between those before and "
				 "those after",
				 o->more[2]);
	if (o->more[0] && !o->more[1] && !o->compare)
		return error_set(err, -EINVAL,
				 "'%s' is one recording: give two to compare, the old one first",
				 o->more[0]);
	return 0;
}

/* Options of the breakpoint need --enospc. */
static int check_enospc(const struct opts *o, struct error *err)
{
	static const char *const only[] = {"pid", "tid", "cpu", "addr", "len", "type", "no-bpf"};

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		const struct opts_info *info = opts_find(o->verb, only[i], strlen(only[i]));

		if (info && opts_is_given(o, info))
			return error_set(err, -EINVAL,
					 "--%s is for a breakpoint: give --enospc, too",
					 info->name);
	}
	return 0;
}

static int check_repair(const struct opts *o, struct error *err)
{
	if (o->enospc || o->format || o->output)
		return error_set(err, -EINVAL, "--repair does nothing else: leave out --%s",
				 o->enospc   ? "enospc"
				 : o->format ? "format"
					     : "output");
	return 0;
}

/* A recording into a file is not decoded: nothing could add up metrics. */
static int check_metrics(const struct opts *o, struct error *err)
{
	const char *given = o->output ? "output" : o->max_size ? "max-size" : "rotate";

	if (o->triggers[0] || !(o->output || o->max_size || o->rotate))
		return 0;
	return error_set(err, -EINVAL, "--metrics without --trigger writes no file: leave out --%s",
			 given);
}

static int check_start(const struct opts *o, struct error *err)
{
	uint64_t ns;

	if ((o->start_after_ns || o->start_at) && o->command)
		return error_set(err, -EINVAL,
				 "--start-%s does not apply to a command: leave it out, or "
				 "measure apart from the command",
				 o->start_at ? "at" : "after");
	if (o->start_after_ns && o->start_at)
		return error_set(err, -EINVAL,
				 "--start-after and --start-at exclude each other: give one of "
				 "them");
	/* Whether a date is past depends on when it is run. */
	return o->start_at ? when_parse_start(o->start_at, 0, &ns, err) : 0;
}

/* Options that a verb requires or excludes. */
static int check_verbs(const struct opts *o, struct error *err)
{
	if (o->metrics && check_metrics(o, err) < 0)
		return -EINVAL;
	if (check_start(o, err) < 0)
		return -EINVAL;
	if (o->triggers[0] && o->rotate)
		return error_set(
			err, -EINVAL,
			"--trigger and --rotate exclude each other: --max-files limits the "
			"number of incident files");
	if (o->verb == VERB_EXPORT && check_rows(o, err) < 0)
		return -EINVAL;
	if (o->verb == VERB_MERGE && !o->input)
		return error_set(err, -EINVAL, "Give the recordings to add up");
	if (o->verb == VERB_CUT && (!o->input || !o->output))
		return error_set(err, -EINVAL,
				 "Give the recording and the file to write, as in 'kontend cut "
				 "kontend.data -o part.data --time 1:20,+10s'");
	if (o->verb == VERB_RECOVER && !o->topic)
		return error_set(err, -EINVAL,
				 "Give the recording to recover, as in 'kontend recover "
				 "kontend.data'");
	return 0;
}

static int check_event(const struct opts *o, struct error *err)
{
	if (!o->event || is_reading(o) || !strcmp(o->event, "cycles") ||
	    !strcmp(o->event, "cpu-clock"))
		return 0;
	return error_set(err, -EINVAL,
			 "--event '%s': give cycles or cpu-clock to sample on; of a recording "
			 "(--input FILE) any of its events",
			 o->event);
}

/* An option about where the names of a recording are from; NULL: none was given. */
static const char *about_names(const struct opts *o)
{
	return o->kallsyms	? "kallsyms"
	       : o->vmlinux	? "vmlinux"
	       : o->symfs	? "symfs"
	       : o->trust_paths ? "trust-paths"
				: NULL;
}

static int check_names(const struct opts *o, const char *given, struct error *err)
{
	if (o->kallsyms && o->vmlinux)
		return error_set(err, -EINVAL,
				 "--kallsyms and --vmlinux exclude each other: give one of them");
	if (o->verb == VERB_DIFF || o->verb == VERB_MERGE)
		return 0;
	if (!o->input && !opts_plays(o))
		return error_set(err, -EINVAL,
				 "--%s is for reading a recording: give --input FILE, too", given);
	if (o->more[0])
		return error_set(err, -EINVAL, "--%s is for one recording: leave out '%s'", given,
				 o->more[0]);
	return 0;
}

static int check_played(const struct opts *o, struct error *err)
{
	if (o->input && o->topic)
		return error_set(err, -EINVAL,
				 "--input %s and '%s' are two recordings: give one of them",
				 o->input, o->topic);
	if (o->against && !strcmp(o->against, "-"))
		return error_set(err, -EINVAL, "--against reads a file: give its name, not '-'");
	return 0;
}

/* Holds of a lock, and the price of it and of all the rest. */
static int check_holds(const struct opts *o, struct error *err)
{
	struct holdsnap_asked a;
	uint32_t ppm;

	if (opts_overhead(o, &ppm, err) < 0)
		return -EINVAL;
	return o->holds ? holdsnap_parse(o->holds, &a, err) : 0;
}

int opts_check(const struct opts *o, struct error *err)
{
	if (about_names(o) && check_names(o, about_names(o), err) < 0)
		return -EINVAL;
	if (check_event(o, err) < 0)
		return -EINVAL;
	if (o->repair && check_repair(o, err) < 0)
		return -EINVAL;
	if (o->verb == VERB_DOCTOR && !o->enospc && check_enospc(o, err) < 0)
		return -EINVAL;
	if (opts_plays(o) && check_played(o, err) < 0)
		return -EINVAL;
	if (o->input && check_input(o, err) < 0)
		return -EINVAL;
	if (o->no_sandbox && opts_verb_info(o->verb)->takes_command && !o->input)
		return error_set(err, -EINVAL, "--no-sandbox is for reading a recording");
	if (o->threads && opts_verb_info(o->verb)->takes_command && !o->input)
		return error_set(err, -EINVAL,
				 "--threads is for reading a recording: give --input FILE, too");
	if (check_holds(o, err) < 0)
		return -EINVAL;
	if (o->no_stack && o->max_stack)
		return error_set(err, -EINVAL,
				 "--no-stack and --max-stack exclude each other: give one of them");
	if (o->no_stack && o->call_graph)
		return error_set(
			err, -EINVAL,
			"--no-stack and --call-graph exclude each other: give one of them");
	if (o->call_graph && !opts_samples(o))
		return error_set(err, -EINVAL,
				 "--call-graph is for samples: give their rate with --freq");
	if (o->probes[0] && (o->cpus || o->cgroup))
		return error_set(err, -EINVAL,
				 "--probe and %s exclude each other: a probe is in processes (-p), "
				 "or in all of them",
				 o->cpus ? "--cpu" : "--cgroup");
	if (check_verbs(o, err) < 0)
		return -EINVAL;
	if (o->config && o->no_config)
		return error_set(err, -EINVAL,
				 "--config and --no-config exclude each other: give one of them");
	if (o->verbose && o->quiet)
		return error_set(err, -EINVAL,
				 "--verbose and --quiet exclude each other: give one of them");
	if (o->separator && o->format && strcmp(o->format, "csv") != 0)
		return error_set(err, -EINVAL, "--separator is for CSV, not for --format %s",
				 o->format);
	if (o->separator && strcmp(o->separator, "\\t") != 0 &&
	    (strlen(o->separator) != 1 || strchr("\"\n\r", o->separator[0])))
		return error_set(
			err, -EINVAL,
			"--separator '%s': give one ASCII character that is no quote, or \\t",
			o->separator);
	if (o->verb == VERB_DIFF && check_compared(o, err) < 0)
		return -EINVAL;
	if (o->interval_ns && check_interval(o, err) < 0)
		return -EINVAL;
	return check_targets(o, err);
}
