/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_GZIP_H
#define KONTEND_GZIP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Compresses bytes with gzip and writes them to a file. The header has no time, so equal input
 * gives equal output. Built only together with protobuf.h (option pprof of the build).
 */
struct gzip;

/* The caller keeps @out open until gzip_end(). NULL: no memory. */
struct gzip *gzip_new(FILE *out);
/* Errors are kept for gzip_end(). */
void gzip_put(struct gzip *g, const void *data, size_t n);
/* Writes the rest and frees @g. 0, or -EIO if anything could not be compressed or written. */
int gzip_end(struct gzip *g);

#endif
