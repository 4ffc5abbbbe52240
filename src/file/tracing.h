/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_TRACING_H
#define KONTEND_SRC_FILE_TRACING_H

#include "kontend/error.h"
#include <stddef.h>
#include <stdint.h>

/*
 * The container of tracepoint formats in perf.data and trace.dat: magic, version, sizes, the ring's
 * own formats, then systems with the text of each event's `format` file, then tables that do not
 * matter here. @fn gets each event; what it answers other than 0 ends the walk and is answered.
 */
typedef int tracing_fn(void *ctx, const char *system, const char *text, size_t len);
int tracing_walk(const void *data, size_t len, tracing_fn *fn, void *ctx, struct error *err);

/* Builds one: header with no events; then systems (in groups) as RECORD_FORMAT bodies. */
struct tracing_event {
	const char *body; /* "SYSTEM\0", text */
	size_t len;
};
/* Bytes needed, put into @buf when they fit into @room. @events of one system stand together. */
size_t tracing_build(const struct tracing_event *events, size_t n, void *buf, size_t room);

#endif
