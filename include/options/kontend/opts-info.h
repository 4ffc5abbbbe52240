/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTS_INFO_H
#define KONTEND_OPTS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A verb and an option, for the tables in opts.h. */
struct opts_verb_info {
	const char *name;
	const char *alias;	    /* another name, NULL = none */
	const char *synopsis;	    /* arguments after the name */
	const char *help;	    /* one line */
	const char *more;	    /* lines for --help, NULL = none */
	bool hidden, takes_command; /* a command, after "--" */
};

/* How an option uses its argument. */
enum opts_kind {
	OPTS_FLAG,   /* none: sets a bool; "=no" takes back a setting */
	OPTS_PRESET, /* none: sets a text to `words` */
	OPTS_TEXT,
	OPTS_CHOICE,  /* a text out of `words` */
	OPTS_PERCENT, /* a text, a number from 0 to 100 */
	OPTS_TIME,    /* a duration, min..max ns */
	OPTS_COUNT,   /* a number, min..max */
	OPTS_POWER,   /* the same, a power of two */
	OPTS_SIZE,    /* bytes, min..max, K M G being powers of 1024 */
	OPTS_LIST,    /* a text for each time it is given */
	OPTS_LEVEL,   /* a number, min..max, only after "="; 1 without it */
};

enum opts_complete { COMPLETE_NONE, COMPLETE_FILE, COMPLETE_PID, COMPLETE_CGROUP };

struct opts_info {
	char short_name; /* 0 = none */
	const char *name;
	const char *arg; /* placeholder, NULL: takes no argument */
	const char *help;
	const char *group; /* heading in --help */
	unsigned verbs;	   /* 1 << enum opts_verb, or-ed */
	enum opts_kind kind;
	size_t offset; /* offset of the field in struct opts */
	uint64_t min, max;
	const char *words;	     /* allowed or preset words, separated by blanks */
	enum opts_complete complete; /* how a shell completes the argument */
	unsigned settings;	     /* those of `verbs` for which a configuration may set it */
	bool measures;		     /* for measuring: --input excludes it, unless it reads */
	bool reloads; /* a running service applies it when its configuration is read again */
	bool reads;   /* it measures, but has a meaning with --input, too */
};

#endif
