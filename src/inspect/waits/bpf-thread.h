/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_BPF_THREAD_H
#define KONTEND_INSPECT_WAITS_BPF_THREAD_H

#include "kontend/error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A thread beside who measures, which looks now and then until it is to end. */
struct bpf_thread {
	pthread_t thread;
	bool started;
	int wake_fd;
	atomic_bool stopping;
};

int bpf_thread_init(struct bpf_thread *b, struct error *err);
/* In it no signal is handled, and it is rather early than late. @what: "the thread that ...". */
int bpf_thread_start(struct bpf_thread *b, void *(*run)(void *arg), void *arg, const char *what,
		     struct error *err);
/* In the thread, first of all. */
void bpf_thread_begin(void);
/* In the thread: sleeps, but not once it is to end. */
void bpf_thread_sleep(struct bpf_thread *b, int ms);
bool bpf_thread_goes_on(struct bpf_thread *b);
void bpf_thread_stop(struct bpf_thread *b); /* async-signal-safe */
/* Waits for its end. Accepts @b after a failed bpf_thread_init(), too. */
void bpf_thread_deinit(struct bpf_thread *b);

#endif
