/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_MEASURE_H
#define KONTEND_CMD_MEASURE_H

#include "kontend/output.h"
#include "kontend/progress.h"
#include "kontend/query-load.h"
#include "kontend/run.h"
#include "kontend/sandboxed.h"
#include "kontend/source.h"
#include "kontend/time-range.h"
#include "session/stall.h"

/* A measurement without a screen, or the reading of a recording, from start to end. */
struct measure {
	const struct opts *o;
	struct run run;
	struct measure_job *job;
	struct output output; /* where --output says; file NULL: the job sees to it */
	int signal_fd;
	uint64_t deadline_ns; /* 0 = none */
	uint64_t next_ns;     /* of the job's every() */
	bool stopped;
	int signal; /* the first that came, 0 = none */
	bool give_up;
	struct time_range range; /* --time */
	uint64_t range_ns;	 /* --time is where a part of this length ends; 0: FROM,TO */
	bool no_data;		 /* the output is empty, as the recording lacks such events */
	bool bad_usage;		 /* --time makes no sense here */
	struct progress progress;
	struct sandboxed sandboxed;
	struct stall stall; /* the reader of the output may block it */
};

/*
 * The part of a verb. First member of the verb's own struct. Answers are 0 or a negative errno with
 * @err; -EPIPE (the reader of the output has gone) ends the program without a word.
 */
struct measure_job {
	const char *also;	 /* another recording that is read; NULL: none */
	const char *const *more; /* others, to a NULL; NULL: none */
	bool many;		 /* no recording is the first: finish() reads all of them */
	bool held;		 /* how long locks are held is asked for */
	bool blame;		 /* because of whom is waited is */
	bool heat;		 /* when waits ended and how long they were is */
	bool look; /* what it shows is there at once: without an end asked for, a look is enough */
	/* The engine is there, no event has come yet. NULL: nothing to do. */
	int (*begin)(struct measure_job *j, struct measure *m, struct error *err);
	/* The same of another recording, by measure_read(). NULL: nothing to do. */
	int (*begin_other)(struct measure_job *j, struct run *run, struct error *err);
	/* Not NULL: --output is an address, to which it sends what was written. */
	int (*send)(int fd, const char *to, struct error *err);
	/*
	 * Not NULL: called at once, and then every --interval; any signal is then the ordinary end,
	 * and the job opens --output itself.
	 */
	int (*every)(struct measure_job *j, struct measure *m, struct error *err);
	/* Behind each step of the engine. NULL: nothing to do. */
	void (*pumped)(struct measure_job *j);
	/* All events have come: writes what is left to write to m->output. */
	int (*finish)(struct measure_job *j, struct measure *m, struct error *err);
	/* Whatever happened, while the engine is still there. NULL: nothing to do. */
	void (*end)(struct measure_job *j);
};

/*
 * Reads a whole recording into @run, beside what @m is about, and stops for the same signals: then
 * -EINTR. The caller gives @run back.
 */
int measure_read(struct measure *m, struct run *run, const char *path, struct error *err);
/* The two halves of it. */
int measure_open(struct measure *m, struct run *run, const char *path, struct error *err);
int measure_read_opened(struct measure *m, struct run *run, const char *path, struct error *err);

/*
 * The gate of a verb that judges waits one at a time. Of a recording all is read first into @known,
 * if @filter is about names, so that a wait is judged by the names at the end. A pipe cannot be
 * read twice, and a message reports it. The caller gives @known back after the gate.
 */
struct event_filter;
int measure_gate(struct measure *m, struct run *known, const char *filter,
		 struct event_filter **ret, struct error *err);

/* @run gets at recordings as @m does. */
void measure_sandbox(struct measure *m, struct run *run);

/* For results that have no place for it: prints that records are missing from them. */
void measure_say_losses(const struct measure *m);
/* Without lock events: prints @hint, how to get the profile, and the exit status is
 * CMD_EXIT_NO_DATA. */
void measure_say_no_locks(struct measure *m, const char *hint);
/* Prints messages about names that were loaded. */
void measure_say_names(const struct measure *m, struct query *q);

/*
 * Measures as @o says and lets @j write. Says errors and messages itself; the answer is the exit
 * status.
 */
int measure_run(const struct opts *o, struct measure_job *j);

#endif
