// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers about tasks in state D, whatever they sleep for: by cause and name, one incident for
 * each sleep, with the chain to what the task waits for in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "kontend/error.h"
#include "lock-snaps.h"
#include "triggered.h"

#include <string.h>

static void rounds(struct play *p, uint64_t from, uint64_t to, uint64_t step)
{
	for (uint64_t t = from; t <= to; t += step)
		synth_round(p->rig.synth, START + t);
}

struct sleeper {
	int tid;
	const char *comm;
	enum lock_snap_sleep sleep;
	uint64_t since; /* after START */
	int child;
};

/* A snapshot at START + @at. */
static void look(struct play *p, uint64_t at, const struct sleeper *sleepers, int n)
{
	struct locksnap s = {0};

	s.head.knows_blocked = 1;
	for (int i = 0; i < n; i++) {
		const struct sleeper *one = &sleepers[i];
		struct locksnap_blocked b = {.pid = one->tid,
					     .tid = one->tid,
					     .state = LOCKSNAP_BLOCKED_D,
					     .by_pid = one->child,
					     .by_tid = one->child};
		b.by_comm = locksnap_add_text(&s, "cc1");
		if (one->sleep == LOCK_SNAP_LOG)
			b.device = locksnap_add_text(&s, "vda1");
		b.kthread = one->sleep == LOCK_SNAP_LOG_THREAD;
		lock_snap_blocked(&s, b, one->comm, one->sleep, START + one->since);
	}
	lock_snap_emit(p->rig.synth, &s, START + at);
	rounds(p, at, at + 900 * MS, 50 * MS);
}

static const struct sleeper log_waiter = {900, "sqlite", LOCK_SNAP_LOG, 100 * MS, 0},
			    log_thread = {300, "jbd2/vda1-8", LOCK_SNAP_LOG_THREAD, 200 * MS, 0},
			    parent = {70, "make", LOCK_SNAP_VFORK, 1500 * MS, 71};

/* sqlite waits for the log, and its thread for the device, from 0.1 s on; make from 1.5 s on. */
static void play(struct play *p)
{
	const struct sleeper all[] = {log_waiter, log_thread, parent};

	for (uint64_t at = 1000 * MS; at <= 5000 * MS; at += 1000 * MS)
		look(p, at, all, at < 2000 * MS ? 2 : 3);
	look(p, 6000 * MS, all + 2, 1);
	look(p, 7000 * MS, NULL, 0);
}

static const struct incident *nth_of(const struct fired *f, uint32_t trigger, size_t nth)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i].trigger == trigger && !nth--)
			return &f->list[i];
	return NULL;
}

static const struct incident *first_of(const struct fired *f, uint32_t trigger)
{
	const struct incident *in = nth_of(f, trigger, 0);

	if (!in)
		fail_msg("trigger %u has not fired", trigger);
	return in ? in : &f->list[0];
}

static size_t count_of(const struct fired *f, uint32_t trigger)
{
	size_t n = 0;

	while (nth_of(f, trigger, n))
		n++;
	return n;
}

/* Those that pass the limit in one snapshot are one incident; a later one has its own. */
static void each_sleep_fires_once(void **state)
{
	static const char *const exprs[] = {"blocked>2s", "hung>2s", "hung>100s"};
	struct play *p = *state;

	play(p);
	const struct fired *f = triggered(p, exprs, 3);
	for (uint32_t i = 0; i < 2; i++) {
		const struct incident *log = nth_of(f, i, 0), *vfork = nth_of(f, i, 1);
		assert_int_equal(count_of(f, i), 2);
		assert_int_equal(log->tid, 900);
		assert_string_equal(log->task, "sqlite");
		assert_string_equal(log->fired + strlen(i ? "hung" : "blocked"),
				    ": 2.90s, for jbd2 commit vda1");
		assert_string_equal(log->chain, "sqlite/900 -> jbd2 commit vda1 -> "
						"jbd2/vda1-8/300 -> writeback vda1");
		assert_string_equal(log->because, "jbd2/vda1-8/300: writeback");
		assert_int_equal(log->holder_tid, 300);
		assert_in_range(log->fired_ns, START + 3000 * MS, START + 3060 * MS);
		assert_in_range(log->begin_ns, START + 100 * MS, START + 160 * MS);
		assert_int_equal(vfork->tid, 70);
		assert_string_equal(vfork->chain, "make/70 -> child of vfork -> cc1/71");
		assert_in_range(vfork->fired_ns, START + 4000 * MS, START + 4060 * MS);
	}
	assert_int_equal(count_of(f, 2), 0);
	/* The last one ended when a snapshot did not have it any more. */
	assert_false(f->goes_on);
	assert_int_equal(f->followed.tid, 70);
	assert_int_equal(f->followed.worst_ns, 4500 * MS);
	assert_in_range(f->followed.end_ns, START + 7000 * MS, START + 7060 * MS);
}

