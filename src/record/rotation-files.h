/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_PARTS_H
#define KONTEND_RECORD_PARTS_H

#include "kontend/error.h"
#include "output-names.h"
#include <stddef.h>
#include <stdint.h>

/* A finished part of a recording that continues in another file. */
struct record_part {
	char *name;
	struct output_file file;
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
int record_parts_add(struct record_parts *p, const char *path, const struct output_file *file,
		     struct error *err);
/* Text about the parts, to follow the name of the last file; empty without parts. */
void record_parts_text(const struct record_parts *p, char *buf, size_t size);
void record_parts_deinit(struct record_parts *p);

#endif
