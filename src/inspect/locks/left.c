// SPDX-License-Identifier: GPL-2.0-only
/* Work whose thread may be kept waiting by a process that it reads. */
#include "left.h"
#include "kontend/patience.h"

#include <errno.h>
#include <stdatomic.h>

void left_begin(struct left_work *w, void (*run)(struct left_work *w),
		void (*free)(struct left_work *w))
{
	w->refs = 1;
	w->run = run;
	w->free = free;
}

void left_unref(struct left_work *w)
{
	if (w && atomic_fetch_sub(&w->refs, 1) == 1)
		w->free(w);
}

bool left_has(const struct left *l, int32_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->works[i]->pid == pid)
			return true;
	return false;
}

void left_forget_back(struct left *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->works[i]->refs == 1)
			left_unref(l->works[i]);
		else
			l->works[n++] = l->works[i];
	}
	l->n = n;
}

static void run(void *arg)
{
	struct left_work *w = arg;

	w->run(w);
}

static void drop(void *arg)
{
	left_unref(arg);
}

int left_run(struct left *l, struct left_work *w)
{
	w->refs++;
	int code = patience_run(run, drop, w);
	if (code == -ETIMEDOUT) {
		l->works[l->n++] = w;
		return code;
	}
	if (code < 0)
		w->run(w); /* without a thread: with the risk to wait */
	left_unref(w);	   /* the thread's */
	return 0;
}

void left_deinit(struct left *l)
{
	for (size_t i = 0; i < l->n; i++)
		left_unref(l->works[i]);
	l->n = 0;
}
