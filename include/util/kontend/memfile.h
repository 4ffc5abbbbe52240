/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MEMFILE_H
#define KONTEND_MEMFILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * A FILE that writes to memory of kontend (util/mem), unlike open_memstream(3)'s. Without memory,
 * ferror(), fflush() or fclose() report an error.
 */
struct memfile {
	char *text; /* NULL before the first write; followed by a NUL. For mem_free(). */
	size_t n, cap;
};

/* @m: {0}; must stay until the file is closed. NULL: no memory. */
FILE *memfile_open(struct memfile *m);

#endif
