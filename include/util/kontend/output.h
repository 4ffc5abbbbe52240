/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OUTPUT_H
#define KONTEND_OUTPUT_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stdio.h>

/*
 * Where a report goes: standard output, or a file that gets its name only when it is complete, so
 * that a failure leaves what was there before. What is no regular file (a pipe, /dev/null) is
 * written to as it is.
 */
struct output {
	FILE *file;
	char *path; /* NULL: standard output */
	char *temp; /* written to; renamed to path at the end; NULL: written to directly */
	/* Somebody else renames it, or with @give_up removes it; NULL: we do. */
	int (*put)(void *ctx, bool give_up, struct error *err);
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
/* Everything is written: flushes and renames. -EPIPE: the reader has gone. */
int output_commit(struct output *o, struct error *err);
/* The sentence for a write that failed with @code; -EPIPE gets none. Answers @code. */
int output_failed(const struct output *o, int code, struct error *err);
/* Renames what was written, if it has another name, or removes it. */
int output_put(struct output *o, bool give_up, struct error *err);
/* Gives up what is not committed. */
void output_close(struct output *o);

#endif
