/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_UNIT_BLAMED_H
#define KONTEND_TESTS_UNIT_BLAMED_H

/*
 * A model that is fed, in milliseconds, with waits for locks and states of holders, and the time
 * that it charges to tasks. After cmocka's headers.
 */
#include "kontend/blame.h"
#include "kontend/event.h"
#include "kontend/holdrec.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/task.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define BASE (1000 * MS)
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static uint64_t clock_ms;

static inline int setup(void **state)
{
	struct model *m = mem_calloc(1, sizeof(*m));
	struct model_limits limits = model_limits_of(0);

	limits.held = limits.blame = 4096;
	assert_non_null(m);
	assert_int_equal(model_init(m, &limits), 0);
	model_start(m, BASE);
	clock_ms = 0;
	*state = m;
	return 0;
}

static inline int teardown(void **state)
{
	model_deinit(*state);
	mem_free(*state);
	return 0;
}

static inline uint64_t now(void)
{
	return BASE + clock_ms * MS;
}

static inline void apply(struct model *m, struct event ev)
{
	ev.time = now();
	assert_int_equal(model_apply(m, &ev), 0);
}

static inline void begin_as(struct model *m, int tid, int lock, uint32_t flags)
{
	const uint64_t frames[] = {0xffffffff81000000ull + flags, 0xffffffff82000000ull};

	apply(m, (struct event){.kind = EVENT_CONTENTION_BEGIN,
				.pid = 700,
				.tid = tid,
				.begin = {.lock = LOCK(lock),
					  .frames = frames,
					  .n_frames = 2,
					  .flags = flags}});
}

static inline void begin(struct model *m, int tid, int lock)
{
	begin_as(m, tid, lock, LCB_F_WRITE);
}

static inline void end(struct model *m, int tid, int lock, int ret)
{
	apply(m, (struct event){.kind = EVENT_CONTENTION_END,
				.pid = 700,
				.tid = tid,
				.end = {.lock = LOCK(lock), .ret = ret}});
}

static inline void owner(struct model *m, int waiter, int lock, int tid, bool hint)
{
	apply(m, (struct event){.kind = EVENT_OWNER,
				.pid = 700,
				.tid = waiter,
				.owner = {.lock = LOCK(lock),
					  .comm = "holder",
					  .pid = 700,
					  .tid = tid,
					  .hint = hint}});
}

static inline void holder(struct model *m, int tid, int lock, enum holdrec_what what,
			  enum holdrec_state state)
{
	const uint64_t frames[] = {0xffffffff83000000ull};

	apply(m, (struct event){.kind = EVENT_HOLDER,
				.pid = tid ? 700 : 0,
				.tid = tid,
				.holder = {.lock = lock < 0 ? 0 : LOCK(lock),
					   .frames = frames,
					   .n_frames = state == HOLDREC_ASLEEP,
					   .comm = "holder",
					   .other_comm = "other",
					   .other_pid = state == HOLDREC_RUNNABLE ? 800 : 0,
					   .other_tid = state == HOLDREC_RUNNABLE ? 801 : 0,
					   .what = (uint8_t)what,
					   .state = (uint8_t)state}});
}

static inline int32_t tid_of(const struct model *m, uint32_t task)
{
	return task == TASK_OTHER ? 0 : m->tasks->tasks[task].tid;
}

/* Time charged to the task in that state; ms. @lock -1: for any lock. */
static inline double charged(const struct model *m, int tid, int state, int lock)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		if (tid_of(m, c->key.task) == tid && c->key.state == state &&
		    (lock < 0 || m->locks->locks[c->key.root_lock].addr == LOCK(lock)))
			ns += c->ns;
	}
	return (double)ns / MS;
}

/* All that is charged, and what is not yet. */
static inline double all(struct model *m)
{
	uint64_t ns = m->blame->lost_ns;

	model_tick(m, now());
	for (size_t i = 0; i < m->blame->n; i++)
		ns += m->blame->cells[i].key.state == BLAME_PASSED ? 0 : m->blame->cells[i].ns;
	for (uint32_t i = 1; i < m->blame->n_classes; i++)
		ns += m->blame->classes[i].ns;
	return (double)ns / MS;
}

#define assert_ms(a, b) assert_int_equal((int)((a)*1000 + 0.5), (int)((b)*1000 + 0.5))

#endif
