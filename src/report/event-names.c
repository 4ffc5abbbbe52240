// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of callers are kept in a table of one way: the slot of a stack is its index modulo the
 * size, and a stack that comes to a slot that another one has takes it over. A run of events has
 * few stacks, so nearly all find theirs. The model's generation is part of the key, since indices
 * of stacks and the texts of symbols are given again with it.
 */
#include "event-names.h"
#include "kontend/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *event_names_func(const struct engine *e, uint64_t addr, char buf[EVENT_NAMES_TEXT])
{
	const char *name = sym_name(&e->sym, addr, NULL);

	if (name)
		return text_clean(buf, EVENT_NAMES_TEXT, name);
	snprintf(buf, EVENT_NAMES_TEXT, "0x%" PRIx64, addr);
	return buf;
}

const char *event_names_caller(struct event_names *n, uint32_t stack, char buf[EVENT_NAMES_TEXT])
{
	const struct stack_table *t = &n->engine->model.stacks;
	uint64_t generation = n->engine->model.generation + 1;
	uint32_t slot = stack % EVENT_NAMES;

	if (stack == STACK_OTHER || stack >= t->n || !t->stacks[stack].n)
		return NULL;
	if (n->callers[slot].generation != generation || n->callers[slot].stack != stack) {
		const uint64_t *frames = stack_frames(t, stack);
		const struct sym *s = &n->engine->sym;

		n->callers[slot].generation = generation;
		n->callers[slot].stack = stack;
		n->callers[slot].addr = frames[sym_caller(s, frames, t->stacks[stack].n)];
		n->callers[slot].name = sym_name(s, n->callers[slot].addr, NULL);
	}
	if (n->callers[slot].name)
		return text_clean(buf, EVENT_NAMES_TEXT, n->callers[slot].name);
	snprintf(buf, EVENT_NAMES_TEXT, "0x%" PRIx64, n->callers[slot].addr);
	return buf;
}

const char *event_names_object(const struct engine *e, uint64_t lock, char buf[EVENT_NAMES_TEXT])
{
	const struct sym_entry *s = sym_object(&e->sym, lock);
	size_t len;

	if (!s)
		return NULL;
	text_clean(buf, EVENT_NAMES_TEXT - 20, sym_text(&e->sym, s));
	len = strlen(buf);
	if (lock != s->addr)
		snprintf(buf + len, EVENT_NAMES_TEXT - len, "+0x%" PRIx64, lock - s->addr);
	return buf;
}

const char *event_names_comm(const struct engine *e, uint32_t task, char buf[EVENT_NAMES_TEXT])
{
	const struct task_table *t = &e->model.tasks;

	if (task == TASK_OTHER || task >= t->n)
		return NULL;
	if (t->tasks[task].comm && *t->tasks[task].comm)
		return text_clean(buf, EVENT_NAMES_TEXT, t->tasks[task].comm);
	return t->tasks[task].tid ? NULL : strcpy(buf, "swapper");
}

const char *event_names_flags(uint32_t flags, char buf[EVENT_NAMES_TEXT])
{
	static const char *const names[] = {"SPIN", "READ", "WRITE", "RT", "PERCPU", "MUTEX"};
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & 1u << i)
			at += (size_t)snprintf(buf + at, EVENT_NAMES_TEXT - at, "%s%s",
					       at ? "|" : "", names[i]);
	flags &= ~0x3fu;
	if (flags || !at)
		snprintf(buf + at, EVENT_NAMES_TEXT - at, "%s0x%" PRIx32, at ? "|" : "", flags);
	return buf;
}
