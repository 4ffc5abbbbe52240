/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_TRACING_H
#define KONTEND_SRC_FILE_TRACING_H

#include "writer.h"

/*
 * The container of tracepoint formats in perf.data and trace.dat: magic, version, sizes, the ring's
 * own formats, then systems with the text of each event's `format` file, then tables that are not
 * needed here. @fn gets each event; a result other than 0 ends the walk and is returned.
 */
typedef int tracing_fn(void *ctx, const char *system, const char *text, size_t len);
int tracing_walk(const void *data, size_t len, tracing_fn *fn, void *ctx, struct error *err);

/* Adds @n RECORD_FORMAT bodies, those of one system together. 0 or -ENOMEM. */
int tracing_build(const struct writer_bytes *formats, size_t n, struct writer_bytes *b);

#endif
