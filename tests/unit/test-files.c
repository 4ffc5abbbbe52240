// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of files from a tree like /proc: lines of the kernel, which process has a lock, which
 * threads wait for it, and how the model takes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/locks/files.h"
#include "asked.h"
#include "canned.h"
#include "kontend/clock.h"
#include "kontend/damage.h"
#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/query-chains.h"
#include "kontend/snapshot-files.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[] = "/tmp/kontend-files-XXXXXX";

enum { DEV = 0xfe << 20, INO = 9987759 };

static void make_parents(char *path)
{
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static void file(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	make_parents(path);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A process of one thread with the file at descriptor 3; @locks: the line of its lock, or "". */
static void process(int pid, const char *comm, bool waits, const char *locks)
{
	char name[128], text[256];

	snprintf(name, sizeof(name), "%d/task/%d/comm", pid, pid);
	snprintf(text, sizeof(text), "%s\n", comm);
	file(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/syscall", pid, pid);
	snprintf(text, sizeof(text), waits ? "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7f 0x7e\n" : "%d 0x0\n",
		 waits ? SYS_flock : SYS_read);
	file(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/sched", pid, pid);
	snprintf(text, sizeof(text), "%s (%d, #threads: 1)\n---\nse.exec_start  :   12.000345\n",
		 comm, pid);
	file(name, text);
	snprintf(name, sizeof(name), "%d/stat", pid);
	/* It began a second after the kernel did; the CPU is 1. */
	snprintf(text, sizeof(text),
		 "%d (%s) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 20 0 1 0 %ld 0 0 0 0 0 0 0 0 0 0 0 0 "
		 "0 0 0 17 1 0\n",
		 pid, comm, sysconf(_SC_CLK_TCK));
	file(name, text);
	snprintf(name, sizeof(name), "%d/fdinfo/3", pid);
	snprintf(text, sizeof(text), "pos:\t0\nino:\t%d\n%s", INO, locks);
	file(name, text);
	snprintf(name, sizeof(name), "%s/%d/fd/3", root, pid);
	make_parents(name);
	(void)unlink(name);
	assert_int_equal(symlink("/var/lock/\033x", name), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static struct files_line good(const char *text)
{
	struct files_line l;

	assert_true(files_line_parse(text, &l));
	return l;
}

static void lines_of_the_kernel_are_read(void **state)
{
	struct files_line l = good("1: FLOCK  ADVISORY  WRITE 812 fe:00:9987759 0 EOF\n");

	(void)state;
	assert_int_equal(l.kind, FILELOCK_FLOCK);
	assert_false(l.waits || l.reads);
	assert_true(l.has_ino);
	assert_int_equal(l.pid, 812);
	assert_int_equal(l.dev, DEV);
	assert_int_equal(l.ino, INO);
	l = good("12:  -> POSIX  ADVISORY  READ  7 08:1f:5 100 200");
	assert_true(l.waits && l.reads);
	assert_int_equal(l.kind, FILELOCK_POSIX);
	assert_int_equal(l.dev, 8 << 20 | 31);
	assert_int_equal(l.start, 100);
	assert_int_equal(l.past, 201);
	l = good("3: OFDLCK ADVISORY  WRITE -1 fe:00:5 0 EOF");
	assert_int_equal(l.kind, FILELOCK_POSIX);
	assert_int_equal(l.pid, -1);
	assert_int_equal(l.start, 0);
	assert_int_equal(l.past, FILELOCK_EOF);
	l = good("2: LEASE  BREAKING  UNLCK 814 fe:00:9987760 0 EOF");
	assert_int_equal(l.kind, FILELOCK_LEASE);
	l = good("2: -> LEASE  BREAKER   WRITE 815 <none>:0 0 EOF");
	assert_true(l.waits && !l.has_ino);
}

static void other_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		":",
		"1:",
		"1: ->",
		"1 FLOCK ADVISORY WRITE 1 fe:00:5 0 EOF",
		"1: DELEG  ACTIVE READ 1 fe:00:5 0 EOF",
		"1: FLOCK ADVISORY WRITE",
		"1: FLOCK ADVISORY WRITE x fe:00:5 0 EOF",
		"1: FLOCK ADVISORY WRITE -2 fe:00:5 0 EOF",
		"1: FLOCK ADVISORY WRITE 99999999999 fe:00:5 0 EOF",
		"1: FLOCK ADVISORY WRITE 1 fe:00 0 EOF",
		"1: FLOCK ADVISORY WRITE 1 1000:00:5 0 EOF",
		"1: FLOCK ADVISORY WRITE 1 fe:100000:5 0 EOF",
		"1: FLOCK ADVISORY WRITE 1 fe:00:99999999999999999999 0 EOF",
		"1: FLOCK ADVISORY WRITE 1 fe:00: 0 EOF",
		"1: POSIX ADVISORY WRITE 1 fe:00:5",
		"1: POSIX ADVISORY WRITE 1 fe:00:5 0",
		"1: POSIX ADVISORY WRITE 1 fe:00:5 x EOF",
		"1: POSIX ADVISORY WRITE 1 fe:00:5 9 5",
		"1: POSIX ADVISORY WRITE 1 fe:00:5 0 9223372036854775807",
		"1: POSIX ADVISORY WRITE 1 fe:00:5 9223372036854775808 EOF"};
	struct files_line l;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(files_line_parse(bad[i], &l));
}

#define LOCKED "lock:\t1: FLOCK  ADVISORY  WRITE 900 fe:00:9987759 0 EOF\n"
#define HELD "1: FLOCK  ADVISORY  WRITE 900 fe:00:9987759 0 EOF\n"
#define WAITS(pid) "1: -> FLOCK  ADVISORY  WRITE " #pid " fe:00:9987759 0 EOF\n"

static void take(struct snapshot_files *f, struct locksnap *s, bool wanted)
{
	locksnap_clear(s);
	assert_int_equal(snapshot_files_add(f, wanted, NULL, s), 0);
}

static void a_queue_has_holder_waiters_and_path(void **state)
{
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(900, "holder", false, LOCKED);
	process(901, "one", true, "");
	process(902, "two", true, "");
	process(903, "gone on", false, "");
	file("locks", "7: POSIX  ADVISORY  WRITE 900 fe:00:1 0 EOF\n" HELD WAITS(901) WAITS(902)
			      WAITS(903) WAITS(904) "a line of a later kernel\n");
	take(f, &s, true);
	assert_int_equal(s.head.files, LOCKSNAP_FILES_ALL);
	assert_int_equal(s.n_queues, 1);
	const struct locksnap_queue *q = &s.queues[0];
	assert_int_equal(q->addr, filelock_addr(FILELOCK_FLOCK, DEV, INO));
	assert_int_equal(q->type, LOCKSNAP_FLOCK);
	assert_int_equal(q->certainty, LOCKSNAP_SURE);
	assert_int_equal(q->holder_pid, 900);
	assert_string_equal(locksnap_text(&s, q->holder_comm), "holder");
	assert_int_equal(q->holder_state, LOCKSNAP_ASLEEP);
	assert_int_equal(q->holder_fd, 3 + 1);
	/* By the clock of events, which stops while the machine is suspended. */
	int64_t age = (int64_t)(clock_now_ns() - q->taker_ns);
	assert_in_range(age, clock_ns(CLOCK_BOOTTIME) - 2000000000ull,
			clock_ns(CLOCK_BOOTTIME) - 1000000000ull + CANNED_MS);
	assert_int_equal(q->writers_waiting, 2);
	assert_int_equal(s.n_waiters, 2);
	assert_int_equal(s.waiters[0].tid, 901);
	assert_int_equal(s.waiters[1].tid, 902);
	assert_int_equal(s.waiters[1].position, 2);
	assert_int_equal(s.waiters[1].cpu, 1 + 1);
	assert_int_equal(s.n_names, 1);
	assert_string_equal(locksnap_text(&s, s.names[0].text), "/var/lock/?x");
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

/* The process that took the lock has ended; a child that waits for a file is named before others.
 */
static void a_lock_that_was_passed_on_is_found(void **state)
{
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(901, "waiter", true, "");
	process(910, "sh", false, LOCKED);
	file("locks", HELD WAITS(901));
	take(f, &s, true);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].holder_pid, 910);
	assert_int_equal(s.queues[0].holder_fd, 3 + 1);
	/* When the process that took it began is not known any more. */
	assert_int_equal(s.queues[0].taker_ns, 0);
	locksnap_deinit(&s);
	snapshot_files_free(f);

	f = snapshot_files_new(root);
	process(911, "flock", true, LOCKED);
	file("locks", HELD WAITS(901) "2: FLOCK  ADVISORY  WRITE 1 fe:00:5 0 EOF\n"
				      "2: -> FLOCK  ADVISORY  WRITE 911 fe:00:5 0 EOF\n");
	take(f, &s, true);
	assert_int_equal(s.queues[0].holder_pid, 911);
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

#define PART_OF(pid, from, to) "POSIX  ADVISORY  WRITE " #pid " fe:00:9987759 " #from " " #to "\n"

/* Each of two parts has its holder, and a task that waits for it; a third waits for both. */
static void each_part_has_its_holder(void **state)
{
	const uint64_t whole = filelock_addr(FILELOCK_POSIX, DEV, INO);
	const uint64_t past[] = {10, 20, FILELOCK_EOF}, start[] = {0, 10, 5};
	const int holders[] = {900, 901, 901}, waiters[] = {902, 903, 904};
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(900, "a", false, "lock:\t1: " PART_OF(900, 0, 9));
	process(901, "b", false, "lock:\t1: " PART_OF(901, 10, 19));
	for (int pid = 902; pid <= 904; pid++)
		process(pid, "w", true, "");
	file("locks",
	     "1: " PART_OF(900, 0, 9) "1: -> " PART_OF(902, 0, 9) "2: " PART_OF(
		     901, 10, 19) "2: -> " PART_OF(903, 10, 19) "2: -> " PART_OF(904, 5, EOF));
	take(f, &s, true);
	assert_int_equal(s.n_queues, 3);
	assert_int_equal(s.n_waiters, 3);
	for (int i = 0; i < 3; i++) {
		const struct locksnap_queue *q = &s.queues[i];
		assert_int_equal(q->addr, filelock_part(whole, start[i], past[i]));
		assert_int_equal(q->holder_pid, holders[i]);
		assert_int_equal(q->certainty, LOCKSNAP_SURE);
		assert_int_equal(s.waiters[i].tid, waiters[i]);
		assert_int_equal(s.waiters[i].queue, i);
		assert_int_equal(s.names[i].addr, q->addr);
		assert_int_equal(s.names[i].start, start[i]);
		assert_int_equal(s.names[i].past, past[i]);
	}
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

/* Two wait for the same part because of different ones; which thread waits for which part of a file
 * is unknown.
 */
static void where_parts_differ_no_holder_is_sure(void **state)
{
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(900, "a", false, "lock:\t1: " PART_OF(900, 0, 9));
	process(901, "b", false, "lock:\t1: " PART_OF(901, 10, 19));
	process(902, "c", true, "");
	process(903, "d", true, "");
	file("locks", "1: " PART_OF(900, 0, 9) "1: -> " PART_OF(902, 0, 19) "2: " PART_OF(
			      901, 10, 19) "2: -> " PART_OF(903, 0, 19));
	take(f, &s, true);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.n_waiters, 2);
	assert_int_equal(s.queues[0].holder_pid, 900);
	assert_int_equal(s.queues[0].certainty, LOCKSNAP_HINT);
	snapshot_files_free(f);
	f = snapshot_files_new(root);
	file("locks",
	     "1: " PART_OF(900, 0, 9) "1: -> " PART_OF(902, 0, 9) "1: -> " PART_OF(902, 5, 9));
	take(f, &s, true);
	assert_int_equal(s.n_waiters, 0);
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

/* Nothing has the lock any more that could be read. */
static void an_unknown_holder_is_not_named(void **state)
{
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(901, "waiter", true, "");
	file("locks", HELD WAITS(901));
	take(f, &s, true);
	assert_int_equal(s.n_waiters, 1);
	assert_int_equal(s.queues[0].certainty, LOCKSNAP_NOBODY);
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

/* Where no task waits it is not read again without need. */
static void it_is_read_where_waits_may_be(void **state)
{
	struct snapshot_files *f = snapshot_files_new(root);
	struct locksnap s = {0};

	(void)state;
	process(900, "holder", false, LOCKED);
	process(901, "one", true, "");
	file("locks", HELD);
	take(f, &s, false);
	assert_int_equal(s.head.files, LOCKSNAP_FILES_ALL);
	assert_int_equal(s.n_queues, 0);
	file("locks", HELD WAITS(901));
	take(f, &s, false);
	assert_int_equal(s.n_queues, 0);
	assert_int_equal(s.head.files, LOCKSNAP_FILES_UNKNOWN);
	while (!s.n_queues)
		take(f, &s, true);
	assert_int_equal(s.n_waiters, 1);
	locksnap_deinit(&s);
	snapshot_files_free(f);
}

/* The model. */

#define MS CANNED_MS
#define AT(ms) (CANNED_START + (uint64_t)(ms)*MS)

static uint64_t lock_of(unsigned i)
{
	return filelock_addr(FILELOCK_FLOCK, DEV, INO + i);
}

/* Task @tid has waited for file @i, which @holder has, since the begin of the session. */
static void seen(struct locksnap *s, unsigned i, int tid, int holder)
{
	const struct locksnap_queue q = {.addr = lock_of(i),
					 .type = LOCKSNAP_FLOCK,
					 .certainty = LOCKSNAP_SURE,
					 .holder_pid = holder,
					 .holder_tid = holder,
					 .holder_state = LOCKSNAP_ASLEEP,
					 .holder_cpu = -1,
					 .writers_waiting = 1};

	lock_snap_waiter(s, 1, tid, tid, "t", false);
	s->waiters[s->n_waiters - 1].ran_ns = AT(10);
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
}

/* Without any event, and with nothing later than the look. */
static void a_circle_in_one_look_is_a_deadlock(void **state)
{
	const struct query_spec spec = {0};
	struct asked *w = *state;
	struct locksnap s = {0};
	struct error err = {0};
	struct table t;

	start(w);
	s.head.files = LOCKSNAP_FILES_SAME;
	seen(&s, 0, 701, 702);
	seen(&s, 1, 702, 701);
	lock_snap_emit(w->rig.synth, &s, AT(500));
	synth_tick(w->rig.synth, AT(500));
	asked_play(w, NULL);
	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	assert_string_equal(cell_s(&t, 0, "row"), "deadlock");
	assert_string_equal(cell_s(&t, 0, "what"), "DEADLOCK of 2 tasks");
	assert_int_equal(cell_u(&t, 0, "longest_ns"), 490 * MS);
}

/* Snapshots at 100 ms and 400 ms have the holder, which began at 20 ms, or took the lock unseen. */
static void held(struct asked *w, uint64_t taker_ns, struct table *ret)
{
	const struct query_spec spec = {0};
	struct error err = {0};

	start(w);
	for (unsigned i = 0; i < 2; i++) {
		struct locksnap s = {0};
		s.head.files = LOCKSNAP_FILES_ALL;
		seen(&s, 0, 701, 702);
		s.queues[0].holder_fd = 9 + 1;
		s.queues[0].taker_ns = taker_ns;
		lock_snap_emit(w->rig.synth, &s, AT(100 + 300 * i));
		synth_tick(w->rig.synth, AT(100 + 300 * i));
	}
	asked_play(w, NULL);
	assert_int_equal(query_chains(&w->q, &spec, ret, &err), 0);
	assert_string_equal(cell_s(ret, 1, "row"), "lock");
	assert_int_equal(cell_at(ret, 1, "fd")->i, 9);
	assert_int_equal(cell_u(ret, 1, "held_ns"), 300 * MS);
	assert_true(cell_at(ret, 1, "held_ns")->at_least);
}

static void a_hold_from_before_has_bounds(void **state)
{
	struct table t;

	held(*state, AT(20), &t);
	assert_int_equal(cell_u(&t, 1, "held_most_ns"), 380 * MS);
	assert_string_equal(cell_s(&t, 1, "is"), "fd 9, held 300ms to 380ms");
	t = asked_waiters(*state, (struct query_spec){0});
	assert_int_equal(cell_at(&t, 0, "fd")->i, 9);
	assert_int_equal(cell_u(&t, 0, "held_ns"), 300 * MS);
	assert_int_equal(cell_u(&t, 0, "held_most_ns"), 380 * MS);
}

static void a_hold_that_was_passed_on_has_no_upper_bound(void **state)
{
	struct table t;

	held(*state, 0, &t);
	assert_false(cell_at(&t, 1, "held_most_ns")->known);
	assert_string_equal(cell_s(&t, 1, "is"), "fd 9, held 300ms or more");
}

static void a_part_is_in_the_name(void **state)
{
	static const uint64_t past[] = {0, FILELOCK_EOF, 200, FILELOCK_EOF};
	static const uint64_t from[] = {0, 0, 100, 100};
	static const char *const names[] = {"/f", "/f", "/f 100-199", "/f 100-EOF"};
	struct asked *w = *state;
	struct locksnap s = {0};

	start(w);
	for (unsigned i = 0; i < 4; i++) {
		seen(&s, i, 701 + (int)i, 800);
		lock_snap_name(&s, lock_of(i), LOCKSNAP_FILE, -1, 0, "", "/f", 0);
		s.names[i].start = from[i];
		s.names[i].past = past[i];
	}
	lock_snap_emit(w->rig.synth, &s, AT(500));
	synth_tick(w->rig.synth, AT(500));
	asked_play(w, NULL);
	const struct table t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(cell_s(&t, i, "name"), names[cell_at(&t, i, "tid")->i - 701]);
}

static void a_wait_ends_with_the_look_that_lacks_it(void **state)
{
	static const enum locksnap_files files[] = {LOCKSNAP_FILES_ALL, LOCKSNAP_FILES_UNKNOWN,
						    LOCKSNAP_FILES_ALL};
	static const uint32_t waiting[] = {1, 1, 0};
	struct asked *w = *state;

	start(w);
	for (unsigned i = 0; i < 3; i++) {
		struct locksnap s = {0};
		s.head.files = files[i];
		if (!i)
			seen(&s, 0, 701, 702);
		lock_snap_emit(w->rig.synth, &s, AT(100 * (i + 1)));
		synth_tick(w->rig.synth, AT(100 * (i + 1) + 50));
	}
	for (unsigned i = 0; i < 3; i++) {
		rig_play_ticks(&w->rig, NULL, 1);
		assert_int_equal(w->rig.engine.model->waits->in_flight, waiting[i]);
	}
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).unmatched, 0);
}

/* The scheduler's clock stands still while a hypervisor has the CPU. */
static void a_sleep_keeps_its_begin(void **state)
{
	const uint64_t stolen_ns = 5000000, theirs = files_ran_ns("/proc", getpid(), gettid());
	struct files_clocks *c = calloc(1, sizeof(*c));
	uint64_t ours = 0;

	(void)state;
	if (!theirs) {
		free(c);
		skip(); /* this kernel has no /proc/PID/sched */
	}
	assert_non_null(c);
	for (int i = 0; !ours && i < 1000; i++) {
		ours = files_clock_ran(c, "/proc", 0, theirs);
		usleep(1000);
	}
	assert_int_not_equal(ours, 0);
	c->of[0].ahead_ns -= stolen_ns;
	c->of[0].stolen = c->stolen;
	c->stolen_ns = clock_now_ns() + 1000000000; /* it is not read again */
	assert_int_equal(files_clock_ran(c, "/proc", 0, theirs), ours);
	assert_int_equal(files_clock_ran(c, "/proc", 0, theirs + 1), ours + 1 + stolen_ns);
	assert_int_equal(files_clock_ran(c, "/proc", 0, 0), 0);
	files_clocks_deinit(c);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_kernel_are_read),
		cmocka_unit_test(other_lines_are_refused),
		cmocka_unit_test(a_sleep_keeps_its_begin),
		cmocka_unit_test_setup_teardown(a_queue_has_holder_waiters_and_path, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_lock_that_was_passed_on_is_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_part_has_its_holder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_parts_differ_no_holder_is_sure, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_unknown_holder_is_not_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_is_read_where_waits_may_be, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_circle_in_one_look_is_a_deadlock,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_hold_from_before_has_bounds, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_hold_that_was_passed_on_has_no_upper_bound,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_part_is_in_the_name, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_wait_ends_with_the_look_that_lacks_it,
						asked_setup_empty, asked_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
