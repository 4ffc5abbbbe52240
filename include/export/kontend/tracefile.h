/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRACEFILE_H
#define KONTEND_TRACEFILE_H

#include "kontend/engine.h"
#include <stdio.h>

/*
 * The waits as a trace, for viewers that show a timeline:
 * TRACEFILE_PERFETTO is the format of Perfetto: tracks per task, CPU and lock, holders, and flows
 * between them. It is written while events come.
 * TRACEFILE_FIREFOX is a profile of the Firefox Profiler in JSON: threads with markers and call
 * chains. It is gathered, and written at the end.
 */
struct tracefile;

enum tracefile_format { TRACEFILE_PERFETTO, TRACEFILE_FIREFOX, TRACEFILE_FORMATS };

struct tracefile_spec {
	enum tracefile_format format;
	const char *version; /* of the program; borrowed */
};

/* Limits of the Perfetto and Firefox formats; whatever exceeds them is counted as left out. */
enum {
	TRACE_LOCKS = 1 << 16,	 /* further locks have waits but no holders */
	TRACE_THREADS = 1 << 18, /* waits of further threads are left out */
	TRACE_STACKS = 1 << 16,	 /* further waits have no call chain */
	TRACE_WAITS = 1 << 20,	 /* gathered for TRACEFILE_FIREFOX */
};

/* 0, -ENOMEM, or -ENOTSUP: not built in; with @err. */
int tracefile_check(enum tracefile_format f, struct error *err);
/* @e and @out are borrowed, @s is copied. Returns as above. */
int tracefile_new(struct tracefile **ret, const struct tracefile_spec *s, struct engine *e,
		  FILE *out, struct error *err);
struct event_filter;
/* Only waits that pass @g, from now on; NULL: all. Borrowed. */
void tracefile_gate(struct tracefile *t, struct event_filter *g);
void tracefile_free(struct tracefile *t); /* NULL is fine; before the engine */
/* The caller sets it as the engine's watch. It returns -EPIPE or another errno when writing
 * fails. */
struct engine_watch *tracefile_watch(struct tracefile *t);
/* Writes the waits in flight and the end of the file. 0, or the errno of a failed write, with
 * @err. */
int tracefile_finish(struct tracefile *t, struct error *err);
/* The number of waits that were left out for lack of room. */
uint64_t tracefile_left_out(const struct tracefile *t);

#endif
