// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chains that go on through sleeps for something else than a lock: journals, devices, children of
 * vfork; those that begin there; circles through them; and random graphs against following each
 * task by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-blame.h"
#include "kontend/query-chains.h"
#include "lock-snaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(n) (0xffff888000001000ull + 256 * (uint64_t)(n))
#define LOOK (CANNED_START + 500 * MS)
#define END (CANNED_START + 1000 * MS)

static void begin(struct asked *w)
{
	char symbols[16384];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
}

static void end(struct asked *w, struct locksnap *s)
{
	lock_snap_emit(w->rig.synth, s, LOOK);
	synth_tick(w->rig.synth, END);
	asked_play(w, NULL);
}

/* A thread waits for a lock that @holder has, which the snapshot sees in that state. */
static void wait_since(struct asked *w, struct locksnap *s, int pid, int tid, uint64_t begin_ms,
		       int lock, int holder, enum locksnap_state state)
{
	struct locksnap_queue q = {.addr = LOCK(lock),
				   .type = LOCKSNAP_RWSEM,
				   .writers_waiting = 1,
				   .holder_pid = holder,
				   .holder_tid = holder,
				   .certainty = LOCKSNAP_SURE,
				   .holder_state = state};

	synth_begin(w->rig.synth, 0, CANNED_START + begin_ms * MS, pid, tid, LOCK(lock),
		    LCB_F_WRITE, NULL, 0);
	q.holder_comm = locksnap_add_text(s, "t");
	lock_snap_waiter(s, 1, pid, tid, "cat", false);
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

static void wait_for(struct asked *w, struct locksnap *s, int tid, int lock, int holder,
		     enum locksnap_state state)
{
	wait_since(w, s, tid, tid, 100, lock, holder, state);
}

/* In state D, for the log of vda1. */
static void wait_for_log(struct locksnap *s, int pid, int tid, const char *comm)
{
	struct locksnap_blocked b = {.pid = pid, .tid = tid, .state = LOCKSNAP_BLOCKED_D, .io = 1};

	b.device = locksnap_add_text(s, "vda1");
	lock_snap_blocked(s, b, comm, LOCK_SNAP_LOG, LOOK - 50 * MS);
}

static void log_thread(struct locksnap *s)
{
	const struct locksnap_blocked b = {
		.pid = 300, .tid = 300, .state = LOCKSNAP_BLOCKED_D, .kthread = 1};

	lock_snap_blocked(s, b, "jbd2/vda1-8", LOCK_SNAP_LOG_THREAD, LOOK - 20 * MS);
}

/* A request of a thread to the daemon 900, since 450 ms. */
static void ask_server(struct locksnap *s, int pid, int tid)
{
	struct locksnap_blocked b = {.pid = pid, .tid = tid, .state = LOCKSNAP_BLOCKED_S};

	b.by_pid = b.by_tid = 900;
	b.by_comm = locksnap_add_text(s, "sshfs");
	lock_snap_blocked(s, b, "t", LOCK_SNAP_FUSE, LOOK - 50 * MS);
}

static void wait_for_server(struct locksnap *s, int tid)
{
	ask_server(s, tid, tid);
}

static void vfork_for(struct locksnap *s, int tid, int child)
{
	struct locksnap_blocked b = {.pid = tid, .tid = tid, .state = LOCKSNAP_BLOCKED_D};

	b.by_pid = b.by_tid = child;
	b.by_comm = locksnap_add_text(s, "child");
	lock_snap_blocked(s, b, "parent", LOCK_SNAP_VFORK, LOOK - 30 * MS);
}

static struct table query_table(struct asked *w)
{
	const struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	return t;
}

struct row {
	const char *row, *what, *is;
	int parent, behind;
};

static void check_rows(const struct table *t, const struct row *rows, size_t n)
{
	assert_int_equal(t->n_rows, n);
	for (size_t i = 0; i < n; i++) {
		const struct value *is = cell_at(t, i, "is"), *parent = cell_at(t, i, "parent");
		assert_string_equal(cell_s(t, i, "row"), rows[i].row);
		assert_string_equal(cell_s(t, i, "what"), rows[i].what);
		assert_int_equal(cell_u(t, i, "behind"), rows[i].behind);
		assert_int_equal(parent->known ? parent->i : -1, rows[i].parent);
		if (rows[i].is)
			assert_string_equal(is->s, rows[i].is);
		else
			assert_false(is->known);
	}
}

/* cat waits for a lock of t, which waits for the log, whose thread waits for the device. */
static void a_chain_goes_on_to_the_device(void **state)
{
	static const struct row rows[] = {
		{"root", "writeback vda1", NULL, -1, 4},
		{"waiter", "  jbd2/vda1-8/300", "sleeps in folio_wait_bit_common", 0, 3},
		{"object", "    jbd2 commit vda1", NULL, 1, 3},
		{"waiter", "      t/700", "sleeps in jbd2_log_wait_commit", 2, 1},
		{"lock", "        rwsem 0xffff888000001000", NULL, 3, 1},
		{"waiter", "          W -/800", NULL, 4, 0},
		{"waiter", "      sqlite/901", "sleeps in jbd2_log_wait_commit", 2, 0},
	};
	struct asked *w = *state;
	struct query_chains_sum sum;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	wait_for_log(&s, 700, 700, "t");
	wait_for_log(&s, 900, 901, "sqlite");
	log_thread(&s);
	end(w, &s);
	struct table t = query_table(w);
	check_rows(&t, rows, sizeof(rows) / sizeof(*rows));
	assert_int_equal(cell_at(&t, 1, "tid")->i, 300);
	assert_string_equal(cell_s(&t, 2, "asleep_for"), "jbd2 commit");
	assert_string_equal(cell_s(&t, 2, "asleep_dev"), "vda1");
	assert_string_equal(cell_s(&t, 3, "state"), "asleep");
	assert_int_equal(cell_u(&t, 3, "longest_ns"), 50 * MS);
	assert_int_equal(cell_u(&t, 0, "waited_ns"), (900 + 50 + 50 + 20) * MS);
	assert_string_equal(query_chains_of(&w->q, 800),
			    "-/800 -> rwsem 0xffff888000001000 -> t/700 W -> jbd2 commit vda1 "
			    "-> jbd2/vda1-8/300 -> writeback vda1");
	assert_string_equal(query_chains_of(&w->q, 300), "jbd2/vda1-8/300 -> writeback vda1");
	assert_null(query_chains_of(&w->q, 4711));
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.roots, 1);
	assert_int_equal(sum.tasks, 4);
	assert_int_equal(sum.circles, 0);
}

