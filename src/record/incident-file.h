/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_INCIDENT_FILE_H
#define KONTEND_RECORD_INCIDENT_FILE_H

#include "kontend/backlog.h"
#include "kontend/codesource.h"
#include "kontend/incident.h"
#include "output-names.h"
#include "retain.h"
#include <stdint.h>

/* All that the files of one session have in common. Borrowed. */
struct incident_options {
	const char *dir;
	int zstd_level;		   /* 0: not compressed */
	const char *const *argv;   /* the command line, NULL-terminated; NULL: none */
	const struct record *text; /* code of the kernel, a snapshot; NULL: none */
	bool has_samples;	   /* functions of programs are to be named */
	struct codesource *code;   /* of the kernel; NULL: none */
	bool keep_symbols;	   /* of programs, for the next time */
};

/* One that is to be written, and then what has become of it. */
struct incident_job {
	struct incident_job *next;
	struct incident incident;
	struct backlog_taken taken; /* ours */
	bool goes_on;		    /* a beginning: more comes, and then all of it once more */
	uint64_t wall_ns;	    /* when it fired: what the file is named after */
	char *path;		    /* of the file; NULL: there is none */
	uint64_t bytes;
	struct error err; /* code 0: all is well */
	/* What may stay of all files then, by this clock; and what did. */
	struct retain_limits keep;
	uint64_t keep_ns;
	struct retain_stat kept;
	struct error kept_err, note; /* what else is to be said; code 0: nothing */
};

void incident_job_free(struct incident_job *j); /* NULL is fine */

/*
 * Writes the file: under a name with ".part" behind it until all of it is on the disk, locked
 * meanwhile, so that others know it from what somebody has left who was killed. 0 or negative, as
 * in j->err; then nothing of it stays.
 */
int incident_file_write(const struct incident_options *o, struct incident_job *j);

/*
 * What there is of an incident that goes on, for who finds it should this process be killed before
 * its end: a recording that is whole, and locked like one that is being written.
 */
struct incident_begun {
	char *path, *temp; /* NULL: there is none */
	int fd;
	struct output_file place;
	uint64_t bytes;
};

int incident_file_begin(const struct incident_options *o, struct incident_job *j,
			struct incident_begun *ret);
/* The whole file is there: it is not needed any more. */
void incident_begun_drop(struct incident_begun *b);
/* It stays under its other name, as if this process had been killed. */
void incident_begun_leave(struct incident_begun *b);
/* There will be no other: it becomes a file of its own. 0 or negative; *ret_path: free it. */
int incident_begun_keep(struct incident_begun *b, char **ret_path, struct error *err);

/*
 * kontend-20261121-031407-wait.data; a beginning has -begun behind the word; @n > 1: with that
 * behind it. Local time.
 */
enum { INCIDENT_NAME = 64 };
void incident_file_name(char buf[INCIDENT_NAME], const struct incident_job *j, unsigned n);
/* Is it such a name? *ret_part: of a file that is not whole yet. */
bool incident_file_is_name(const char *name, bool *ret_part);

#endif
