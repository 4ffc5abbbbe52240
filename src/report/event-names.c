// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches of fixed size: the slot of a stack is its index modulo the size, the slot of a lock is a
 * hash of its address, and a new entry replaces the old one in its slot. A run of events has few
 * stacks and locks, so nearly all lookups hit. Keys include whatever makes a cached name stale: the
 * model's generation, since the model reuses indices of stacks, and the number of times that
 * symbols were loaded.
 */
#include "event-names.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/lockname.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"

#include <string.h>

const char *event_names_symbol(const struct engine *e, uint64_t addr)
{
	const struct ksyms *k = &e->model->profile->ksyms;
	uint64_t frame = map_frame_is_ksym(addr) ? addr : ksyms_frame(k, map_kernel_frame(addr));
	const struct ksym *made = engine_ksym(e, frame);

	return made ? made->name : sym_name(&e->sym, ksyms_address(k, frame), NULL);
}

const char *event_names_func(const struct engine *e, uint64_t addr, char buf[EVENT_NAMES_TEXT])
{
	const char *name = event_names_symbol(e, addr);
	struct textbuf b = textbuf_make(buf, EVENT_NAMES_TEXT);

	if (name)
		return text_clean(buf, EVENT_NAMES_TEXT, name);
	textbuf_hex(&b, ksyms_address(&e->model->profile->ksyms, addr));
	return textbuf_end(&b);
}

const char *event_names_outer(const struct engine *e, const uint64_t *frames, uint32_t n,
			      char buf[EVENT_NAMES_TEXT])
{
	const struct ksyms *k = &e->model->profile->ksyms;
	uint64_t plain[STACK_MAX_FRAMES];

	n = n < STACK_MAX_FRAMES ? n : STACK_MAX_FRAMES;
	uint32_t i = sym_caller(&e->sym, ksyms_addresses(k, frames, n, plain), n);
	return event_names_func(e, frames[i], buf);
}

const char *event_names_caller(struct event_names *n, uint32_t stack)
{
	const struct stack_table *t = n->engine->model->stacks;
	uint64_t generation = n->engine->model->generation + 1;
	uint32_t slot = stack % EVENT_NAMES;

	if (stack == STACK_OTHER || stack >= t->n || !t->stacks[stack].n)
		return NULL;
	if (n->callers[slot].generation != generation || n->callers[slot].stack != stack) {
		const uint64_t *frames = stack_frames(t, stack);

		n->callers[slot].generation = generation;
		n->callers[slot].stack = stack;
		event_names_outer(n->engine, frames, t->stacks[stack].n, n->callers[slot].text);
	}
	return n->callers[slot].text;
}

/* False: the lock is in no static object. */
static bool find_object(const struct sym *syms, uint64_t lock, char buf[EVENT_NAMES_TEXT])
{
	const struct sym_entry *s = sym_object(syms, lock);
	struct textbuf b = textbuf_make(buf, EVENT_NAMES_TEXT);

	if (!s)
		return false;
	text_clean(buf, EVENT_NAMES_TEXT - 20, sym_text(syms, s));
	b.at += strlen(buf);
	if (lock != s->addr) {
		textbuf_char(&b, '+');
		textbuf_hex(&b, lock - s->addr);
	}
	textbuf_end(&b);
	return true;
}

/* Looked up each time, as the file may be named later than the lock is. */
static const char *file_of(struct event_names *n, uint64_t lock)
{
	const struct lockname_set *s = n->engine->model->lock_names;
	const struct lockname *known = s ? lockname_get(s, lock) : NULL;

	return known ? text_clean(n->file, sizeof(n->file), known->text) : NULL;
}

const char *event_names_object(struct event_names *n, uint64_t lock)
{
	const struct sym *syms = &n->engine->sym;
	size_t slot = hash_slot(lock, 32) % EVENT_NAMES;

	if (filelock_is(lock))
		return file_of(n, lock);
	if (n->objects[slot].lock != lock || n->objects[slot].n_loads != syms->n_loads + 1) {
		n->objects[slot].lock = lock;
		n->objects[slot].n_loads = syms->n_loads + 1;
		n->objects[slot].known = find_object(syms, lock, n->objects[slot].text);
	}
	return n->objects[slot].known ? n->objects[slot].text : NULL;
}

void event_names_lock(char buf[2 * EVENT_NAMES_TEXT], const char *type, const char *object,
		      uint64_t addr, const char *caller)
{
	struct textbuf b = textbuf_make(buf, (size_t)2 * EVENT_NAMES_TEXT);

	textbuf_str(&b, type);
	textbuf_char(&b, ' ');
	if (object)
		textbuf_str(&b, object);
	else
		textbuf_hex(&b, addr);
	if (caller) {
		textbuf_str(&b, " (");
		textbuf_str(&b, caller);
		textbuf_char(&b, ')');
	}
	textbuf_end(&b);
}

const char *event_names_comm(const struct engine *e, uint32_t task, char buf[EVENT_NAMES_TEXT])
{
	const struct task_table *t = e->model->tasks;

	if (task == TASK_OTHER || task >= t->n)
		return NULL;
	if (t->tasks[task].comm && *t->tasks[task].comm)
		return text_clean(buf, EVENT_NAMES_TEXT, t->tasks[task].comm);
	return t->tasks[task].tid ? NULL : strcpy(buf, "swapper");
}

const char *event_names_flags(uint32_t flags, char buf[EVENT_NAMES_TEXT])
{
	static const char *const names[] = {"SPIN", "READ", "WRITE", "RT", "PERCPU", "MUTEX"};
	static const char *const files[FILELOCK_KINDS] = {"FLOCK", "POSIX", "LEASE"};
	struct textbuf b = textbuf_make(buf, EVENT_NAMES_TEXT);
	uint32_t file = flags >> FILELOCK_SHIFT;
	uint32_t known = (1u << sizeof(names) / sizeof(names[0])) - 1;

	if (file && file <= FILELOCK_KINDS) {
		textbuf_str(&b, files[file - 1]);
		flags &= (1u << FILELOCK_SHIFT) - 1;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & 1u << i))
			continue;
		if (textbuf_len(&b))
			textbuf_char(&b, '|');
		textbuf_str(&b, names[i]);
	}
	if (flags & ~known || !flags) {
		if (textbuf_len(&b))
			textbuf_char(&b, '|');
		textbuf_hex(&b, flags & ~known);
	}
	return textbuf_end(&b);
}

/* Is it a function on the way of every task to sleep? */
static bool is_scheduler(const char *name)
{
	static const char *const begins[] = {"__schedule",   "schedule",     "io_schedule",
					     "__traceiter_", "__bpf_trace_", "bpf_"};

	for (size_t i = 0; name && i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

const char *event_names_sleep(const struct engine *e, const uint64_t *frames, uint32_t n,
			      char buf[EVENT_NAMES_TEXT])
{
	uint32_t i = 0;

	while (i < n && is_scheduler(event_names_symbol(e, frames[i])))
		i++;
	return i < n ? event_names_func(e, frames[i], buf) : NULL;
}
