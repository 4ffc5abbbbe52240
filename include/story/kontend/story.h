/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STORY_H
#define KONTEND_STORY_H

#include "kontend/bench-figures.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Stories: a mechanism of the kernel, or a hang that people meet, with a workload that shows it,
 * callouts that point at what to see, and the figures that were published, if any. Nothing here
 * draws or measures.
 */
struct story_callout {
	const char *view;
	const char *title, *text; /* one to three short sentences */
	bool enter;		  /* opens the first row */
};

/* A figure of the workload beside the published ones, in its unit; NaN: there is none. */
struct story_row {
	const char *what;
	const char *of, *metric; /* of the workload; a case that ends in '*': the last of them */
	const char *over;	 /* a case whose value it is divided by; NULL: none */
	double before, after;	 /* published, without and with the change that was measured */
};

enum story_needs {
	STORY_RIGHTS = 1, /* to measure */
	STORY_PMU = 2,	  /* counters whose events take turns */
	STORY_JAVA = 4,
	STORY_CGROUPS = 8, /* to make some */
};

enum { STORY_CALLOUTS = 5, STORY_ROWS = 10 };

struct story {
	const char *name, *title;
	const char *published; /* how; NULL: nothing was */
	const char *compare;   /* which figures of two machines can be compared */
	const char *recorded;  /* the machine of the recording that ships */
	const char *bench;     /* the workload: a benchmark and its options; NULL: `work` */
	int (*work)(struct bench_figures *ret, struct error *err);
	void (*clean_up)(pid_t guard); /* what an ended workload of this process leaves, or NULL */
	const char *load; /* kontend's words for what is measured in place of the workload; NULL */
	const char *measure;			       /* options of `kontend record` */
	const char *views;			       /* of a report */
	const char *at;				       /* the moment of the recording */
	unsigned needs;				       /* enum story_needs, or-ed */
	struct story_callout callouts[STORY_CALLOUTS]; /* ended by one without a view */
	struct story_row rows[STORY_ROWS];	       /* ended by one without `what` */
};

extern const struct story story_table[]; /* ended by one without a name */

const struct story *story_find(const char *name); /* NULL: none */
size_t story_n_callouts(const struct story *s);
/*
 * Can it run here, with the capabilities @have? 0, or a negative errno with one sentence in @err.
 */
int story_check(const struct story *s, uint64_t have, struct error *err);

/* The recording that ships: a path by which this process, and its children, can read it. */
enum { STORY_PATH = 64 };
int story_recording(const struct story *s, char ret[STORY_PATH], struct error *err);

/*
 * Runs the workload round after round until @duration_ns is over, or one round if that is 0, in a
 * process of its own that ends with this one. The figures of each round are written to @path, in
 * place of those before, or to @standard if that is NULL. Answers 0, the signal that ended
 * it, or negative with @err. Whatever the end, no process and no cgroup of it stays.
 */
int story_work(const struct story *s, const char *path, FILE *standard, uint64_t duration_ns,
	       struct error *err);

#endif
