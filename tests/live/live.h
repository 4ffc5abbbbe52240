/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_LIVE_H
#define KONTEND_TESTS_LIVE_H

#include "json.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum { LIVE_SKIP = 77 };

/*
 * A program that runs beside the test, what it writes caught in memory (and its standard error
 * passed on at the end); dies with the test.
 */
struct live_run {
	const char *name;
	pid_t pid;
	int out, err; /* memory files of its output, which may be read meanwhile */
	int status;   /* as of waitpid(), after live_run_end() */
	char *text;   /* its output, a string */
	size_t len;
};

/* Exits with a message when the program cannot be started. @argv ends with NULL. */
void live_run_start(struct live_run *r, const char *const *argv);
/* Waits until it has written @text to its standard output or error, or has ended. */
bool live_run_says(const struct live_run *r, const char *text);
/* Has this child ended? kill(pid, 0) succeeds for a child until its parent has waited for it. */
bool live_has_ended(pid_t pid);
/* Waits for its end and takes its output. */
void live_run_end(struct live_run *r);
void live_run_deinit(struct live_run *r);
/* Parses the output; exits with the message when it is no JSON. */
void live_run_json(const struct live_run *r, struct json_doc *doc);

/* Exit status, or 128 + signal. */
int live_run_code(const struct live_run *r);

/* Is this a PREEMPT_RT kernel? Then mutexes, spinlocks and rwsems are rt-mutexes. */
bool live_is_rt(void);

/* Exits with LIVE_SKIP and the reason when the kernel would not let us measure at all. */
void live_need_root(void);

/* Prints the message as a failure and exits unless @code is 0. */
void live_must(int code, const struct error *err);

/* Prints the message as a failure and counts it unless @good; returns @good. */
bool live_check(int *failures, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Row of @rows with the given kind ("rwsem:R") and the longest total_ns; NULL: none. */
const struct json *live_worst_row(const struct json *rows, const char *kind);

/* Type and mode of a wait in the truth of a workload, as this kernel reports it: "rwsem:R". */
void live_truth_kind(const struct json *truth, bool writer, char *buf, size_t size);

#endif
