/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_BESIDE_H
#define KONTEND_INSPECT_WAITS_BESIDE_H

#include "kontend/error.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A thread beside who measures, which looks now and then until it is to end. */
struct beside {
	pthread_t thread;
	bool started;
	int wake_fd;
	atomic_bool stopping;
};

int beside_init(struct beside *b, struct error *err);
/* In it no signal is handled, and it is rather early than late. @what: "the thread that ...". */
int beside_start(struct beside *b, void *(*run)(void *arg), void *arg, const char *what,
		 struct error *err);
/* In the thread, first of all. */
void beside_begin(void);
/* In the thread: sleeps, but not once it is to end. */
void beside_sleep(struct beside *b, int ms);
bool beside_goes_on(struct beside *b);
void beside_stop(struct beside *b); /* async-signal-safe */
/* Waits for its end. What beside_init() has failed for may be given, too. */
void beside_deinit(struct beside *b);

#endif
