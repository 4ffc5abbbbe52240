/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STDIN_COPY_H
#define KONTEND_STDIN_COPY_H

#include "kontend/error.h"
#include <stdbool.h>

/*
 * A recording that can be read again: a regular file as it is; what comes through a pipe ("-":
 * standard input) is copied to a file without a name first, which is gone with its descriptor.
 */
struct stdin_copy {
	char path[64]; /* to be opened; "" = the path that was given */
	int fd;	       /* -1: nothing is copied */
	int from;      /* what is; -1: nothing */
};

/* Opens the input and the file for the copy; nothing is read. */
int stdin_copy_open(struct stdin_copy *s, const char *path, struct error *err);
/*
 * A copy that takes long shows its progress on a terminal, unless @quiet. Input that does not begin
 * as a recording is not copied on: -EINVAL.
 */
int stdin_copy_fill(struct stdin_copy *s, const char *path, bool quiet, struct error *err);
void stdin_copy_close(struct stdin_copy *s);

#endif
