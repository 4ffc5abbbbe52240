// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acquisitions of mmap_locks: what pairs, what does not, and that no order and no loss of events
 * ever gives a time below 0 or counts anything twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include <inttypes.h>
#include <string.h>

#define MM 0xffff888100001000ull
#define MM2 0xffff888100002000ull

struct world {
	struct mmlocks l;
	struct strpool names;
};

static int setup(void **state)
{
	static struct world w;

	w = (struct world){0};
	*state = &w;
	return mmlock_init(&w.l);
}

static int teardown(void **state)
{
	struct world *w = *state;

	mmlock_deinit(&w->l);
	strpool_deinit(&w->names);
	return 0;
}

static void add_mmap_event(struct world *w, uint64_t t, enum event_kind kind, int tid, uint64_t mm,
			   bool write, bool success)
{
	struct event ev = {.kind = kind, .time = t, .pid = 100, .tid = tid};

	ev.mm.mm = mm;
	ev.mm.memcg_id = 7;
	ev.mm.memcg = NULL;
	ev.mm.write = write;
	ev.mm.success = success;
	assert_int_equal(mmlock_event(&w->l, &ev, &w->names, 0), 0);
}

#define ASK(t, tid, mm, write) add_mmap_event(w, t, EVENT_MM_START, tid, mm, write, false)
#define GET(t, tid, mm, write) add_mmap_event(w, t, EVENT_MM_ACQUIRED, tid, mm, write, true)
#define FAIL(t, tid, mm, write) add_mmap_event(w, t, EVENT_MM_ACQUIRED, tid, mm, write, false)
#define PUT(t, tid, mm, write) add_mmap_event(w, t, EVENT_MM_RELEASED, tid, mm, write, false)

static const struct mmlock_mode *mode_of(const struct world *w, uint64_t mm, bool write)
{
	const uint32_t *at = map64_get(&w->l.by_mm, mm);

	if (!at)
		fail_msg("no address space %" PRIx64, mm);
	return &w->l.mms[at ? *at : 0].mode[write];
}

static void a_triple_gives_wait_and_hold(void **state)
{
	struct world *w = *state;

	ASK(100, 1, MM, true);
	GET(150, 1, MM, true);
	PUT(400, 1, MM, true);
	const struct mmlock_mode *m = mode_of(w, MM, true);
	assert_int_equal(m->acquired, 1);
	assert_int_equal(m->wait.n, 1);
	assert_int_equal(m->wait.total_ns, 50);
	assert_int_equal(m->hold.n, 1);
	assert_int_equal(m->hold.max_ns, 250);
	assert_int_equal(w->l.asked_only + w->l.held_only + w->l.release_only + w->l.tried, 0);
}

/* A task that forks has two at a time; readers of two threads are independent. */
static void locks_and_threads_are_apart(void **state)
{
	struct world *w = *state;

	ASK(100, 1, MM, true);
	GET(110, 1, MM, true);
	ASK(120, 1, MM2, true);
	GET(121, 1, MM2, true);
	ASK(125, 2, MM, false);
	PUT(130, 1, MM2, true);
	PUT(140, 1, MM, true);
	GET(145, 2, MM, false);
	PUT(155, 2, MM, false);
	assert_int_equal(mode_of(w, MM, true)->hold.total_ns, 30);
	assert_int_equal(mode_of(w, MM2, true)->hold.total_ns, 9);
	assert_int_equal(mode_of(w, MM, false)->wait.total_ns, 20);
	assert_int_equal(mode_of(w, MM, false)->hold.total_ns, 10);
}

/* A trylock has no begin: it is an acquisition of unknown length. One that fails is none. */
static void trylocks_have_no_wait(void **state)
{
	struct world *w = *state;

	GET(100, 1, MM, false);
	PUT(110, 1, MM, false);
	FAIL(120, 1, MM, false);
	ASK(130, 1, MM, true);
	FAIL(140, 1, MM, true);
	const struct mmlock_mode *m = mode_of(w, MM, false);
	assert_int_equal(m->acquired, 1);
	assert_int_equal(m->failed, 1);
	assert_int_equal(m->wait.n, 0);
	assert_int_equal(m->hold.n, 1);
	assert_int_equal(w->l.tried, 1);
	assert_int_equal(mode_of(w, MM, true)->failed, 1);
	assert_int_equal(w->l.asked_only, 0);
}