/* Blame is charged to the holder, and has the end of its chain. */
static void blame_has_the_end(void **state)
{
	const struct query_blame_spec by = {.by = BLAME_BY_TASK};
	const struct query_spec spec = {0};
	struct asked *w = *state;
	struct locksnap s = {0};
	struct error err = {0};
	struct table t;

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	wait_for_log(&s, 700, 700, "t");
	log_thread(&s);
	end(w, &s);
	assert_int_equal(query_blame(&w->q, &by, &spec, &t, &err), 0);
	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_at(&t, i, "tid")->i == 700) {
			assert_string_equal(
				cell_s(&t, i, "ends_at"),
				"jbd2 commit vda1 -> jbd2/vda1-8/300 -> writeback vda1");
			return;
		}
	fail_msg("the holder is not to blame");
}

/*
 * Of the daemon's threads one has waited since before the request, and one began after it: that one
 * has the request.
 */
static void a_server_waits_itself(void **state)
{
	static const struct row rows[] = {
		{"root", "t/902 W", "asleep", -1, 4},
		{"lock", "  rwsem 0xffff888000001100", NULL, 0, 3},
		{"waiter", "    W -/901", NULL, 1, 2},
		{"object", "      FUSE daemon", NULL, 2, 2},
		{"waiter", "        t/700", "sleeps in request_wait_answer", 3, 1},
		{"lock", "          rwsem 0xffff888000001000", NULL, 4, 1},
		{"waiter", "            W -/800", NULL, 5, 0},
		{"lock", "  rwsem 0xffff888000001200", NULL, 0, 1},
		{"waiter", "    W -/903", NULL, 7, 0},
	};
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	wait_since(w, &s, 900, 903, 200, 2, 902, LOCKSNAP_ASLEEP);
	wait_since(w, &s, 900, 901, 460, 1, 902, LOCKSNAP_ASLEEP);
	wait_for_server(&s, 700);
	end(w, &s);
	struct table t = query_table(w);
	check_rows(&t, rows, sizeof(rows) / sizeof(*rows));
	assert_string_equal(cell_s(&t, 3, "certainty"), "evidence");
	assert_int_equal(cell_at(&t, 3, "tid")->i, 901);
	assert_int_equal(cell_at(&t, 3, "pid")->i, 900);
}

