/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRACEFILE_H
#define KONTEND_TRACEFILE_H

#include "kontend/engine.h"
#include <stdio.h>

/*
 * The waits as a trace, for viewers that show a timeline:
 * TRACEFILE_CHROME    Trace Event Format, JSON: a pair of async events each, one track a lock
 * TRACEFILE_PERFETTO  Perfetto's own format: tracks per task, CPU and lock, holders, flows between
 * them TRACEFILE_FIREFOX   a profile of the Firefox Profiler, JSON: threads with markers and call
 * chains The first two are written while events come, the last one is gathered and written in the
 * end.
 */
struct tracefile;

enum tracefile_format {
	TRACEFILE_CHROME,
	TRACEFILE_PERFETTO,
	TRACEFILE_FIREFOX,
	TRACEFILE_FORMATS
};

struct tracefile_spec {
	enum tracefile_format format;
	const char *version; /* of the program; borrowed */
};

/* Bounds of what Perfetto's and Firefox's have apart; what has no room is counted as left out. */
enum {
	TRACE_LOCKS = 1 << 16,	 /* beyond it waits are there, but no holders */
	TRACE_THREADS = 1 << 18, /* beyond it waits are left out */
	TRACE_STACKS = 1 << 16,	 /* beyond it there are no call chains */
	TRACE_WAITS = 1 << 20,	 /* that TRACEFILE_FIREFOX gathers */
};

/* 0, -ENOMEM, or -ENOTSUP: it was not built in; with @err. */
int tracefile_check(enum tracefile_format f, struct error *err);
/* @e and @out are borrowed, @s is copied. The same answers. */
int tracefile_new(struct tracefile **ret, const struct tracefile_spec *s, struct engine *e,
		  FILE *out, struct error *err);
struct event_filter;
/* Only of waits that pass, from now on; NULL: of all. Borrowed. */
void tracefile_gate(struct tracefile *t, struct event_filter *g);
void tracefile_free(struct tracefile *t); /* NULL is fine; before the engine */
/* To be set as the engine's watch. It answers -EPIPE or another errno when writing fails. */
struct engine_watch *tracefile_watch(struct tracefile *t);
/* The waits in flight and the end of the file. 0, or the errno of a failed write, with @err. */
int tracefile_finish(struct tracefile *t, struct error *err);
/* Waits that were left out, as there was no room for them. */
uint64_t tracefile_left_out(const struct tracefile *t);

#endif
