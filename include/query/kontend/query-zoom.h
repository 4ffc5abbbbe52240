/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ZOOM_H
#define KONTEND_QUERY_ZOOM_H

#include "kontend/error.h"
#include <stddef.h>
#include <stdint.h>

/* A part of the profile: what all of its terms hold for. Samples count, and so do waits. */
enum query_zoom_kind {
	ZOOM_PID,    /* process */
	ZOOM_TID,    /* thread of that number, at any time */
	ZOOM_TASK,   /* one thread, by its serial number */
	ZOOM_COMM,   /* threads of that name */
	ZOOM_OBJECT, /* samples in that file or module; waits whose call chain passes it */
	ZOOM_GROUP,
	ZOOM_CPU,
	QUERY_ZOOM_KINDS,
};

enum { QUERY_ZOOM_TERMS = 8, QUERY_ZOOM_NAME = 112 };

struct query_zoom {
	struct query_zoom_term {
		enum query_zoom_kind kind;
		uint64_t id;		    /* by kind: number, serial, hash of the name, group */
		char name[QUERY_ZOOM_NAME]; /* as it is shown; of objects and names what is meant */
	} terms[QUERY_ZOOM_TERMS];
	size_t n;
};

#define QUERY_ZOOM_NAMES "pid, tid, comm, object, group or cpu"
struct pathgroups;
/* @own: groups of one's own, or NULL. Adds "pid=123", "comm=mm", "object=libc.so.6", ... -EINVAL
 * with @err. */
int query_zoom_parse(const char *s, const struct pathgroups *own, struct query_zoom *z,
		     struct error *err);
/* "process", "thread", ... : how a term is called where it is shown. */
const char *query_zoom_kind_name(enum query_zoom_kind kind);

#endif
