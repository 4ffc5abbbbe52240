// SPDX-License-Identifier: GPL-2.0-only
/*
 * From acquisitions and releases to holds, by the code that BPF runs (track.h), with maps and a
 * clock that are made up here: nested readers, writers that become readers, releases by other
 * tasks, holds of before the begin, ends that are not seen, and samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "inspect/holds/holds-shared.h"

#include <errno.h>
#include <string.h>

enum { LOCKS = 4, READERS = 4, LOCK = 0x1000 };

static struct {
	struct raw_holds_sum sums[RAW_HOLDS_KINDS];
	uint64_t addrs[LOCKS];
	struct raw_holds_lock locks[LOCKS];
	size_t n_locks, room;
	struct raw_holds_reader keys[READERS];
	struct raw_holds_now readers[READERS];
	bool used[READERS];
	uint64_t now_ns;
	uint32_t random;
	int chain;
	uint64_t task_ns[8], chain_ns[8]; /* by task, by chain */
} k;

static inline void holds_add(unsigned long long *to, uint64_t n)
{
	*to += n;
}

static inline void holds_most(unsigned long long *to, uint64_t n)
{
	*to = n > *to ? n : *to;
}

static inline uint64_t holds_now_ns(void)
{
	return k.now_ns;
}

static inline uint32_t holds_random(void)
{
	return k.random++;
}

static inline int holds_chain(void *ctx)
{
	(void)ctx;
	return k.chain;
}

static inline struct raw_holds_sum *holds_sum(uint32_t kind)
{
	return &k.sums[kind];
}

static inline struct raw_holds_lock *holds_row(uint64_t lock, int make)
{
	for (size_t i = 0; i < k.n_locks; i++)
		if (k.addrs[i] == lock)
			return &k.locks[i];
	if (!make || k.n_locks == k.room)
		return NULL;
	k.addrs[k.n_locks] = lock;
	return &k.locks[k.n_locks++];
}

static size_t reader_at(const struct raw_holds_reader *key)
{
	size_t i = 0;

	while (i < READERS &&
	       (!k.used[i] || k.keys[i].lock != key->lock || k.keys[i].tid != key->tid))
		i++;
	return i;
}

static inline struct raw_holds_now *holds_reader(const struct raw_holds_reader *key)
{
	size_t i = reader_at(key);

	return i < READERS ? &k.readers[i] : NULL;
}

static inline int holds_reader_put(const struct raw_holds_reader *key,
				   const struct raw_holds_now *now)
{
	for (size_t i = 0; i < READERS; i++) {
		if (k.used[i])
			continue;
		k.used[i] = true;
		k.keys[i] = *key;
		k.readers[i] = *now;
		return 0;
	}
	return -ENOSPC;
}

static inline void holds_reader_del(const struct raw_holds_reader *key)
{
	size_t i = reader_at(key);

	if (i < READERS)
		k.used[i] = false;
}

static inline void holds_rows(uint32_t kind, const struct raw_holds_now *now, uint64_t ns,
			      uint32_t every)
{
	(void)kind;
	k.task_ns[now->tid] += ns * every;
	if (now->chain >= 0)
		k.chain_ns[now->chain] += ns * every;
}

#include "inspect/holds/track.h"

static unsigned every;

static int begin(void **state)
{
	(void)state;
	memset(&k, 0, sizeof(k));
	k.room = LOCKS;
	k.now_ns = 1000;
	every = 1;
	return 0;
}

static struct holds_event event(unsigned kind, int tid)
{
	return (struct holds_event){.lock = LOCK, .kind = kind, .tid = tid, .pid = tid};
}

static void take(unsigned kind, int tid)
{
	struct holds_event e = event(kind, tid);

	holds_acquired(&e, every);
}

static void release(unsigned kind, int tid)
{
	struct holds_event e = event(kind, tid);

	holds_released(&e, every);
}

static void assert_sum(unsigned kind, uint64_t acquired, uint64_t holds, uint64_t total_ns,
		       uint64_t max_ns)
{
	const struct raw_holds_sum *s = &k.sums[kind];
	uint64_t in_buckets = 0;

	for (size_t i = 0; i < RAW_HOLDS_BUCKETS; i++)
		in_buckets += s->buckets[i];
	assert_int_equal(s->acquired, acquired);
	assert_int_equal(s->held.holds, holds);
	assert_int_equal(s->held.total_ns, total_ns);
	assert_int_equal(s->held.max_ns, max_ns);
	assert_int_equal(in_buckets, holds);
}

