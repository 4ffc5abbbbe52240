/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTS_H
#define KONTEND_OPTS_H

#include "kontend/error.h"
#include "kontend/opts-info.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opts_verb {
	VERB_LIVE,
	VERB_REPLAY,
	VERB_REPORT,
	VERB_SCRIPT,
	VERB_DIFF,
	VERB_MERGE,
	VERB_EXPORT,
	VERB_RECORD,
	VERB_CUT,
	VERB_RECOVER,
	VERB_INCIDENTS,
	VERB_TOUR,
	VERB_SCREENSHOT,
	VERB_DEMO,
	VERB_BENCH,
	VERB_DOCTOR,
	VERB_HELP,
	VERB_VERSION,
	VERB_DUMP, /* hidden: the tables as text, for tests */
	VERBS,
};

#define OPTS_ROWS_DEFAULT UINT64_MAX /* --rows was not given; 0 is "all" */
#define OPTS_FREQ_DEFAULT UINT64_MAX /* --freq was not given */

/* So many texts of an option that may be given more than once. And lines in the table at most. */
enum { OPTS_LIST_MAX = 32, OPTS_ROWS = 192, OPTS_MORE = 4095 /* recordings behind the first */ };

/* What a command line asks for. Texts are borrowed from argv. NULL and 0: not given. */
struct opts {
	enum opts_verb verb;
	bool help, verbose, quiet, features;
	bool all_cpus, no_stack, no_bpf, probe_cpus, tick, no_switches, no_follow, enospc, repair,
		demo, reverse, ascii, no_mouse, measure, owner, mark_kernel, realtime, tour,
		service, creations, cost;
	bool phases; /* of rotation, by probes */
	const char *cpus, *pids, *tids, *cgroup;
	const char *probes[OPTS_LIST_MAX];
	const char *triggers[OPTS_LIST_MAX];	 /* as trigger_check() takes them */
	const char *zooms[OPTS_LIST_MAX];	 /* as query_zoom_parse() takes them */
	const char *mux_interval, *max_overhead; /* as mux_, opts_overhead() parse them */
	char **command, **argv;			 /* what follows "--"; the whole command line */
	uint64_t delay_ns, duration_ns, interval_ns, switches_ns, follow_ns, min_wait_ns,
		start_after_ns, bucket_ns, pre_ns, post_ns, cooldown_ns, max_age_ns;
	uint64_t mmap_pages, max_stack, freq, rows, threads, size, rounds, events, parallelism,
		repeat, pairs;
	uint64_t max_size, max_files, rotate, compress, memory;
	const char *filter, *view, *by, *sort, *lock, *caller, *stack, *fields;
	const char *time, *compare; /* a range, as when_parse_range() takes it; A,B[,LENGTH] */
	const char *format, *separator, *output;
	const char *event, *group; /* of the profile */
	const char *counts, *mode; /* of benchmarks: numbers of threads, way of page faults */
	const char *bench_kinds, *cpu_counts; /* of bench uprobe: lists, separated by commas */
	const char *mmap, *call_graph,
		*verdict;		    /* as mmlevel_, callgraph_, query_verdict_parse() do */
	const char *weight, *percent_limit; /* of call chains; of call trees */
	const char *config, *config_path;   /* asked for; read: NULL is none */
	bool config_again;		    /* it is read once more, by who has to go on */
	const struct pathgroups *groups;    /* what it says; NULL: nothing */
	const struct query_columns *columns;
	const char *annotate, *input;	 /* a function; a recording */
	const char *more[OPTS_MORE + 1]; /* recordings behind it, or all of `diff`, to a NULL */
	const char *tables;		 /* as rows_parse(), or merge_tables_parse(), takes them */
	bool no_inline, debuginfod, no_source, no_config, config_absent, no_symbol_cache,
		no_sandbox;
	const char *screen_size, *at,
		*keys;		       /* of a picture: COLUMNSxROWS, a moment, keys before it */
	const char *addr, *len, *type; /* of a breakpoint */
	const char *breakpoints;       /* how many a benchmark is to open */
	bool two_groups;	       /* `diff`: `more` is two groups, */
	size_t n_before;	       /* the first so many are before */
	const char *color, *theme, *kinds, *metrics;
	const char *topic; /* the word after `help` or `dump`, the file of `replay` and `recover` */
	const char *locks_by, *locks_sort; /* settings: how the screen's locks table begins */
	bool given[OPTS_ROWS];		   /* by place in the table: has been set */
};

/* Is the word behind the option its argument, unless one is attached? */
static inline bool opts_takes_word(const struct opts_info *i)
{
	return i->arg && i->kind != OPTS_LEVEL;
}

/* Is it a recording on the screen, or on a picture of one? */
static inline bool opts_plays(const struct opts *o)
{
	return o->verb == VERB_REPLAY || o->verb == VERB_SCREENSHOT;
}

extern const struct opts_info opts_table[]; /* ended by an entry without name */

const struct opts_verb_info *opts_verb_info(enum opts_verb v);
/* By name or alias; VERBS when unknown. */
enum opts_verb opts_verb_find(const char *name);
/* The option of @verb called @name (@len bytes) or @short_name; NULL when there is none. */
const struct opts_info *opts_find(enum opts_verb verb, const char *name, size_t len);
const struct opts_info *opts_find_short(enum opts_verb verb, char short_name);
/* Is @word (@len bytes) one of @words? */
bool opts_has_word(const char *words, const char *word, size_t len);
/* The name nearest to @word among options of @verb, or among verbs; NULL when none is near. */
const char *opts_nearest(enum opts_verb verb, const char *word);
const char *opts_nearest_verb(const char *word);

/*
 * Reads a command line. -EINVAL with @err for what makes no sense; ret->verb is then the verb whose
 * help would tell. When help is asked for, nothing behind it is checked.
 */
int opts_parse(struct opts *ret, int argc, char **argv, struct error *err);
/* Does it make sense together, settings included? Else -EINVAL with @err. */
int opts_check(const struct opts *o, struct error *err);
/*
 * Takes over into @o, which is in use, what may change meanwhile, as @new has it: texts are
 * borrowed from there. The names of what else is another there: "pre, memory", or "".
 */
void opts_reload(struct opts *o, const struct opts *new, char *ret_rest, size_t size);
/* The help of a verb, from the tables, and that of the program. */
void opts_help(enum opts_verb verb, FILE *out);
void opts_help_all(FILE *out);
/* A line an option: VERB, -SHORT, --LONG, ARG, HELP, separated by tabs. */
void opts_dump(FILE *out);

#endif
