/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_TRIGGERED_H
#define KONTEND_TESTS_TRIGGERED_H

#include "kontend/trigger.h"
#include "rig.h"

/* A stream of four CPUs, played with triggers on it. Any failure fails the test. */
#define MS 1000000ull
#define START (1000 * MS)
#define LOCK(n) (0xffff888000001000ull + 256 * (uint64_t)(n))

enum { MOST = 2048 };

struct fired {
	struct incident list[MOST];
	size_t n;
	struct triggers_count count;
	struct incident followed; /* the last one, at the end */
	bool goes_on;
};

struct play {
	struct rig rig;
	struct fired *fired;
	uint64_t cooldown_ns;
	bool blame; /* follow the tasks that others wait for */
};

int triggered_setup(void **state);
int triggered_teardown(void **state);
/* Plays the stream with these triggers. */
const struct fired *triggered(struct play *p, const char *const *exprs, size_t n);
const struct fired *triggered_one(struct play *p, const char *expr);
/* Task @task, by its number from 0 on, begins and ends to wait for a lock at START + @t. */
void triggered_begin(struct play *p, int task, uint64_t t, int lock, uint32_t flags);
void triggered_end(struct play *p, int task, uint64_t t, int lock);

#endif