static void causes_and_names_select(void **state)
{
	static const char *const exprs[] = {
		"blocked:jbd2>2s",	     "blocked>2s cause:vfork",	"hung>1s comm:make",
		"hung:vfork>1s comm:sqlite", "blocked:\"child of\">2s", "comm:make blocked>2s",
		"blocked>2s type:rwsem",     "blocked:JBD2>2s !comm:x",
	};
	static const size_t wanted[] = {1, 1, 1, 0, 1, 1, 0, 1};
	static const int32_t tids[] = {900, 70, 70, 0, 70, 70, 0, 900};
	struct play *p = *state;

	play(p);
	const struct fired *f = triggered(p, exprs, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(count_of(f, i), wanted[i]);
		if (wanted[i])
			assert_int_equal(first_of(f, i)->tid, tids[i]);
	}
}

/* While it is silent a new sleep waits for its incident, which comes after that. */
static void no_sleep_is_lost_in_the_cooldown(void **state)
{
	struct play *p = *state;

	p->cooldown_ns = 1900 * MS;
	play(p);
	const struct fired *f = triggered_one(p, "hung>2s");
	assert_int_equal(f->n, 2);
	assert_int_equal(f->list[1].tid, 70);
	assert_in_range(f->list[1].fired_ns, START + 5000 * MS, START + 5060 * MS);
	assert_string_equal(f->list[1].fired, "hung: 3.50s, for child of vfork");
}

/* A wait for a lock is judged by events: the snapshot that has its task fires no second time. */
static void a_wait_and_its_sleep_are_one(void **state)
{
	static const char *const exprs[] = {"blocked>1s", "hung>1s"};
	const struct sleeper waiter = {700, "t", LOCK_SNAP_LOCK, 100 * MS, 0};
	struct play *p = *state;

	triggered_begin(p, 0, 101 * MS, 0, LCB_F_READ);
	for (uint64_t at = 1000 * MS; at <= 4000 * MS; at += 1000 * MS)
		look(p, at, &waiter, 1);
	triggered_end(p, 0, 4950 * MS, 0);
	look(p, 5000 * MS, NULL, 0);
	const struct fired *f = triggered(p, exprs, 2);
	assert_int_equal(count_of(f, 0), 1);
	assert_in_range(first_of(f, 0)->fired_ns, START + 1101 * MS, START + 1151 * MS);
	assert_int_equal(count_of(f, 1), 1);
	assert_in_range(first_of(f, 1)->fired_ns, START + 2000 * MS, START + 2060 * MS);
	assert_non_null(strstr(first_of(f, 0)->chain, "/700 -> rwsem "));
}

/* A sleep that lasts hides no wait for a lock, and none hides a sleep. */
static void a_wait_beside_a_sleep_has_its_own(void **state)
{
	const struct sleeper all[] = {log_waiter, parent};
	struct play *p = *state;

	look(p, 1500 * MS, all, 1);
	triggered_begin(p, 0, 2500 * MS, 0, LCB_F_READ);
	for (uint64_t at = 2550 * MS; at <= 4550 * MS; at += 1000 * MS)
		look(p, at, all, 2);
	triggered_end(p, 0, 5550 * MS, 0);
	look(p, 5600 * MS, all, 1);
	look(p, 6600 * MS, NULL, 0);
	const struct fired *f = triggered_one(p, "blocked>1s");
	assert_int_equal(f->n, 3);
	assert_int_equal(f->list[0].tid, 900);
	assert_int_equal(f->list[1].tid, 70);
	assert_int_equal(f->list[2].tid, 700);
	assert_true(f->list[2].lock);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *expr, *why;
	} wrong[] = {
		{"wait>2s cause:jbd2", "column 9"},
		{"blocked:>2s", "give '>' and a duration"},
		{"blocked:jbd2", "give '>' and a duration"},
		{"hung>2s nosuch:x", "column 9"},
		{"hung>5 for 3s", "'for' is only for"},
		{"dstate>5 comm:x", "takes no terms"},
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		err = (struct error){0};
		assert_int_not_equal(trigger_check(wrong[i].expr, &err), 0);
		if (!strstr(err.text, wrong[i].why))
			fail_msg("%s: %s", wrong[i].expr, err.text);
	}
	/* No wait has to be reported for these. */
	assert_true(trigger_least_ns("blocked:jbd2>2s") == UINT64_MAX);
	assert_true(trigger_least_ns("hung>2s") == UINT64_MAX);
	assert_int_equal(trigger_least_ns("blocked>2s comm:x"), 2000 * MS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, triggered_setup, triggered_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_sleep_fires_once),
		TEST(causes_and_names_select),
		TEST(no_sleep_is_lost_in_the_cooldown),
		TEST(a_wait_and_its_sleep_are_one),
		TEST(a_wait_beside_a_sleep_has_its_own),
		cmocka_unit_test(mistakes_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
