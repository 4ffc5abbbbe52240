/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MEMFILE_H
#define KONTEND_MEMFILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * A file to write to that is memory of ours (util/mem), unlike open_memstream(3)'s. What does not
 * fit into memory is an error of the file, which ferror(), fflush() or fclose() tells.
 */
struct memfile {
	char *text; /* NULL while nothing was written; behind it is a NUL. For mem_free(). */
	size_t n, cap;
};

/* @m: {0}, and there until the file is closed. NULL: no memory. */
FILE *memfile_open(struct memfile *m);

#endif
