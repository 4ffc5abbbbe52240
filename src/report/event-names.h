/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EVENT_NAMES_H
#define KONTEND_EVENT_NAMES_H

#include "kontend/engine.h"

#include <stdio.h>

enum {
	EVENT_NAMES = 1024,
	EVENT_NAMES_TEXT = 160,
	EVENT_NAMES_LINE = 1280, /* limit for a line of texts and numbers, in bytes */
};

/*
 * Names of stacks, locks and tasks for output that is written event by event: a lookup must neither
 * search all symbols each time nor need memory that grows with the stream. A slot caches the caller
 * of a stack or the name of a lock for the latest of all those that share it. All texts are clean;
 * those from a slot are valid until the next lookup. `engine` is borrowed.
 */
struct event_names {
	const struct engine *engine;
	struct {
		uint64_t generation; /* the model's + 1; 0: the slot is free */
		uint32_t stack;
		char text[EVENT_NAMES_TEXT];
	} callers[EVENT_NAMES];
	struct {
		uint64_t lock;
		uint32_t n_loads; /* the symbols' + 1; 0: the slot is free */
		bool known;
		char text[EVENT_NAMES_TEXT];
	} objects[EVENT_NAMES];
	char file[EVENT_NAMES_TEXT];
};

/* The symbol at @addr, an address or a frame of the kernel, unchanged. NULL: not known. */
const char *event_names_symbol(const struct engine *e, uint64_t addr);
/* The function at @addr, or "0xffff..."; returns @buf. */
const char *event_names_func(const struct engine *e, uint64_t addr, char buf[EVENT_NAMES_TEXT]);
/* The same of the caller in a chain, which is not empty. */
const char *event_names_outer(const struct engine *e, const uint64_t *frames, uint32_t n,
			      char buf[EVENT_NAMES_TEXT]);
/* The function that waited, by the model's index of the stack; NULL: there is no call chain */
const char *event_names_caller(struct event_names *n, uint32_t stack);
/* The static object that is or contains the lock, or the file that it is of; NULL: none */
const char *event_names_object(struct event_names *n, uint64_t lock);
/* "mutex console_mutex", "rwsem 0xffff... (caller)"; @object and @caller may be NULL. @buf has room
 * for two texts. */
void event_names_lock(char buf[2 * EVENT_NAMES_TEXT], const char *type, const char *object,
		      uint64_t addr, const char *caller);
/* The name of the task with this index in the model; NULL: unknown */
const char *event_names_comm(const struct engine *e, uint32_t task, char buf[EVENT_NAMES_TEXT]);
/* "SPIN|MUTEX", as the tracepoint prints them. */
const char *event_names_flags(uint32_t flags, char buf[EVENT_NAMES_TEXT]);

/*
 * The function in which a task sleeps: the innermost one of @frames outside of the scheduler, in
 * @buf. NULL: not known.
 */
const char *event_names_sleep(const struct engine *e, const uint64_t *frames, uint32_t n,
			      char buf[EVENT_NAMES_TEXT]);

#endif
