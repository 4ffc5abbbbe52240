/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_VERDICT_H
#define KONTEND_QUERY_VERDICT_H

#include "kontend/figure.h"
#include "kontend/query-elsewhere.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"

/* One sentence about the worst of what is measured, by rules with limits: kontend-views(7). */

/* From good to bad. */
enum verdict_level {
	VERDICT_NONE,  /* there is nothing to judge: no events of locks */
	VERDICT_QUIET, /* nothing was waited for */
	VERDICT_OK,
	VERDICT_LOOK,
	VERDICT_LOST, /* so much is missing that what is below says little */
	VERDICT_BAD,
	VERDICT_LEVELS,
};

enum verdict_rule {
	VERDICT_DEADLOCK,  /* deadlocks that are proved */
	VERDICT_INVERSION, /* ns that a task has waited by now in a priority inversion */
	VERDICT_WAIT,	 /* time waited, in percent of the time of all CPUs, but for the next one */
	VERDICT_USER,	 /* the same for locks of programs */
	VERDICT_LONGEST, /* ns that a task has waited by now; of a report, the longest wait */
	VERDICT_BLOCKED, /* ns that a task is blocked by now, other than by a lock, and not by
			    design */
	VERDICT_SPIN,	 /* time that threads burn in a spin loop of a program while they keep a
			    thread of it off its CPU, in percent of one CPU */
	VERDICT_SLOTS,	 /* slots of a CPU that are taken, in percent */
	VERDICT_SHORT,	 /* perf events that get a part of their time */
	VERDICT_ROTATION, /* time that rotation takes, in percent of one CPU */
	VERDICT_UPROBES,  /* time that uprobes take, in percent of one CPU */
	VERDICT_XOL,	  /* tasks that wait for an out-of-line slot */
	VERDICT_DAMAGE,	  /* parts of a recording that cannot be read: LOOK is VERDICT_LOST */
	VERDICT_MISSING,  /* records that were lost, in percent: its BAD is VERDICT_LOST */
	VERDICT_RULES,
};

/* From where on a figure is worth a look, and bad; 0: never. */
struct verdict_limits {
	struct verdict_limit {
		double look, bad;
	} of[VERDICT_RULES];
};

extern const struct verdict_limits verdict_defaults;
/*
 * "wait=5/50 longest=100ms/1s slots=off": changes @l. -EINVAL with @err; @l is undefined then.
 */
int query_verdict_parse(const char *text, struct verdict_limits *l, struct error *err);
const char *query_verdict_level(enum verdict_level l); /* "none", "quiet", ... */
const char *query_verdict_word(enum verdict_level l);  /* as the screen has it: "BAD" */
const char *query_verdict_rule(enum verdict_rule r);

/* Answers that a page has already. */
struct query_verdict_facts {
	const struct query_overview *now;
	const struct query_perf_sum *perf;
	const struct query_rotation_sum *rotation;
	const struct query_uprobe_sum *uprobe;
	const struct verdict_limits *limits; /* NULL: verdict_defaults */
	bool average; /* of all that was measured, not of the last closed bucket */
};

/* The finding of one rule. Texts lie in the query's arena. */
struct query_finding {
	enum verdict_level level;
	enum verdict_rule rule; /* from VERDICT_LOOK on */
	const char *level_name; /* of `level` */
	const char *rule_name;	/* of `rule`; NULL: none */
	const char *text;	/* a sentence without a full stop */
	const char *name;	/* in `text`: may be cut to make it fit; NULL: there is none */
	const char *word;	/* the end of `name`, without which it says nothing; NULL */
	const char *spare;	/* in `text`: may be left out to make it fit, before; NULL */
	const char *longest;	/* the end of `text`: may be left out before `name` is cut; NULL */
	const char *because;	/* of the same: what or who causes it; NULL: not known */
	uint64_t lock;		/* id of the row by lock; 0: it is about none */
	/* Lines of programs: where most of the waiting for that lock is, in which system call, and
	 * where its holder is; NULL: not known. */
	const char *at, *syscall, *owner_at;
};

struct query_verdict {
	struct query_finding worst;		      /* or that nothing is wrong */
	struct query_finding findings[VERDICT_RULES]; /* the worst first; none below VERDICT_LOOK */
	uint32_t n_findings;
	uint32_t more;			  /* of them, beside the worst */
	struct query_elsewhere elsewhere; /* who waits for what is no kernel lock */
};

/* 0 or -ENOMEM. Texts lie in the query's arena. */
int query_verdict(struct query *q, const struct query_verdict_facts *f, struct query_verdict *ret);

/* Of struct query_verdict, and of each of its findings. */
extern const struct figure query_verdict_figures[], query_finding_figures[];

#endif