/* No thread has begun to wait since: the request is in the queue of the one that waits. */
static void a_server_that_waits_has_a_queue(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	wait_since(w, &s, 900, 903, 200, 2, 902, LOCKSNAP_ASLEEP);
	wait_for_server(&s, 700);
	end(w, &s);
	assert_string_equal(query_chains_of(&w->q, 800),
			    "-/800 -> rwsem 0xffff888000001000 -> t/700 W -> FUSE daemon -> "
			    "-/903 -> rwsem 0xffff888000001200 -> t/902 W");
}

/* A daemon none of whose threads waits is the root, as a process. */
static void a_server_that_runs_is_the_root(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	wait_since(w, &s, 904, 904, 460, 2, 902, LOCKSNAP_ASLEEP); /* of another process */
	wait_for_server(&s, 700);
	end(w, &s);
	assert_string_equal(query_chains_of(&w->q, 800),
			    "-/800 -> rwsem 0xffff888000001000 -> t/700 W -> FUSE daemon -> "
			    "sshfs/900");
}

/* Threads of the server that wait for one that asks it itself are no proof of a circle. */
static void a_process_that_asks_itself_is_the_root(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_since(w, &s, 900, 901, 460, 0, 902, LOCKSNAP_ASLEEP);
	ask_server(&s, 900, 902);
	end(w, &s);
	assert_string_equal(query_chains_of(&w->q, 901),
			    "-/901 -> rwsem 0xffff888000001000 -> t/902 W -> FUSE daemon -> "
			    "sshfs/900");
}

/* A task that waits for no lock: for its child, of which the snapshot knows that it can run. */
static void a_chain_begins_without_a_lock(void **state)
{
	static const struct row rows[] = {
		{"root", "child/71", "not blocked", -1, 1},
		{"object", "  child of vfork", NULL, 0, 1},
		{"waiter", "    parent/70", "sleeps in kernel_clone", 1, 0},
	};
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	vfork_for(&s, 70, 71);
	/* These wait for no task, and no task waits for them: they are blocked, but no chain. */
	lock_snap_blocked(
		&s, (struct locksnap_blocked){.pid = 80, .tid = 80, .state = LOCKSNAP_BLOCKED_D},
		"dd", LOCK_SNAP_PAGE, LOOK - MS);
	end(w, &s);
	struct table t = query_table(w);
	check_rows(&t, rows, sizeof(rows) / sizeof(*rows));
	assert_string_equal(query_chains_of(&w->q, 80), "dd/80 -> I/O of a page");
	assert_int_equal(cell_at(&t, 0, "tid")->i, 71);
	assert_false(cell_at(&t, 0, "asleep_for")->known);
}

static void a_root_without_a_cpu_is_kept_off_by_a_task(void **state)
{
	static const struct row rows[] = {
		{"root", "child/71", "runnable on 1, kept off by hog/99 (real-time 50)", -1, 1},
		{"object", "  child of vfork", NULL, 0, 1},
		{"waiter", "    parent/70", "sleeps in kernel_clone", 1, 0},
	};
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	vfork_for(&s, 70, 71);
	s.blocked[0].by_state = LOCKSNAP_RUNNABLE;
	s.blocked[0].by_cpu = 1;
	s.blocked[0].off_pid = s.blocked[0].off_tid = 99;
	s.blocked[0].off_prio = 50;
	s.blocked[0].off_comm = locksnap_add_text(&s, "hog");
	end(w, &s);
	struct table t = query_table(w);
	check_rows(&t, rows, sizeof(rows) / sizeof(*rows));
}

/* Of a snapshot that has not all of them nothing is known about those that it lacks. */
static void a_snapshot_without_room_proves_nothing(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	vfork_for(&s, 70, 71);
	s.head.blocked_dropped = 1;
	end(w, &s);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 3);
	assert_false(cell_at(&t, 0, "is")->known);
}

/* The snapshot saw the holder run when it read the queues, after it read the blocked tasks. */
static void a_holder_that_runs_is_the_root(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_RUNNING);
	wait_for_log(&s, 700, 700, "t");
	end(w, &s);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "what"), "t/700 W");
}

