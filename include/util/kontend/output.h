/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OUTPUT_H
#define KONTEND_OUTPUT_H

#include "kontend/error.h"
#include "kontend/newfile.h"
#include <stdbool.h>
#include <stdio.h>

/*
 * Where a report goes: standard output, or a file that gets its name only when it is complete, so
 * that a failure leaves what was there before. What is no regular file (a pipe, /dev/null) is
 * written to as it is. Or it is sent somewhere, all of it, at the end.
 */
struct output {
	FILE *file;
	char *path;	     /* NULL: standard output */
	struct newfile made; /* what is written to, until it gets the name at the end */
	bool is_new;	     /* false: `path` is written to directly */
	/* Sends it to @path when it is complete, which is no file then; NULL: it is one. 1 with
	 * @err: it went well, and there is something to say. */
	int (*send)(int fd, const char *to, struct error *err);
	/* Somebody else renames it, sends @fd (-1: it is not sent), or with @give_up removes it;
	 * NULL: we do. */
	int (*put)(void *ctx, int fd, bool give_up, struct error *err);
	void *put_ctx;
	char *block; /* what is collected before it is written; standard output keeps its own */
};

/*
 * A descriptor of what is no regular file. A FIFO that nobody reads yet is waited for, until a
 * signal comes, even if it is blocked: -EINTR.
 */
int output_open_special(const char *path);
/* @path NULL: to @standard. */
int output_open(struct output *o, const char *path, FILE *standard, struct error *err);
/* In memory until @send gets it. */
int output_open_sent(struct output *o, const char *to,
		     int (*send)(int fd, const char *to, struct error *err), struct error *err);
/* Everything is written: flushes and renames. -EPIPE: the reader has gone; 1: see send(). */
int output_commit(struct output *o, struct error *err);
/* The sentence for a write that failed with @code; -EPIPE gets none. Answers @code. */
int output_failed(const struct output *o, int code, struct error *err);
/* Sends what was written in @fd, renames it, if it has another name, or removes it. */
int output_put(struct output *o, int fd, bool give_up, struct error *err);
/* Gives up what is not committed. */
void output_close(struct output *o);

#endif
