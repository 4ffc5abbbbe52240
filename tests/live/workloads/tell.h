/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_TELL_H
#define KONTEND_TESTS_TELL_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Shared by programs that print afterwards what they did: lines "WORD NAME=VALUE ...", times in ns
 * of the clock that measuring uses. tests/live/stories.py reads them.
 */
struct tell_sched {
	uint64_t ran_ns, runnable_ns; /* on a CPU; ready, and kept off it */
};

enum { TELL_SKIP = 77 };

uint64_t tell_now(void);
/* Prints the kernel's error, and ends: with TELL_SKIP where this machine cannot do it. */
_Noreturn void tell_fail(const char *what);
_Noreturn void tell_skip(const char *why);
pid_t tell_tid(void);
/* Of the thread that calls. */
struct tell_sched tell_sched(void);
/* From @from until @to, with what was used before and after: that much of it was slept. */
uint64_t tell_asleep(uint64_t from, uint64_t to, struct tell_sched before, struct tell_sched after);
void tell_pin(int cpu);
pthread_t tell_thread(void *(*run)(void *), void *arg);

#endif