static void a_downgrade_is_no_acquisition(void **state)
{
	struct world *w = *state;

	ASK(100, 1, MM, true);
	GET(110, 1, MM, true);
	GET(150, 1, MM, false);
	PUT(170, 1, MM, false);
	assert_int_equal(mode_of(w, MM, true)->hold.total_ns, 40);
	assert_int_equal(mode_of(w, MM, false)->hold.total_ns, 20);
	assert_int_equal(mode_of(w, MM, false)->acquired, 0);
	assert_int_equal(w->l.downgraded, 1);
	assert_int_equal(w->l.tried, 0);
}

/* The end of a hold has its begin; a write lock that becomes a read lock keeps its first place. */
static void a_hold_knows_where_it_was_got(void **state)
{
	struct world *w = *state;
	struct event ev = {.kind = EVENT_MM_ACQUIRED, .time = 100, .pid = 100, .tid = 1};

	ev.mm.mm = MM;
	ev.mm.memcg_id = 0;
	ev.mm.memcg = NULL;
	ev.mm.write = ev.mm.success = true;
	assert_int_equal(mmlock_event(&w->l, &ev, &w->names, 7), 0);
	assert_int_equal(w->l.last_end, MMLOCK_ENDS_NOTHING);
	ev.time = 150;
	ev.mm.write = false;
	assert_int_equal(mmlock_event(&w->l, &ev, &w->names, 9), 0);
	assert_int_equal(w->l.last_end, MMLOCK_ENDS_HOLD);
	assert_int_equal(w->l.last_ns, 50);
	assert_true(w->l.last_write);
	assert_int_equal(w->l.last_stack, 7);
	PUT(180, 1, MM, false);
	assert_int_equal(w->l.last_end, MMLOCK_ENDS_HOLD);
	assert_int_equal(w->l.last_ns, 30);
	assert_false(w->l.last_write);
	assert_int_equal(w->l.last_stack, 7);
}

static void what_does_not_pair_is_counted(void **state)
{
	struct world *w = *state;

	PUT(100, 1, MM, false); /* of another task, or from before */
	ASK(110, 1, MM, false);
	ASK(120, 1, MM, true); /* the first one has gone unseen */
	GET(130, 1, MM, true);
	ASK(140, 1, MM, false); /* given back unseen */
	GET(150, 1, MM, false);
	PUT(160, 1, MM, true); /* not what it has */
	assert_int_equal(w->l.release_only, 2);
	assert_int_equal(w->l.asked_only, 1);
	assert_int_equal(w->l.held_only, 2);
	assert_int_equal(mode_of(w, MM, true)->wait.total_ns, 10);
	assert_int_equal(mode_of(w, MM, true)->hold.n, 0);
}

static void losses_leave_nothing_open(void **state)
{
	struct world *w = *state;

	ASK(100, 1, MM, true);
	ASK(100, 2, MM, true);
	GET(110, 2, MM, true);
	mmlock_lost(&w->l, 0);
	GET(500, 1, MM, true);
	PUT(600, 2, MM, true);
	assert_int_equal(mode_of(w, MM, true)->wait.n, 1);
	assert_int_equal(mode_of(w, MM, true)->hold.n, 0);
	assert_int_equal(w->l.asked_only, 1);
	assert_int_equal(w->l.held_only, 1);
	assert_int_equal(w->l.tried, 1);
	assert_int_equal(w->l.release_only, 1);
}

/* Threads that end do not keep what they had; the others go on. */
static void a_thread_that_ends_is_forgotten(void **state)
{
	struct world *w = *state;

	for (int tid = 1; tid <= 5; tid++)
		ASK(100, tid, MM, false);
	mmlock_exit(&w->l, 2);
	mmlock_exit(&w->l, 5);
	mmlock_exit(&w->l, 77);
	assert_int_equal(w->l.n_tasks, 3);
	for (int tid = 1; tid <= 5; tid++)
		GET(200, tid, MM, false);
	assert_int_equal(mode_of(w, MM, false)->wait.n, 3);
	assert_int_equal(w->l.tried, 2);
	assert_int_equal(w->l.asked_only, 2);
}

/* The process is who takes it most; when it ends its address may be another one's. */
static void the_process_is_voted_for(void **state)
{
	struct world *w = *state;
	struct event ev = {.kind = EVENT_MM_ACQUIRED, .time = 1, .pid = 200, .tid = 200};

	ev.mm.mm = MM;
	ev.mm.success = ev.mm.write = true;
	ev.mm.memcg_id = 0;
	ev.mm.memcg = "/a";
	assert_int_equal(mmlock_event(&w->l, &ev, &w->names, 0), 0); /* who forks, in the child's */
	for (int i = 0; i < 8; i++)
		GET(10, 101, MM, false);
	assert_int_equal(w->l.mms[1].pid, 100);
	assert_string_equal(w->l.mms[1].memcg, "/a");
	mmlock_exit(&w->l, 101); /* a thread */
	assert_false(w->l.mms[1].over);
	mmlock_end(&w->l, 100, "a");
	assert_true(w->l.mms[1].over);
	GET(20, 101, MM, false);
	assert_int_equal(w->l.n, 3);
	assert_int_equal(w->l.mms[2].mode[0].acquired, 1);
	assert_int_equal(w->l.mms[1].mode[0].acquired, 8);
}

