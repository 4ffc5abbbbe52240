/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRACE_H
#define KONTEND_TRACE_H

#include "kontend/error.h"
#include "kontend/event.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Tracepoint formats, parsed once by libtraceevent; after that a field is a plain load at a known
 * offset. Only src/decode/trace.c uses libtraceevent.
 */
struct trace;

struct trace_field {
	uint16_t offset; /* from the start of the raw data */
	uint16_t size;	 /* 1, 2, 4 or 8 */
};

struct trace_event {
	uint32_t id;
	enum event_kind kind;	 /* EVENT_NONE: not used by kontend */
	struct trace_field lock; /* lock_addr, or hrtimer */
	struct trace_field arg;	 /* flags (begin), ret (end), function (entry); size 0: none */
	struct trace_field pid;	 /* common_pid; size 0: none */
	/* Of mmap_locks, whose `lock` is the mm; `arg`: for writing or not. */
	struct trace_field success; /* size 0: none, always successful */
	struct trace_field memcg;   /* its id, or (size 4) the offset of its path; size 0: none */
	/* Of tries to lock a file, whose `lock` is the inode's number; `arg`: the result. */
	struct trace_field dev, flags, type;
	struct trace_field start, end; /* size 0: it is the whole file, or not known */
	struct trace_field owner;      /* what has the lock then; size 0: not known */
};

int trace_new(struct trace **ret, struct error *err);
void trace_free(struct trace *t);

/* EVENT_NONE: kontend does not use this tracepoint. */
enum event_kind trace_kind(const char *system, const char *name);

/* Parses the text of a format file of tracing system @system; -EINVAL if it is none. */
int trace_parse(struct trace *t, const char *system, const char *text, size_t len,
		struct trace_event *ret, struct error *err);

#endif
