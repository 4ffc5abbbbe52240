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
	VERB_WHY,
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
	VERB_STORY,
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

/* Values of an option that may be repeated; rows of the table. */
enum { OPTS_LIST_MAX = 32, OPTS_ROWS = 192, OPTS_MORE = 4095 /* recordings after the first */ };

/* The parsed command line. Texts are borrowed from argv. NULL and 0: not given. */
struct opts {
	enum opts_verb verb;
	bool help, verbose, quiet, features;
	bool all_cpus, no_stack, no_bpf, probe_cpus, tick, no_switches, no_follow, enospc, repair,
		demo, reverse, ascii, no_mouse, measure, owner, mark_kernel, realtime, tour,
		service, creations, cost;
	bool phases;		 /* --phases */
	bool sleeps;		 /* --sleeps */
	bool why;		 /* --why */
	const char *holds;	 /* --holds: a lock or a type */
	const char *user_locks;	 /* --user-locks; NULL: events */
	const char *user_frames; /* --user-frames; NULL: all */
	const char *cpus, *pids, *tids, *cgroup;
	const char *probes[OPTS_LIST_MAX];
	const char *triggers[OPTS_LIST_MAX];	 /* for trigger_check() */
	const char *zooms[OPTS_LIST_MAX];	 /* for query_zoom_parse() */
	const char *mux_interval, *max_overhead; /* for mux_ and opts_overhead() */
	char **command, **argv;			 /* words after "--"; the whole command line */
	uint64_t delay_ns, duration_ns, interval_ns, switches_ns, follow_ns, min_wait_ns,
		min_sleep_ns, start_after_ns, bucket_ns, pre_ns, post_ns, cooldown_ns, max_age_ns;
	uint64_t mmap_pages, max_stack, freq, rows, threads, size, rounds, events, parallelism,
		repeat, pairs;
	uint64_t max_size, max_files, rotate, compress, memory;
	const char *start_at; /* for when_parse_start() */
	const char *filter, *view, *by, *sort, *lock, *caller, *stack, *fields, *lengths;
	const char *against;		  /* another recording, for flame graphs of both */
	const char *sides[OPTS_LIST_MAX]; /* two filters of waits, to compare */
	const char *time, *compare;	  /* a range for when_parse_range(); A,B[,LENGTH] */
	const char *format, *separator, *output;
	const char *event, *group; /* of the CPU profile */
	const char *counts, *mode; /* of benchmarks: numbers of threads, way of page faults */
	const char *bench_kinds, *cpu_counts; /* of bench uprobe: lists, separated by commas */
	const char *mmap, *call_graph,
		*verdict;		    /* for mmlevel_, callgraph_, query_verdict_parse() */
	const char *weight, *percent_limit; /* of call chains; of call trees */
	const char *config, *config_path;   /* given; read: NULL: none */
	bool config_again;		    /* read again by a running service */
	const struct pathgroups *groups;    /* from the configuration; NULL: none */
	const struct query_columns *columns;
	const char *annotate, *input;	 /* a function; a recording */
	const char *more[OPTS_MORE + 1]; /* further recordings, or all of `diff`, ended by NULL */
	const char *kallsyms, *vmlinux;	 /* with symbols of a recording's kernel */
	const char *symfs;		 /* a folder with the files that a recording names */
	const char *tables;		 /* for rows_parse() or merge_tables_parse() */
	bool no_inline, debuginfod, no_source, no_config, config_absent, no_symbol_cache,
		no_sandbox, trust_paths;
	bool recorded, work;	     /* of a story */
	const char *story;	     /* for a screenshot: its name */
	const struct app_walk *walk; /* callouts of a story, for the screen; NULL: none */
	const char *screen_size, *at,
		*keys;		       /* of a screenshot: COLUMNSxROWS, a time, keys to press */
	const char *addr, *len, *type; /* of a breakpoint */
	const char *breakpoints;       /* number for a benchmark to open */
	bool two_groups;	       /* of `diff`: `more` has two groups, */
	size_t n_before;	       /* the first of this size */
	const char *color, *theme, *kinds, *metrics;
	const char *topic; /* word after `help` or `dump`, file of `replay` and `recover` */
	const char *locks_by, *locks_sort; /* settings: initial state of the screen's locks table */
	bool given[OPTS_ROWS];		   /* by index in the table: has been set */
};

/* True if the word after the option is its argument, unless one is attached. */
static inline bool opts_takes_word(const struct opts_info *i)
{
	return i->arg && i->kind != OPTS_LEVEL;
}

/* True for a recording on the screen, or on a screenshot. */
static inline bool opts_plays(const struct opts *o)
{
	return o->verb == VERB_REPLAY || o->verb == VERB_SCREENSHOT;
}

/* A file with the symbols of a recording's kernel; NULL: none was given. */
static inline const char *opts_symbols(const struct opts *o)
{
	return o->kallsyms ? o->kallsyms : o->vmlinux;
}

extern const struct opts_info opts_table[]; /* ended by an entry without name */

const struct opts_verb_info *opts_verb_info(enum opts_verb v);
/* By name or alias; VERBS when unknown. */
enum opts_verb opts_verb_find(const char *name);
/* The option of @verb called @name (@len bytes) or @short_name; NULL: none. */
const struct opts_info *opts_find(enum opts_verb verb, const char *name, size_t len);
const struct opts_info *opts_find_short(enum opts_verb verb, char short_name);
/* True if @word (@len bytes) is one of @words. */
bool opts_has_word(const char *words, const char *word, size_t len);
/* The name most similar to @word among options of @verb, or among verbs; NULL: none. */
const char *opts_nearest(enum opts_verb verb, const char *word);
const char *opts_nearest_verb(const char *word);

/*
 * Parses a command line. -EINVAL with @err if it is invalid; ret->verb is then the verb whose help
 * applies. After a request for help the rest is not checked.
 */
int opts_parse(struct opts *ret, int argc, char **argv, struct error *err);
/* Checks that all options, settings included, agree. Else -EINVAL with @err. */
int opts_check(const struct opts *o, struct error *err);
/*
 * Copies options that may change at run time from @new to @o, which is in use; their texts are
 * borrowed. @ret_rest: the names of other changed options, "pre, memory", or "".
 */
void opts_reload(struct opts *o, const struct opts *new, char *ret_rest, size_t size);
/* Print the help of a verb, and of the program, from the tables. */
void opts_help(enum opts_verb verb, FILE *out);
void opts_help_all(FILE *out);
/* Prints a line per option: VERB, -SHORT, --LONG, ARG, HELP, separated by tabs. */
void opts_dump(FILE *out);

/*
 * Copies a filter into @ret and replaces alternative names of lock types (rtmutex, percpu-rwsem) by
 * those in tables. -EINVAL with @err if it does not fit.
 */
int opts_filter(const char *filter, char *ret, size_t size, struct error *err);
enum { OPTS_FILTER = 1024 };

/*
 * Value of --max-overhead, in millionths of the CPU time of all CPUs; 0: off. -EINVAL with @err:
 * not a number from 0.01 to 100, with or without a percent sign.
 */
int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err);
/*
 * The cost of measuring sleeps from which on less of it is done, in the same unit: its own default,
 * the value of --max-overhead, or all CPUs if that is off. The option is valid.
 */
uint32_t opts_sleeps_ppm(const struct opts *o);

#endif
