// SPDX-License-Identifier: GPL-2.0-only
/* Triggers between two checks: what became of incidents, breaks of any length, every blocked task.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "kontend/filelock.h"
#include "kontend/userlock.h"
#include "triggered.h"

static void rounds(struct play *p, uint64_t from, uint64_t to, uint64_t step)
{
	for (uint64_t t = from; t <= to; t += step)
		synth_round(p->rig.synth, START + t);
}

/* However often it fires between two times that it is asked, what became of the one that was taken
 * is known. */
static void one_that_was_taken_does_not_freeze(void **state)
{
	static const char *const expr = "wait>50ms";
	struct play *p = *state;
	struct engine *e = &p->rig.engine;
	struct error err = {0};
	struct incident in;
	struct triggers *t;
	int r;

	triggered_begin(p, 0, 0, 0, LCB_F_MUTEX);
	synth_tick(p->rig.synth, START + 100 * MS);
	triggered_end(p, 0, 170 * MS, 0);
	rounds(p, 200 * MS, 200 * MS, 1);
	for (uint64_t i = 1; i < 5; i++) {
		triggered_begin(p, 0, i * 1000 * MS, 0, LCB_F_MUTEX);
		triggered_end(p, 0, (i * 1000 + 60 + i) * MS, 0);
		rounds(p, (i * 1000 + 200) * MS, (i * 1000 + 200) * MS, 1);
	}
	assert_int_equal(engine_init(e, synth_source(p->rig.synth), NULL, &err), 0);
	p->rig.playing = true;
	assert_int_equal(triggers_new(&t, e, &expr, 1, &err), 0);
	triggers_cooldown(t, 20 * MS);
	while ((r = engine_pump(e, 0, &err)) != ENGINE_TICK)
		assert_true(r >= 0);
	assert_int_equal(triggers_next(t, &in, &err), 1);
	while ((r = engine_pump(e, 0, &err)) != ENGINE_END)
		assert_true(r >= 0);
	assert_false(triggers_follow(t, &in));
	assert_int_equal(in.worst_ns, 170 * MS);
	assert_int_equal(in.end_ns, START + 170 * MS);
	for (uint64_t i = 1; i < 5; i++) {
		assert_int_equal(triggers_next(t, &in, &err), 1);
		assert_int_equal(in.worst_ns, (60 + i) * MS);
		assert_int_equal(in.end_ns, START + (i * 1000 + 60 + i) * MS);
	}
	assert_int_equal(triggers_next(t, &in, &err), 0);
	triggers_free(t);
}

/* A gap of 2 ms, between two checks, is a break. */
static void for_is_without_a_break(void **state)
{
	static const char *const exprs[] = {"waiting>2 for 300ms", "waiting>2 for 200ms"};
	struct play *p = *state;
	size_t n[2] = {0};

	for (int i = 0; i < 3; i++)
		triggered_begin(p, i, 5 * MS + (uint64_t)i, i, LCB_F_MUTEX);
	rounds(p, 10 * MS, 250 * MS, 10 * MS);
	triggered_end(p, 1, 253 * MS, 1);
	triggered_begin(p, 1, 255 * MS, 1, LCB_F_MUTEX);
	rounds(p, 260 * MS, 500 * MS, 10 * MS);
	for (int i = 0; i < 3; i++)
		triggered_end(p, i, 505 * MS + (uint64_t)i, i);
	p->cooldown_ns = 0;
	const struct fired *f = triggered(p, exprs, 2);
	for (size_t i = 0; i < f->n; i++)
		n[f->list[i].trigger]++;
	assert_int_equal(n[0], 0);
	assert_int_equal(n[1], 2);
}

/* Waits of 10 to 20 ms in D, of which a look each 10 ms sees a half: each one fires. A mutex that
 * spins at its end has slept until then. */
static void blocked_misses_none(void **state)
{
	struct play *p = *state;

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = i * 103 * MS;
		triggered_begin(p, 0, at, 0, LCB_F_MUTEX);
		if (i % 2)
			triggered_begin(p, 0, at + 11 * MS, 0, LCB_F_MUTEX | LCB_F_SPIN);
		triggered_end(p, 0, at + (11 + i % 5) * MS, 0);
		rounds(p, at + 40 * MS, at + 40 * MS, 1);
		triggered_begin(p, 1, at + 50 * MS, 1, LCB_F_MUTEX | LCB_F_SPIN);
		triggered_end(p, 1, at + 65 * MS, 1);
		rounds(p, at + 90 * MS, at + 90 * MS, 1);
	}
	p->cooldown_ns = 0;
	const struct fired *f = triggered_one(p, "blocked>10ms");
	assert_int_equal(f->n, 20);
}

/* Tasks sleep interruptibly for locks of programs and files; wait>TIME is about all. */
static void locks_of_programs_do_not_block(void **state)
{
	static const char *const exprs[] = {"blocked>10ms", "wait>10ms world:user",
					    "wait>10ms world:file", "wait>10ms world:kernel"};
	const uint32_t flags[] = {userlock_flags(USERLOCK_MUTEX, 0),
				  filelock_flags(FILELOCK_FLOCK, 0), LCB_F_MUTEX};
	struct play *p = *state;
	size_t n[4] = {0};

	for (int i = 0; i < 3; i++) {
		triggered_begin(p, i, (uint64_t)i * 40 * MS, i, flags[i]);
		triggered_end(p, i, (uint64_t)i * 40 * MS + 20 * MS, i);
	}
	rounds(p, 200 * MS, 200 * MS, 1);
	p->cooldown_ns = 0;
	const struct fired *f = triggered(p, exprs, 4);
	for (size_t i = 0; i < f->n; i++) {
		n[f->list[i].trigger]++;
		if (f->list[i].trigger == 1)
			assert_int_equal(f->list[i].begin_ns, START);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(n[i], 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, triggered_setup, triggered_teardown)
	const struct CMUnitTest tests[] = {
		TEST(one_that_was_taken_does_not_freeze),
		TEST(for_is_without_a_break),
		TEST(blocked_misses_none),
		TEST(locks_of_programs_do_not_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
