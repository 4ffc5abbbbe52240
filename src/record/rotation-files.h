/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_PARTS_H
#define KONTEND_RECORD_PARTS_H

#include "kontend/error.h"
#include "output-names.h"
#include <stddef.h>
#include <stdint.h>

/* The finished files of a recording that goes on in another one. */
struct record_part {
	char *name;
	struct output_file file;
};

struct record_parts {
	struct record_part *list; /* the oldest first */
	size_t n, cap;
	uint64_t keep;		    /* at most so many; 0: all */
	unsigned finished, removed; /* so far */
};

/*
 * The file called @path gets the time behind its name, and the oldest gives way, if it still is the
 * one that was made. Where @path stands for another one than @file nothing is done: somebody has
 * moved ours.
 */
int record_parts_add(struct record_parts *p, const char *path, const struct output_file *file,
		     struct error *err);
/* What to say of them behind the name of the last file; nothing where there are none. */
void record_parts_text(const struct record_parts *p, char *buf, size_t size);
void record_parts_deinit(struct record_parts *p);

#endif
