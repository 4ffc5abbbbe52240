/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_CLASS_H
#define KONTEND_INSPECT_LOCKS_USERS_CLASS_H

/* Classes of threads in futex(2), by their stacks. */
#include "kontend/futexclass.h"
#include "kontend/sleepstack.h"
#include "users.h"

/* The classes of all threads; for one thread at a time, which may be any. */
struct users_classes;

/* A process of which threads are read. */
struct users_place {
	const char *proc;
	int32_t pid;
	users_read *read;
	/* Its mappings: lines that end with a NUL. NULL: they cannot be read. */
	const char *(*maps)(void *arg, size_t *ret_len);
	void *arg; /* of both */
};

struct users_class {
	struct futexclass_found found;
	uint64_t ran_ns;		       /* scheduler's clock; 0: not asked */
	const struct sleepstack_frame *frames; /* innermost first, of what may be a lock */
	size_t n_frames;		       /* both until the next call */
};

/* As `what` of the class: its functions have no names yet. */
#define USERS_PENDING "symbols are being read"

/* NULL: no memory. @keep: as of sleepstack_new(). */
struct users_classes *users_classes_new(const char *proc, bool keep);
struct users_classes *users_classes_ref(struct users_classes *c);
void users_classes_unref(struct users_classes *c); /* NULL is fine */
/* A pass begins; @searches: through all threads. */
void users_classes_begin(struct users_classes *c, bool searches);
/* The class of thread @tid of @p. 0 or -ENOMEM. */
int users_classes_find(struct users_classes *c, const struct users_place *p, int32_t tid,
		       const struct users_thread *t, struct users_class *ret);
/* The same of a thread that has left that sleep: @p reads its stack as it was. Nothing is kept. */
int users_classes_stack(struct users_classes *c, const struct users_place *p,
			const struct users_thread *t, struct users_class *ret);
/* Its calls without names, of a thread that sleeps there in whatever call. 0 or -ENOMEM. */
int users_classes_chain(struct users_classes *c, const struct users_place *p,
			const struct sleepstack_registers *regs, struct sleepstack_chain *ret);
/*
 * Does a thread that waited for a condition take its mutex again? The wait for the condition itself
 * is another command of futex(2).
 */
bool users_class_relocks(const struct futexclass_found *f, const struct userlock_call *c);
/* Has it waited for a lock since the last search, or may it have? */
bool users_classes_was_lock(const struct users_classes *c, int32_t tid);

#endif
