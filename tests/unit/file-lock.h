/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_FILE_LOCK_H
#define KONTEND_TESTS_FILE_LOCK_H

/* Streams of waits for the lock of a file, all at one address, and the rows that come of them. */
#include "asked.h"
#include "canned.h"
#include "kontend/limits.h"

#define MS CANNED_MS
#define LOCK 0xffff888022222240ull
#define AT(MSECS) (CANNED_START + (MSECS)*MS)

/* @outputs: with the event for records of BPF. */
static inline void file_lock_start(struct asked *w, bool outputs)
{
	rig_init(&w->rig, 4);
	if (outputs)
		synth_outputs(w->rig.synth);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_round(w->rig.synth, CANNED_START);
}

static inline void file_lock_finish(struct asked *w)
{
	struct model_limits limits = model_limits_of(0);

	limits.held = model_limits_held(0);
	limits.blame = model_limits_held(0);
	synth_tick(w->rig.synth, AT(2000));
	asked_play(w, &limits);
}

static inline void file_lock_begin(struct asked *w, uint32_t cpu, uint64_t at, int tid,
				   uint32_t flags)
{
	const uint64_t frames[] = {synth_addr(SYNTH_MUTEX_LOCK), synth_addr(SYNTH_VFS_WRITE)};

	synth_begin(w->rig.synth, cpu, at, 100, tid, LOCK, flags, frames, 2);
}

static inline void file_lock_end(struct asked *w, uint32_t cpu, uint64_t at, int tid)
{
	synth_end(w->rig.synth, cpu, at, 100, tid, LOCK, 0);
}

/* Waits of task 101, of 1 ms each, 10 ms apart. */
static inline void file_lock_waits(struct asked *w, uint64_t at, unsigned n, uint32_t flags)
{
	for (unsigned i = 0; i < n; i++) {
		file_lock_begin(w, 0, at + i * 10 * MS, 101, flags);
		file_lock_end(w, 0, at + i * 10 * MS + MS, 101);
	}
}

static inline struct table file_lock_rows(struct asked *w)
{
	const struct query_spec spec = {.by = BY_LOCK, .sort = "contended"};

	return asked_locks(w, spec);
}

static inline void file_lock_expect(const struct table *t, size_t row, const char *name,
				    uint64_t contended)
{
	assert_true(row < t->n_rows);
	assert_string_equal(cell_s(t, row, "name"), name);
	assert_int_equal(cell_u(t, row, "contended"), contended);
}

#endif
