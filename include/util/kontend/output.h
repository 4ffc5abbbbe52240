/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OUTPUT_H
#define KONTEND_OUTPUT_H

#include "kontend/error.h"
#include "kontend/newfile.h"
#include <stdbool.h>
#include <stdio.h>

/*
 * Output of a report: standard output, or a file that gets its name only when it is complete, so
 * that a failure leaves the old file. Pipes, devices and other special files are written directly.
 * Or the complete output is sent at the end.
 */
struct output {
	FILE *file;
	char *path;	     /* NULL: standard output */
	struct newfile made; /* the file being written, until it gets its name */
	bool is_new;	     /* false: `path` is written to directly */
	/* Sends the complete output to @path, which then is no file; NULL: it is one. 1 with @err:
	 * success, with a message. */
	int (*send)(int fd, const char *to, struct error *err);
	/* The sandbox broker renames the file, sends @fd (-1: not sent), or with @give_up removes
	 * the file; NULL: this process does. */
	int (*put)(void *ctx, int fd, bool give_up, struct error *err);
	void *put_ctx;
	char *block; /* collects data before it is written; standard output has its own */
};

/*
 * Opens a file that is not regular. For a FIFO it waits for a reader, until a signal arrives, even
 * a blocked one: -EINTR.
 */
int output_open_special(const char *path);
/* Without @path: to @standard. */
int output_open(struct output *o, const char *path, FILE *standard, struct error *err);
/* Collects in memory for @send. */
int output_open_sent(struct output *o, const char *to,
		     int (*send)(int fd, const char *to, struct error *err), struct error *err);
/* All is written: flushes and renames. -EPIPE: the reader has gone; 1: see send(). */
int output_commit(struct output *o, struct error *err);
/* Sets the message for a write that failed with @code; none for -EPIPE. Returns @code. */
int output_failed(const struct output *o, int code, struct error *err);
/* Sends the data in @fd, renames the file if it needs a name, or removes it. */
int output_put(struct output *o, int fd, bool give_up, struct error *err);
/* Discards output that is not committed. */
void output_close(struct output *o);

#endif
