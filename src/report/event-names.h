/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_NAMES_H
#define KONTEND_EVENT_NAMES_H

#include "kontend/engine.h"

#include <stdio.h>

enum {
	EVENT_NAMES = 1024,
	EVENT_NAMES_TEXT = 160,
	EVENT_NAMES_LINE = 1024, /* bytes of a line of texts and numbers, at most */
};

/*
 * What one event is about, in words, for output that is written event by event: it must not cost a
 * search in all symbols each time, nor memory that grows with the stream. A slot holds the caller
 * of the stack, or the name of the lock, last asked for of those that share it. All texts are
 * clean; those out of a slot are valid until the next one is asked for. `engine` is borrowed.
 */
struct event_names {
	const struct engine *engine;
	struct {
		uint64_t generation; /* of the model, + 1; 0: free */
		uint32_t stack;
		char text[EVENT_NAMES_TEXT];
	} callers[EVENT_NAMES];
	struct {
		uint64_t lock;
		uint32_t n_loads; /* of the symbols, + 1; 0: free */
		bool known;
		char text[EVENT_NAMES_TEXT];
	} objects[EVENT_NAMES];
};

/* The function at @addr, or "0xffff..."; into @buf, which is answered. */
const char *event_names_func(const struct engine *e, uint64_t addr, char buf[EVENT_NAMES_TEXT]);
/* Who waited, by the model's index of the stack; NULL where there is no call chain. */
const char *event_names_caller(struct event_names *n, uint32_t stack);
/* The static object that is or holds the lock; NULL: none. */
const char *event_names_object(struct event_names *n, uint64_t lock);
/* "mutex console_mutex", "rwsem 0xffff... (caller)"; NULL: not known. @buf has room for two. */
void event_names_lock(char buf[2 * EVENT_NAMES_TEXT], const char *type, const char *object,
		      uint64_t addr, const char *caller);
/* Of the model's task of that index; NULL where it is not known. */
const char *event_names_comm(const struct engine *e, uint32_t task, char buf[EVENT_NAMES_TEXT]);
/* "SPIN|MUTEX", as the tracepoint prints them. */
const char *event_names_flags(uint32_t flags, char buf[EVENT_NAMES_TEXT]);

#endif
