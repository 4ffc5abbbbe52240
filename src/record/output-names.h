/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_OUTPUT_NAMES_H
#define KONTEND_RECORD_OUTPUT_NAMES_H

#include "kontend/error.h"
#include <stdbool.h>
#include <sys/types.h>

/* A file made by this process, whatever its name is by now. */
struct output_file {
	dev_t dev;
	ino_t ino;
};

/* 0, or negative errno. */
int place_know(int fd, struct output_file *ret);
/* True if the name refers to this file. */
bool place_has(const char *name, const struct output_file *f);
/* Removes the name if it refers to this file; leaves any other file alone. */
void output_remove(const char *name, const struct output_file *f);
/* Renames the file; -EEXIST: the name is taken. */
int output_rename(const char *from, const char *to);
/*
 * Renames the file to @path. The old file of that name becomes PATH.old and replaces an older one.
 * After a failure both names are unchanged.
 */
int place_put(const char *temp, const char *path, struct error *err);

#endif