static void assert_unknown(unsigned kind, uint64_t unbegun, uint64_t unended, uint64_t by_other)
{
	assert_int_equal(k.sums[kind].unbegun, unbegun);
	assert_int_equal(k.sums[kind].unended, unended);
	assert_int_equal(k.sums[kind].by_other, by_other);
}

static void a_mutex(void **state)
{
	(void)state;
	k.chain = 3;
	take(RAW_HOLDS_MUTEX, 1);
	k.now_ns += 50;
	release(RAW_HOLDS_MUTEX, 1);
	k.now_ns += 1000;
	k.chain = 4;
	take(RAW_HOLDS_MUTEX, 2);
	k.now_ns += 20;
	release(RAW_HOLDS_MUTEX, 2);
	assert_sum(RAW_HOLDS_MUTEX, 2, 2, 70, 50);
	assert_unknown(RAW_HOLDS_MUTEX, 0, 0, 0);
	assert_int_equal(k.task_ns[1], 50);
	assert_int_equal(k.chain_ns[4], 20);
	assert_int_equal(k.locks[0].held[0].total_ns, 70);
	assert_int_equal(k.locks[0].now.since_ns, 0);
}

static void held_before_the_begin(void **state)
{
	(void)state;
	release(RAW_HOLDS_MUTEX, 1);
	take(RAW_HOLDS_MUTEX, 1);
	k.now_ns += 5;
	release(RAW_HOLDS_MUTEX, 1);
	release(RAW_HOLDS_READ, 2);
	assert_sum(RAW_HOLDS_MUTEX, 1, 1, 5, 5);
	assert_unknown(RAW_HOLDS_MUTEX, 1, 0, 0);
	assert_unknown(RAW_HOLDS_READ, 1, 0, 0);
}

/* As of a task that has died: the next one that gets the lock shows that it is over. */
static void an_end_that_is_not_seen(void **state)
{
	(void)state;
	take(RAW_HOLDS_MUTEX, 1);
	k.now_ns += 100;
	take(RAW_HOLDS_MUTEX, 2);
	k.now_ns += 5;
	release(RAW_HOLDS_MUTEX, 2);
	assert_sum(RAW_HOLDS_MUTEX, 2, 1, 5, 5);
	assert_unknown(RAW_HOLDS_MUTEX, 0, 1, 0);
}

static void released_by_another_task(void **state)
{
	(void)state;
	take(RAW_HOLDS_WRITE, 1);
	k.now_ns += 100;
	release(RAW_HOLDS_WRITE, 2);
	assert_sum(RAW_HOLDS_WRITE, 1, 1, 100, 100);
	assert_unknown(RAW_HOLDS_WRITE, 0, 0, 1);
	assert_int_equal(k.task_ns[1], 100);
	/* Of a reader nothing says whose hold it was: neither has a length. */
	take(RAW_HOLDS_READ, 1);
	release(RAW_HOLDS_READ, 2);
	assert_unknown(RAW_HOLDS_READ, 1, 0, 0);
	take(RAW_HOLDS_WRITE, 3);
	release(RAW_HOLDS_WRITE, 3);
	take(RAW_HOLDS_READ, 1);
	k.now_ns += 7;
	release(RAW_HOLDS_READ, 1);
	assert_sum(RAW_HOLDS_READ, 2, 1, 7, 7);
	assert_unknown(RAW_HOLDS_READ, 1, 1, 0);
}

static void readers(void **state)
{
	(void)state;
	take(RAW_HOLDS_READ, 1);
	k.now_ns += 10;
	take(RAW_HOLDS_READ, 2);
	k.now_ns += 10;
	release(RAW_HOLDS_READ, 1);
	k.now_ns += 10;
	release(RAW_HOLDS_READ, 2);
	assert_sum(RAW_HOLDS_READ, 2, 2, 40, 20);
	assert_unknown(RAW_HOLDS_READ, 0, 0, 0);
	for (size_t i = 0; i < READERS; i++)
		assert_false(k.used[i]);
}

/* One that gets the lock twice has it until the second release. */
static void a_reader_within_itself(void **state)
{
	(void)state;
	take(RAW_HOLDS_READ, 1);
	k.now_ns += 10;
	take(RAW_HOLDS_READ, 1);
	k.now_ns += 10;
	release(RAW_HOLDS_READ, 1);
	k.now_ns += 10;
	release(RAW_HOLDS_READ, 1);
	assert_sum(RAW_HOLDS_READ, 2, 1, 30, 30);
	assert_unknown(RAW_HOLDS_READ, 0, 0, 0);
}

