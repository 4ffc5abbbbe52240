// SPDX-License-Identifier: GPL-2.0-only
/* The locks of each kind, and the way to produce waits for them. */
#include "bench-lock-int.h"

static const struct {
	const char *name;
	const struct bench_lock_held_ops *held;
	const struct bench_lock_storm_ops *storm;
} kinds[BENCH_LOCK_KINDS] = {
	[BENCH_LOCK_MUTEX] = {"mutex", &bench_lock_pipe, NULL},
	[BENCH_LOCK_RWSEM] = {"rwsem", &bench_lock_dir, NULL},
	[BENCH_LOCK_SPINLOCK] = {"spinlock", NULL, &bench_lock_records},
	[BENCH_LOCK_FUTEX] = {"futex", &bench_lock_word, &bench_lock_bucket},
};

const char *bench_lock_name(enum bench_lock_kind kind)
{
	return kinds[kind].name;
}

int bench_lock(enum bench_lock_kind kind, const struct bench_lock_options *o,
	       struct bench_lock_result *ret, struct error *err)
{
	/* If there are both, rounds apply to the lock in memory. */
	struct bench_lock_options calls = {o->threads, kinds[kind].held ? 0 : o->rounds};
	int r = 0;

	*ret = (struct bench_lock_result){0};
	if (kinds[kind].held)
		r = bench_lock_hold(kinds[kind].held, o, ret, err);
	if (r == 0 && kinds[kind].storm)
		r = bench_lock_storm(kinds[kind].storm, &calls, ret, err);
	return r;
}
