/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_OBSERVED_H
#define KONTEND_BENCH_OBSERVED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A program that observes the machine by perf events, and can be made to do so now and not now: its
 * events are switched by copies of its descriptors, and it is stopped while they are off. Those
 * that it switches itself from time to time are switched off with the others, and on by itself
 * alone. If it is kontend, its BPF program of waits is informed that its rings have no reader.
 */
enum { OBSERVED_FDS = 256, OBSERVED_CPUS = 512 };

struct waits_cpu;

struct observed {
	pid_t pid;
	int fds[OBSERVED_FDS];
	bool own[OBSERVED_FDS]; /* it switches that one itself */
	size_t n;
	struct waits_cpu *rings[OBSERVED_CPUS]; /* of its program of waits, if it has one */
	size_t ring_bytes;			/* of the mapping of each */
	uint32_t n_rings;
	uint64_t ids[OBSERVED_CPUS]; /* what they have when they are read */
	/* Of learning which those are: */
	pthread_t thread;
	atomic_bool learnt;
	uint32_t looks, moved[OBSERVED_FDS]; /* times of so many that it had counted on */
};

/* Runs @command by the shell until it has events and has come to rest. False: it ended. */
bool observed_start(struct observed *o, const char *command);
/*
 * Copies of its descriptors, of all events that it has now. False: none, or not allowed, or its
 * program of waits cannot be switched.
 */
bool observed_grab(struct observed *o);
/*
 * In between a load runs all the time that causes all events: those that count in some moments only
 * are switched by the program itself. How many these are.
 */
void observed_learn(struct observed *o);
size_t observed_learnt(struct observed *o);
void observed_switch(const struct observed *o, bool on);
uint64_t observed_cpu_ns(const struct observed *o);
/* That its events have counted so far; 0 when none were grabbed. */
uint64_t observed_events(const struct observed *o);
void observed_stop(struct observed *o);

/*
 * Among observed_*() themselves: @fd is a copy of a descriptor of a BPF map, be it that of rings.
 * False: it is, and these cannot be switched, as they are not those of this source.
 */
bool observed_grab_rings(struct observed *o, int fd);
void observed_switch_rings(const struct observed *o, bool on);
void observed_drop_rings(struct observed *o);

#endif
