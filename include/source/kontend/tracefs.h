/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRACEFS_H
#define KONTEND_TRACEFS_H

#include "kontend/error.h"
#include <stddef.h>
#include <stdint.h>

enum { TRACEFS_PATH = 256 };

/*
 * Where tracefs is mounted, by the text of @mounts ("/proc/self/mounts"): a tracefs itself, else
 * the "tracing" directory of a debugfs. 0, or -ENOENT.
 */
int tracefs_search(const char *mounts, char ret_path[TRACEFS_PATH]);
/* The same; mounts it at /sys/kernel/tracing if it is not mounted and this process may. */
int tracefs_find(char ret_path[TRACEFS_PATH], struct error *err);

/* A tracepoint as perf_event_open() and decode need it. `= {0}` is empty. */
struct tracepoint {
	uint32_t id;
	char *format; /* text of its format file, NUL-terminated */
	size_t format_len;
};

/* Reads events/@system/@event below @path (a tracefs). */
int tracepoint_read(struct tracepoint *tp, const char *path, const char *system, const char *event,
		    struct error *err);
void tracepoint_deinit(struct tracepoint *tp);

/* The text of an error for @code (negative) and @file of a tracefs; a pure function. */
struct tracefs_failure {
	int code;
	const char *file;
	const char *release;  /* uname -r */
	const char *lockdown; /* "none", "integrity", "confidentiality", "" = unknown */
	const char *exe;      /* path of this program, for the setcap line */
	int root;	      /* effective uid is 0 */
	int has_system;	      /* the directory of the event's system exists */
};
int tracefs_explain(const struct tracefs_failure *f, struct error *err);

#endif