static void the_offset_is_learned(void **state)
{
	struct world *w = *state;

	mmlock_contended(&w->l, 1, MM + 0x78);
	ASK(100, 1, MM, true);
	mmlock_contended(&w->l, 1, MM - 0x78);
	mmlock_contended(&w->l, 1, MM + 0x10000);
	mmlock_contended(&w->l, 2, MM + 0x78);
	assert_int_equal(w->l.lock_offset, 0);
	mmlock_contended(&w->l, 1, MM + 0x78);
	assert_int_equal(w->l.lock_offset, 0x78);
}

static uint64_t acquired_of_all(const struct mmlocks *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->mms[i].mode[0].acquired + l->mms[i].mode[1].acquired;
	return n;
}

/* More address spaces than there is room for: those that are over make room, nothing is lost. */
static void many_address_spaces_are_summed_up(void **state)
{
	struct world *w = *state;
	struct event ev = {.kind = EVENT_MM_ACQUIRED, .time = 1};
	const uint32_t all = 3 * MMLOCK_MMS;

	ev.mm.success = true;
	ev.mm.write = false;
	ev.mm.memcg_id = 0;
	ev.mm.memcg = NULL;
	for (uint32_t i = 0; i < all; i++) {
		ev.mm.mm = MM + i * 0x1000ull;
		ev.pid = ev.tid = (int32_t)i + 1;
		assert_int_equal(mmlock_event(&w->l, &ev, &w->names, 0), 0);
		if (i % 3) {
			mmlock_exit(&w->l, ev.tid);
			mmlock_end(&w->l, ev.pid, "a");
		}
	}
	assert_in_range(w->l.n, 2, MMLOCK_MMS);
	assert_int_equal(acquired_of_all(&w->l), all);
}

static void a_burst_ends_what_is_open(void **state)
{
	struct world *w = *state;
	struct mmlevel_how how = {
		.level = MMLEVEL_SAMPLED, .one_in = 10, .from_ns = 1000, .to_ns = 2000};

	ASK(1900, 1, MM, true);
	mmlock_how(&w->l, &how, 0);
	GET(3000, 1, MM, true);
	assert_int_equal(mode_of(w, MM, true)->wait.n, 0);
	assert_int_equal(w->l.seen_ns, 1000);
	how.from_ns = 5000;
	how.to_ns = 6000;
	mmlock_how(&w->l, &how, 5400);
	assert_int_equal(w->l.seen_ns, 1600);
	mmlock_how(&w->l, &how, 7000); /* of before the sums began */
	assert_int_equal(w->l.seen_ns, 1600);
}

