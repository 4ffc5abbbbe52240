/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_GATE_H
#define KONTEND_TESTS_GATE_H

#include "slow-page.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GATE_MAX_THREADS = 64 };

struct gate_thread {
	_Atomic pid_t tid;
	_Atomic bool waits;	   /* at a gate, or about to */
	_Atomic uint64_t since_ns; /* when it came there, CLOCK_MONOTONIC */
	_Atomic int passed;	   /* gates */
};

/*
 * Certain waits: all threads of a storm come to a gate, a lock whose holder sleeps until each
 * of them waits for it. Gates are the mutex of a pipe and, by turns, the rwsem of a directory.
 */
struct gate {
	int n, dir, pipe[2]; /* dir -1: pipes only */
	struct slow_page page;
	_Atomic pid_t holder;
	_Atomic int wanted, held; /* holds that are asked for, that have begun */
	struct gate_thread threads[GATE_MAX_THREADS];
};

/*
 * For @n threads, with a directory made in @dir unless it is -1; makes the holder, which stays
 * until the process ends. 0, or negative errno where this kernel or user may not make a holder
 * sleep.
 */
int gate_init(struct gate *g, int n, int dir);
/* Thread @index, which calls this first, then gate_pass() for each @nth = 0, 1, ... */
void gate_join(struct gate *g, int index);
int gate_pass(struct gate *g, int index, int nth);
/* Another thread opens each gate when all are there. 0 or negative errno. */
int gate_hold(struct gate *g, int nth); /* until all are there */
int gate_release(struct gate *g, int nth);
int gate_open(struct gate *g, int nth); /* both */
/* Blocks until thread @tid of this process is in @state ('D', 'S'). */
void gate_until(pid_t tid, char state);

#endif
