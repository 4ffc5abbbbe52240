/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_H
#define KONTEND_CMD_H

#include "kontend/error.h"
#include "kontend/journal.h"
#include "kontend/opts.h"

/* Exit statuses besides that of the measured command and 128 + signal. */
enum {
	CMD_EXIT_OK = 0,
	CMD_EXIT_FAILURE = 1,
	CMD_EXIT_NO_DATA = 3,
	CMD_EXIT_USAGE = 129,
	CMD_EXIT_SIGNAL = 128
};

/* Says @err on standard error; answers @status. */
int cmd_fail(int status, const struct error *err);
/* A message on standard error unless --quiet. */
void cmd_say(const struct opts *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with a priority for the journal; an error is printed in any case. */
void cmd_say_as(const struct opts *o, enum journal_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Flushes standard output at the end of a verb whose status is @status: a failure to write turns
 * success into failure; a reader that has gone gives 128 + SIGPIPE and no message.
 */
int cmd_flush(int status);

/* Columns of the terminal that the output goes to; 0: it goes to a file or a pipe. */
int cmd_width(const struct opts *o);
/* The character that --format csv puts between fields. */
char cmd_separator(const struct opts *o);

/* How many threads read a recording: --threads, or as many as there are CPUs for. */
unsigned cmd_threads(const struct opts *o);

/* --percent-limit, 0 without. */
double cmd_percent_limit(const struct opts *o);
struct verdict_limits;
/* --verdict, or the defaults. -EINVAL with @err: a usage error. */
int cmd_verdict(const struct opts *o, struct verdict_limits *ret, struct error *err);
struct query_zoom;
/* --zoom, as queries take it. -EINVAL with @err: a usage error. */
int cmd_zoom(const struct opts *o, struct query_zoom *ret, struct error *err);

#endif
