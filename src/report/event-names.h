/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_NAMES_H
#define KONTEND_EVENT_NAMES_H

#include "kontend/engine.h"

enum { EVENT_NAMES = 1024, EVENT_NAMES_TEXT = 160 };

/*
 * What one event is about, in words, for output that is written event by event: it must not cost a
 * search in all symbols each time, nor memory that grows with the stream. A slot holds the caller
 * of the stack last asked for of those that share it. All texts are clean. `engine` is borrowed.
 */
struct event_names {
	const struct engine *engine;
	struct {
		uint64_t generation; /* of the model, + 1; 0: free */
		uint32_t stack;
		uint64_t addr;
		const char *name; /* as the symbols have it; NULL: not known */
	} callers[EVENT_NAMES];
};

/* The function at @addr, or "0xffff..."; into @buf, which is answered. */
const char *event_names_func(const struct engine *e, uint64_t addr, char buf[EVENT_NAMES_TEXT]);
/* Who waited, by the model's index of the stack; NULL where there is no call chain. */
const char *event_names_caller(struct event_names *n, uint32_t stack, char buf[EVENT_NAMES_TEXT]);
/* The static object that is or holds the lock; NULL: none. */
const char *event_names_object(const struct engine *e, uint64_t lock, char buf[EVENT_NAMES_TEXT]);
/* Of the model's task of that index; NULL where it is not known. */
const char *event_names_comm(const struct engine *e, uint32_t task, char buf[EVENT_NAMES_TEXT]);
/* "SPIN|MUTEX", as the tracepoint prints them. */
const char *event_names_flags(uint32_t flags, char buf[EVENT_NAMES_TEXT]);

#endif
