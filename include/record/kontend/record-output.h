/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_OUTPUT_H
#define KONTEND_RECORD_OUTPUT_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file made by this process, whatever its name is by now. */
struct record_output_file {
	dev_t dev;
	ino_t ino;
};

/* 0, or negative errno. */
int record_output_know(int fd, struct record_output_file *ret);
/* True if the name refers to this file. */
bool record_output_has(const char *name, const struct record_output_file *f);
/* Removes the name if it refers to this file; leaves any other file alone. */
void record_output_remove(const char *name, const struct record_output_file *f);
/* Renames the file; -EEXIST: the name is taken. */
int record_output_rename(const char *from, const char *to);
/*
 * Renames the file to @path. The old file of that name becomes PATH.old and replaces an older one.
 * After a failure both names are unchanged.
 */
int record_output_put(const char *temp, const char *path, struct error *err);

/*
 * PATH.20261120-143005, and a number after it if that is taken; NULL: no memory. The caller frees
 * it.
 */
char *record_output_part(const char *path);

/* A finished part of a recording that continues in another file. */
struct record_part {
	char *name;
	struct record_output_file file;
};

struct record_parts {
	struct record_part *list; /* the oldest first */
	size_t n, cap;
	uint64_t keep;		    /* limit; 0: all */
	unsigned finished, removed; /* so far */
};

/*
 * Appends the time to the name @path of the file, and removes the oldest part, if its name still
 * refers to it. If @path refers to another file than @file, it does nothing: another process has
 * moved the recording.
 */
int record_parts_add(struct record_parts *p, const char *path,
		     const struct record_output_file *file, struct error *err);
/* Text about the parts, to follow the name of the last file; empty without parts. */
void record_parts_text(const struct record_parts *p, char *buf, size_t size);
void record_parts_deinit(struct record_parts *p);

#endif
