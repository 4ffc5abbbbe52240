/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_PLACE_H
#define KONTEND_RECORD_PLACE_H

#include "kontend/error.h"
#include <stdbool.h>
#include <sys/types.h>

/* A file that we have made, whatever its name is by now. */
struct output_file {
	dev_t dev;
	ino_t ino;
};

/* 0, or negative errno. */
int place_know(int fd, struct output_file *ret);
/* Does the name stand for this file? */
bool place_has(const char *name, const struct output_file *f);
/* Removes the name if it stands for this file, and leaves any other alone. */
void output_remove(const char *name, const struct output_file *f);
/* Gives the file another name, which must be free: -EEXIST. */
int output_rename(const char *from, const char *to);
/*
 * The file gets the name @path; what had it becomes PATH.old, and what was called so is gone then.
 * After a failure both are what they were.
 */
int place_put(const char *temp, const char *path, struct error *err);

#endif
