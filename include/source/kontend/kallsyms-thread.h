/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KALLSYMS_THREAD_H
#define KONTEND_KALLSYMS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A thread that reads /proc/kallsyms while the caller loads BPF programs: the kernel takes as long
 * for this text as for a third of the programs. `= {0}` is a valid one that reads nothing.
 */
struct kallsyms_thread {
	pthread_t thread;
	bool started;
	char *text;
	size_t len;
	int code; /* -ENOMEM; another negative errno: the file is not readable */
};

/* Where no thread can be started, the file is read in kallsyms_thread_take(). */
void kallsyms_thread_start(struct kallsyms_thread *t);
/*
 * Waits for the text, which is the caller's from then on. 0 or a negative errno: then there is
 * none.
 */
int kallsyms_thread_take(struct kallsyms_thread *t, char **ret /* mem_free() */, size_t *ret_len);
/* Waits for the thread, and frees a text that was not taken. */
void kallsyms_thread_deinit(struct kallsyms_thread *t);

#endif
