/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_LEFT_H
#define KONTEND_INSPECT_LOCKS_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Work on processes, one of which may keep its reader waiting without end (patience.h): then the
 * thread of the work is left alone, with that process, until it comes back.
 */
enum { LEFT_MOST = 8 }; /* threads that are left alone */

/* First member of the work; it belongs to the thread and to the caller. */
struct left_work {
	_Atomic unsigned refs;
	_Atomic int32_t pid; /* being read */
	void (*run)(struct left_work *w);
	void (*free)(struct left_work *w);
};

struct left {
	struct left_work *works[LEFT_MOST];
	size_t n;
};

/* The caller's reference to new work. */
void left_begin(struct left_work *w, void (*run)(struct left_work *w),
		void (*free)(struct left_work *w));
void left_unref(struct left_work *w); /* NULL is fine */
bool left_has(const struct left *l, int32_t pid);
/* Those whose threads have come back are read again. */
void left_forget_back(struct left *l);
/*
 * 0: done. -ETIMEDOUT: a process keeps the thread waiting; the caller's reference is gone. There
 * have to be less than LEFT_MOST of these.
 */
int left_run(struct left *l, struct left_work *w);
void left_deinit(struct left *l);

#endif
