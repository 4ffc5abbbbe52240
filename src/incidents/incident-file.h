/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_INCIDENT_FILE_H
#define KONTEND_INCIDENTS_INCIDENT_FILE_H

#include "kontend/backlog.h"
#include "kontend/incident.h"
#include "kontend/record-output.h"
#include "kontend/textsnap.h"
#include "retain.h"
#include <stdint.h>

/* Options of all files of one session. Borrowed. */
struct incident_options {
	const char *dir;
	int zstd_level;		   /* 0: not compressed */
	const char *const *argv;   /* the command line, NULL-terminated; NULL: none */
	const struct record *text; /* code of the kernel, a snapshot; NULL: none */
	bool has_samples;	   /* name functions of programs */
	struct codesource *code;   /* of the kernel; NULL: none */
	bool keep_symbols;	   /* cache symbols of programs for the next run */
};

/* A file to be written, then its result. */
struct incident_job {
	struct incident_job *next;
	struct incident incident;
	struct backlog_taken taken; /* owned */
	bool goes_on;	  /* first cut of an incident that continues: a second file has all of it */
	uint64_t wall_ns; /* time of the trigger, used in the file's name */
	char *path;	  /* of the file; NULL: no file */
	uint64_t bytes;
	struct error err; /* code 0: no error */
	/* Limits for incident files at that time by the retain clock, and the result. */
	struct retain_limits keep;
	uint64_t keep_ns;
	struct retain_stat kept;
	struct error kept_err, note; /* a second message; code 0: none */
};

void incident_job_free(struct incident_job *j); /* NULL is fine */

/*
 * Writes the file: with suffix ".part" until it is completely on disk, and locked meanwhile, so
 * that other processes do not take it for one left by a killed process. 0 or negative, as in
 * j->err; then the file is removed.
 */
int incident_file_write(const struct incident_options *o, struct incident_job *j);

/*
 * The first cut of an incident that continues, in case this process is killed before its end: a
 * whole recording, locked like a file being written.
 */
struct incident_begun {
	char *path, *temp; /* NULL: none */
	int fd;
	struct record_output_file place;
	uint64_t bytes;
};

int incident_file_begin(const struct incident_options *o, struct incident_job *j,
			struct incident_begun *ret);
/* The whole file is there: removes this one. */
void incident_begun_drop(struct incident_begun *b);
/* Leaves it under its temporary name, as if this process had been killed. */
void incident_begun_leave(struct incident_begun *b);
/* No other file will follow: makes it a file of its own. 0 or negative; *ret_path: free it. */
int incident_begun_keep(struct incident_begun *b, char **ret_path, struct error *err);

/*
 * kontend-20261121-031407-wait.data, in local time. A first cut has -begun after the word; @n > 1
 * is appended to that.
 */
enum { INCIDENT_NAME = 64 };
void incident_file_name(char buf[INCIDENT_NAME], const struct incident_job *j, unsigned n);
/* True for such a name. *ret_part: the file is not complete yet. */
bool incident_file_is_name(const char *name, bool *ret_part);

/* A thread that writes incident files one after another during the measurement. */
struct incident_thread;

/* @o must outlive it. Call with all signals blocked. */
int incident_thread_new(struct incident_thread **ret, const struct incident_options *o,
			struct error *err);
/* Takes over @j. -EAGAIN: not taken, because the queue is full. */
enum { INCIDENT_THREAD_MOST = 4 };
int incident_thread_put(struct incident_thread *t, struct incident_job *j);
/* The next finished file, in order; the caller frees it. NULL: none. */
struct incident_job *incident_thread_done(struct incident_thread *t);
/* Number of unfinished files. */
unsigned incident_thread_left(struct incident_thread *t);
/* Polls readable when a file is finished. */
int incident_thread_fd(const struct incident_thread *t);
/* Ends the thread after its current file and drops the queue. NULL is fine. */
void incident_thread_free(struct incident_thread *t);

#endif