static void zeroing_keeps_what_is_open(void **state)
{
	struct world *w = *state;

	ASK(100, 1, MM, true);
	GET(110, 1, MM, true);
	mmlock_zero(&w->l);
	assert_int_equal(mode_of(w, MM, true)->acquired, 0);
	PUT(200, 1, MM, true);
	assert_int_equal(mode_of(w, MM, true)->hold.n, 1);
	assert_int_equal(w->l.mms[1].pid, 100);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

struct sums {
	uint64_t asked, got, failed, given;
};

static void check(const struct mmlocks *l, const struct sums *s, uint64_t elapsed)
{
	uint64_t waits = 0, holds = 0, acquired = 0, failed = 0, open_asked = 0, open_held = 0;

	for (size_t i = 0; i < l->n; i++)
		for (int k = 0; k < 2; k++) {
			const struct mmlock_mode *m = &l->mms[i].mode[k];
			waits += m->wait.n;
			holds += m->hold.n;
			acquired += m->acquired;
			failed += m->failed;
			assert_true(m->wait.max_ns <= elapsed && m->hold.max_ns <= elapsed);
			assert_true(m->wait.min_ns <= m->wait.max_ns);
			assert_true(m->hold.total_ns <= m->hold.n * m->hold.max_ns);
		}
	for (size_t i = 0; i < l->n_tasks; i++)
		for (int k = 0; k < MMLOCK_OPEN; k++) {
			open_asked += l->tasks[i].open[k].state == MMLOCK_ASKED;
			open_held += l->tasks[i].open[k].state == MMLOCK_HELD;
		}
	/* Each event ends in one of the sums. */
	assert_int_equal(acquired + l->downgraded, s->got);
	assert_int_equal(waits + l->tried, acquired);
	assert_int_equal(failed, s->failed);
	assert_true(waits + l->asked_only + open_asked <= s->asked);
	assert_true(waits + l->asked_only + open_asked + failed >= s->asked);
	assert_true(holds <= s->given + l->downgraded);
	assert_true(holds + l->release_only >= s->given);
	assert_int_equal(holds + l->held_only + open_held, s->got);
}

/* Whatever comes, in any order, with losses, ends of threads and other programs in between. */
static void no_order_counts_twice(void **state)
{
	struct world *w = *state;

	for (uint64_t round = 1; round <= 200; round++) {
		uint64_t seed = round, t = 1000;
		struct sums s = {0};

		mmlock_deinit(&w->l);
		assert_int_equal(mmlock_init(&w->l), 0);
		for (int i = 0; i < 400; i++) {
			int tid = (int)draw(&seed, 4) + 1;
			uint64_t mm = MM + draw(&seed, 6) * 0x1000, what = draw(&seed, 40);
			bool write = draw(&seed, 2), success = draw(&seed, 8);
			t += draw(&seed, 3);
			if (what == 0)
				mmlock_lost(&w->l, 0);
			else if (what == 1)
				mmlock_exit(&w->l, tid);
			else if (what == 2)
				mmlock_end(&w->l, 100, "a");
			else
				add_mmap_event(w, t, EVENT_MM_START + what % 3, tid, mm, write,
					       success);
			s.asked += what > 2 && what % 3 == 0;
			s.got += what > 2 && what % 3 == 1 && success;
			s.failed += what > 2 && what % 3 == 1 && !success;
			s.given += what > 2 && what % 3 == 2;
		}
		check(&w->l, &s, t - 1000);
	}
}

static void levels_have_names(void **state)
{
	static const char *const bad[] = {"",		"some",		 "all=2",
					  "sampled=",	"sampled=1",	 "sampled=1001",
					  "sampled=x",	"sampled=-2",	 "pid",
					  "sampled=2 ", "contended=",	 "contended,paths",
					  "all,",	"all,path",	 "all,paths,paths",
					  ",paths",	"sampled=,paths"};
	struct mmlevel_how how;

	(void)state;
	for (uint32_t i = 0; i < MMLEVELS; i++) {
		if (i == MMLEVEL_WAS_PID)
			continue;
		assert_int_equal(mmlevel_parse(mmlevel_name(i), &how), 0);
		assert_int_equal(how.level, i);
		assert_int_equal(how.one_in, i == MMLEVEL_SAMPLED ? MMLEVEL_ONE_IN : 1);
	}
	assert_int_equal(mmlevel_parse("sampled=50", &how), 0);
	assert_int_equal(how.one_in, 50);
	assert_int_equal(how.paths, 0);
	assert_int_equal(mmlevel_parse("sampled=50,paths", &how), 0);
	assert_int_equal(how.one_in, 50);
	assert_int_equal(how.level, MMLEVEL_SAMPLED);
	assert_int_equal(how.paths, 1);
	assert_int_equal(mmlevel_parse("all,paths", &how), 0);
	assert_int_equal(how.level, MMLEVEL_ALL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(mmlevel_parse(bad[i], &how), 0);
	assert_string_equal(mmlevel_name(MMLEVELS), "?");
	const struct mmlevel_how older = {
		.level = MMLEVEL_WAS_PID, .asked = MMLEVEL_WAS_PID, .one_in = 1};
	assert_true(mmlevel_decode(&older, sizeof(older), &how));
	assert_string_equal(mmlevel_name(how.level), "all");
	assert_string_equal(mmlevel_name(how.asked), "all");
	memset(&how, 'x', sizeof(how));
	assert_false(mmlevel_decode(&how, sizeof(how), &how));
	assert_false(mmlevel_decode(&how, sizeof(how) - 1, &how));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_triple_gives_wait_and_hold),
		TEST(locks_and_threads_are_apart),
		TEST(a_hold_knows_where_it_was_got),
		TEST(trylocks_have_no_wait),
		TEST(a_downgrade_is_no_acquisition),
		TEST(what_does_not_pair_is_counted),
		TEST(losses_leave_nothing_open),
		TEST(a_thread_that_ends_is_forgotten),
		TEST(the_process_is_voted_for),
		TEST(the_offset_is_learned),
		TEST(many_address_spaces_are_summed_up),
		TEST(a_burst_ends_what_is_open),
		TEST(zeroing_keeps_what_is_open),
		TEST(no_order_counts_twice),
		TEST(levels_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
