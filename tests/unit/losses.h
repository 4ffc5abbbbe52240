/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_LOSSES_H
#define KONTEND_TESTS_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events on a machine where tasks wait, and their loss in full rings: see test-losses.c. */
enum {
	LOSSES_CPUS = 3,
	LOSSES_MOST = 2000, /* events */
	LOSSES_STEP = 40,   /* events between two looks at the rings */
	LOSSES_GAPS = 256,
};

struct losses_record {
	uint64_t time, lock;
	uint32_t cpu, flags;
	uint32_t outer, under; /* 1 + the lock slept and spun for meanwhile */
	int tid;
	bool begins, dropped;
	uint32_t paired; /* of a spin wait that an interrupt begins: where it ends, else 0 */
};

/*
 * The source: perf's rings or those of BPF as they are polled, or a file of perf record. For CPUs
 * that come back: a source that opens their events again, with the time of that, or without it, in
 * rounds.
 */
enum losses_how { BY_PERF, BY_BPF, BY_FILE, BY_REOPENING, BY_ROUNDS };

struct losses_plan {
	uint32_t seed, events;
	enum losses_how how;
	uint64_t without[LOSSES_GAPS / 64]; /* gaps that are not made */
};

struct losses_history {
	struct losses_record r[LOSSES_MOST];
	size_t n;
	uint64_t lost[LOSSES_CPUS];
};

/* All that happens; nothing is lost. */
void losses_make(struct losses_history *h, const struct losses_plan *p);
/* Rings are full at random. */
void losses_gaps(struct losses_history *h, const struct losses_plan *p);
/* Neither begin nor end of an interrupt's spin wait is reported while the program runs. */
void losses_pairs(struct losses_history *h, uint32_t seed);
/* The event before which the rings are polled next, after the @i-th. */
size_t losses_look_after(size_t i);
bool losses_is_mutex(int lock);

#endif