static void a_writer_becomes_a_reader(void **state)
{
	(void)state;
	take(RAW_HOLDS_WRITE, 1);
	k.now_ns += 10;
	struct holds_event e = event(RAW_HOLDS_WRITE, 1);
	holds_downgraded(&e, 1, 1, 1);
	k.now_ns += 30;
	release(RAW_HOLDS_READ, 1);
	assert_sum(RAW_HOLDS_WRITE, 1, 1, 10, 10);
	assert_sum(RAW_HOLDS_READ, 1, 1, 30, 30);
	assert_unknown(RAW_HOLDS_READ, 0, 0, 0);
	/* Where only one of both is measured. */
	take(RAW_HOLDS_WRITE, 1);
	k.now_ns += 10;
	e = event(RAW_HOLDS_WRITE, 1);
	holds_downgraded(&e, 1, 1, 0);
	assert_sum(RAW_HOLDS_WRITE, 2, 2, 20, 10);
	assert_sum(RAW_HOLDS_READ, 1, 1, 30, 30);
}

/* One of four is measured and counts for all of them; the others are not taken for unknown ones. */
static void samples(void **state)
{
	(void)state;
	every = 4;
	for (int i = 0; i < 8; i++) {
		take(RAW_HOLDS_MUTEX, 1);
		k.now_ns += 10;
		release(RAW_HOLDS_MUTEX, 1);
	}
	assert_sum(RAW_HOLDS_MUTEX, 8, 8, 80, 10);
	assert_unknown(RAW_HOLDS_MUTEX, 0, 0, 0);
	for (int i = 0; i < 8; i++) {
		take(RAW_HOLDS_READ, 1);
		k.now_ns += 10;
		release(RAW_HOLDS_READ, 1);
	}
	assert_sum(RAW_HOLDS_READ, 8, 8, 80, 10);
	assert_unknown(RAW_HOLDS_READ, 0, 0, 0);
	/* A writer that is left out is left out as a reader, too. */
	k.random = 1;
	take(RAW_HOLDS_WRITE, 1);
	struct holds_event e = event(RAW_HOLDS_WRITE, 1);
	holds_downgraded(&e, every, 1, 1);
	release(RAW_HOLDS_READ, 1);
	assert_int_equal(k.sums[RAW_HOLDS_WRITE].held.holds, 0);
	assert_int_equal(k.sums[RAW_HOLDS_READ].held.holds, 8);
	assert_unknown(RAW_HOLDS_WRITE, 0, 0, 0);
}

/* mutex_lock_io() reports an acquisition that mutex_lock() within it may have reported. */
static void reported_twice(void **state)
{
	(void)state;
	struct holds_event e = event(RAW_HOLDS_MUTEX, 1);
	assert_false(holds_is_own(&e));
	take(RAW_HOLDS_MUTEX, 1);
	assert_true(holds_is_own(&e));
	e.tid = 2;
	assert_false(holds_is_own(&e));
	release(RAW_HOLDS_MUTEX, 1);
	e.tid = 1;
	assert_false(holds_is_own(&e));
	every = 4;
	k.random = 1;
	take(RAW_HOLDS_MUTEX, 1);
	assert_true(holds_is_own(&e));
}

static void no_room(void **state)
{
	(void)state;
	k.room = 0;
	take(RAW_HOLDS_MUTEX, 1);
	release(RAW_HOLDS_MUTEX, 1);
	assert_int_equal(k.sums[RAW_HOLDS_MUTEX].acquired, 1);
	assert_int_equal(k.sums[RAW_HOLDS_MUTEX].no_room, 1);
	assert_int_equal(k.sums[RAW_HOLDS_MUTEX].held.holds, 0);
	k.room = LOCKS;
	for (int tid = 1; tid <= READERS + 1; tid++)
		take(RAW_HOLDS_READ, tid);
	assert_int_equal(k.sums[RAW_HOLDS_READ].no_room, 1);
}

static void without_a_chain(void **state)
{
	(void)state;
	k.chain = -EEXIST;
	take(RAW_HOLDS_MUTEX, 1);
	release(RAW_HOLDS_MUTEX, 1);
	assert_int_equal(k.sums[RAW_HOLDS_MUTEX].chainless, 1);
}

#define T(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_mutex),
		T(held_before_the_begin),
		T(an_end_that_is_not_seen),
		T(released_by_another_task),
		T(readers),
		T(a_reader_within_itself),
		T(a_writer_becomes_a_reader),
		T(samples),
		T(reported_twice),
		T(no_room),
		T(without_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