/* A cause that names nothing stays with the root, as it has no object. */
static void what_names_nothing_is_no_link(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 800, 0, 700, LOCKSNAP_ASLEEP);
	lock_snap_blocked(
		&s, (struct locksnap_blocked){.pid = 700, .tid = 700, .state = LOCKSNAP_BLOCKED_D},
		"t", LOCK_SNAP_UNKNOWN, LOOK - MS);
	end(w, &s);
	struct table t = query_table(w);
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "what"), "t/700 W");
}

/* A parent waits for its child, which waits for a lock of the parent: perhaps for ever. */
static void a_circle_through_a_sleep_is_not_proved(void **state)
{
	struct asked *w = *state;
	struct query_chains_sum sum;
	struct locksnap s = {0};

	begin(w);
	wait_for(w, &s, 71, 0, 70, LOCKSNAP_ASLEEP);
	vfork_for(&s, 70, 71);
	end(w, &s);
	struct table t = query_table(w);
	assert_string_equal(cell_s(&t, 0, "row"), "deadlock");
	assert_string_equal(cell_s(&t, 0, "what"), "deadlock? of 2 tasks");
	assert_int_equal(cell_u(&t, 0, "behind"), 2);
	assert_int_equal(query_chains_sum(&w->q, &sum), 0);
	assert_int_equal(sum.circles, 1);
	assert_int_equal(sum.proved, 0);
	const char *way = query_chains_of(&w->q, 71);
	assert_non_null(strstr(way, "child of vfork -> child/71"));
	assert_string_equal(way + strlen(way) - 4, " ...");
}

enum { TASKS = 40, TID = 700 };

/* The task that it waits for in the end; -1: a circle. */
static int root_of(const int *wants, int task)
{
	for (int steps = 0; wants[task] >= 0; steps++) {
		if (steps > TASKS)
			return -1;
		task = wants[task];
	}
	return task;
}

static void compare(const struct table *t, const int *wants)
{
	int behind[TASKS] = {0}, circles = 0;

	for (int i = 0; i < TASKS; i++) {
		const int root = root_of(wants, i);
		if (root >= 0 && wants[i] >= 0)
			behind[root]++;
		circles += root < 0;
	}
	for (size_t i = 0; i < t->n_rows; i++) {
		const int n = (int)cell_u(t, i, "behind");
		if (!strcmp(cell_s(t, i, "row"), "deadlock"))
			circles -= n;
		if (strcmp(cell_s(t, i, "row"), "root") != 0)
			continue;
		const int64_t root = cell_at(t, i, "tid")->i - TID;
		assert_in_range(root, 0, TASKS - 1);
		assert_int_equal(n, behind[root]);
		behind[root] = 0;
	}
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(behind[i], 0); /* each root is a row */
	assert_int_equal(circles, 0);
}

/* Each task waits for a lock of another one, or for that one itself, or can run. */
static void random_graphs_are_followed(void **state)
{
	unsigned seed = 11;

	for (int round = 0; round < 100; round++) {
		struct locksnap s = {0};
		int wants[TASKS];
		if (round) {
			asked_teardown(state);
			assert_int_equal(asked_setup_empty(state), 0);
		}
		begin(*state);
		for (int i = 0; i < TASKS; i++) {
			wants[i] = rand_r(&seed) % 4 ? rand_r(&seed) % TASKS : -1;
			wants[i] = wants[i] == i ? -1 : wants[i];
			if (wants[i] < 0)
				continue;
			if (rand_r(&seed) % 2)
				wait_for(*state, &s, TID + i, i, TID + wants[i], LOCKSNAP_ASLEEP);
			else
				vfork_for(&s, TID + i, TID + wants[i]);
		}
		end(*state, &s);
		struct table t = query_table(*state);
		compare(&t, wants);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_chain_goes_on_to_the_device),
		TEST(blame_has_the_end),
		TEST(a_server_waits_itself),
		TEST(a_server_that_waits_has_a_queue),
		TEST(a_server_that_runs_is_the_root),
		TEST(a_process_that_asks_itself_is_the_root),
		TEST(a_chain_begins_without_a_lock),
		TEST(a_root_without_a_cpu_is_kept_off_by_a_task),
		TEST(a_snapshot_without_room_proves_nothing),
		TEST(a_holder_that_runs_is_the_root),
		TEST(what_names_nothing_is_no_link),
		TEST(a_circle_through_a_sleep_is_not_proved),
		TEST(random_graphs_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
