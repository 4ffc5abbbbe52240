// SPDX-License-Identifier: GPL-2.0-only
/* Blocked tasks: sums of snapshots in the model, and the table of them by cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/blocked.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-blocked.h"
#include "kontend/record.h"
#include "kontend/sleptsnap.h"
#include "kontend/task.h"
#include "lock-snaps.h"

#include <stdio.h>
#include <string.h>

#define MS CANNED_MS
#define INODE_LOCK 0xffff888011111100ull

static void begin(struct asked *w)
{
	char symbols[16384];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
}

/* @n threads behind the log of vda1, its thread, a vfork, a waiter for a lock, one for work. */
static void emit(struct asked *w, uint64_t t, int n)
{
	struct locksnap s = {0};
	struct locksnap_blocked b = {.pid = 900, .state = LOCKSNAP_BLOCKED_D, .io = 1};

	for (int i = 0; i < n; i++) {
		b.tid = 901 + i;
		b.device = locksnap_add_text(&s, "vda1");
		lock_snap_blocked(&s, b, "sqlite", LOCK_SNAP_LOG, t - (uint64_t)(i + 1) * 10 * MS);
	}
	const struct locksnap_sleep f = {.tid = 900 + n,
					 .doing = LOCKSNAP_SYNCS,
					 .file = locksnap_add_text(&s, "/srv/log.db")};
	assert_int_equal(locksnap_add_sleep(&s, &f), 0);
	b = (struct locksnap_blocked){
		.pid = 300, .tid = 300, .state = LOCKSNAP_BLOCKED_D, .kthread = 1};
	lock_snap_blocked(&s, b, "jbd2/vda1-8", LOCK_SNAP_LOG_THREAD, t - 5 * MS);
	b = (struct locksnap_blocked){.pid = 70, .tid = 70, .state = LOCKSNAP_BLOCKED_D};
	b.by_pid = b.by_tid = 71;
	b.by_comm = locksnap_add_text(&s, "cc1");
	lock_snap_blocked(&s, b, "make", LOCK_SNAP_VFORK, 0);
	b = (struct locksnap_blocked){.pid = 700, .tid = 702, .state = LOCKSNAP_BLOCKED_D};
	lock_snap_blocked(&s, b, "dd", LOCK_SNAP_LOCK, t - MS);
	b = (struct locksnap_blocked){.pid = 90, .tid = 90, .state = LOCKSNAP_BLOCKED_S};
	lock_snap_blocked(&s, b, "cat", LOCK_SNAP_PIPE, t - 900 * MS);
	b = (struct locksnap_blocked){.pid = 91, .tid = 91, .state = LOCKSNAP_BLOCKED_S};
	lock_snap_blocked(&s, b, "sync", LOCK_SNAP_LOG, t - MS);
	lock_snap_emit(w->rig.synth, &s, t);
}

static size_t row_of(const struct table *t, const char *key, const char *text)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!strcmp(cell_s(t, i, key), text))
			return i;
	fail_msg("no row has %s", text);
	return 0;
}

static struct table ask(struct asked *w, enum query_by by)
{
	const struct query_spec spec = {.by = by, .average = true};
	struct table t;

	assert_int_equal(query_blocked(&w->q, &spec, &t, NULL), 0);
	return t;
}

/* Two tasks for 500 ms, and four for the next 500: three on average. */
static void play_two(struct asked *w)
{
	begin(w);
	emit(w, CANNED_START + 1 * MS, 9);
	synth_begin(w->rig.synth, 0, CANNED_START + 2 * MS, 700, 702, INODE_LOCK, LCB_F_WRITE, NULL,
		    0);
	emit(w, CANNED_START + 501 * MS, 2);
	emit(w, CANNED_START + 1001 * MS, 4);
	synth_tick(w->rig.synth, CANNED_START + 1001 * MS);
	asked_play(w, NULL);
}

static void causes_are_those_of_the_chains(void **state)
{
	struct asked *w = *state;
	struct query_blocked_sum sum;

	play_two(w);
	struct table t = ask(w, BY_TYPE);
	assert_int_equal(t.n_rows, 5);
	size_t row = row_of(&t, "cause", "jbd2 commit vda1");
	assert_int_equal(cell_u(&t, row, "blocked"), 4);
	assert_int_equal(cell_u(&t, row, "in_d"), 4);
	assert_int_equal((int)(cell_at(&t, row, "blocked_ns_per_s")->d / 1e6 + 0.5), 3000);
	assert_true(cell_at(&t, row, "blocked_ns_per_s")->approx);
	assert_int_equal(cell_u(&t, row, "blocked_ns"), 3000 * MS);
	assert_int_equal(cell_u(&t, row, "longest_now_ns"), 40 * MS);
	assert_int_equal(cell_u(&t, row, "longest_seen_ns"), 90 * MS);
	assert_int_equal(cell_u(&t, row, "tid"), 904);
	assert_string_equal(cell_s(&t, row, "because_of"), "jbd2/vda1-8/300: writeback");
	assert_int_equal(cell_u(&t, row, "because_tid"), 300);
	assert_int_equal(cell_u(&t, row, "because_pid"), 300);
	assert_string_equal(cell_s(&t, row, "because_comm"), "jbd2/vda1-8");
	assert_string_equal(cell_s(&t, row, "device"), "vda1");
	assert_string_equal(cell_s(&t, row, "syscall_file"), "/srv/log.db");
	assert_int_equal(cell_u(&t, row, "pid"), 900);
	assert_int_equal(cell_u(&t, row, "kthread"), 0);
	assert_string_equal(cell_s(&t, row, "sleeps_in"), "jbd2_log_wait_commit");
	assert_string_equal(cell_s(&t, row, "stack"), "jbd2_log_wait_commit\next4_sync_file");
	(void)row_of(&t, "cause", "writeback vda1"); /* by the name of the thread */
	row = row_of(&t, "cause", "child of vfork");
	assert_string_equal(cell_s(&t, row, "because_of"), "cc1/71");
	assert_false(cell_at(&t, row, "longest_now_ns")->known);
	row = row_of(&t, "cause", "kernel lock");
	assert_string_equal(cell_s(&t, row, "because_of"), "rwsem:W 0xffff888011111100");
	/* One in state S that something keeps; one that waits for work is in no row. */
	row = row_of(&t, "cause", "jbd2 commit");
	assert_int_equal(cell_u(&t, row, "in_d"), 0);
	assert_string_equal(cell_s(&t, row, "task_state"), "S");
	assert_int_equal(query_blocked_sum(&w->q, &sum), 0);
	assert_true(sum.known);
	assert_int_equal(sum.tasks, 8);
	assert_int_equal(sum.in_d, 7);
	assert_int_equal(sum.kthreads, 1);
	assert_int_equal(sum.snapshots, 3);
	assert_int_equal(sum.longest_ns, 40 * MS);
}

/* Of tasks of programs alone, and not for a lock. */
static void the_worst_is_no_lock_and_nothing_that_is_meant(void **state)
{
	struct asked *w = *state;
	struct query_blocked_worst worst;

	play_two(w);
	assert_int_equal(query_blocked_worst(&w->q, &worst), 0);
	assert_string_equal(worst.cause, "jbd2 commit vda1");
	assert_int_equal(worst.tasks, 4);
	assert_int_equal(worst.longest_ns, 40 * MS);
	assert_string_equal(worst.because, "jbd2/vda1-8/300: writeback");
}

static void rows_are_by_task_process_or_function(void **state)
{
	struct asked *w = *state;
	uint64_t wait;

	play_two(w);
	struct table t = ask(w, BY_TASK);
	assert_int_equal(t.n_rows, 8);
	size_t row = row_of(&t, "comm", "dd");
	assert_int_equal(cell_u(&t, row, "tid"), 702);
	assert_true(query_blocked_wait(&w->q, t.ids[row], &wait));
	row = row_of(&t, "comm", "make");
	assert_false(query_blocked_wait(&w->q, t.ids[row], &wait));
	assert_string_equal(query_blocked_cause(&w->q, BY_TASK, t.ids[row]), "child of vfork");
	assert_string_equal(query_blocked_calls(&w->q, BY_TASK, t.ids[row]), "kernel_clone");
	assert_null(query_blocked_calls(&w->q, BY_TASK, 12345));
	t = ask(w, BY_PROCESS);
	row = row_of(&t, "process", "sqlite/900");
	assert_int_equal(cell_u(&t, row, "blocked"), 4);
	assert_int_equal(cell_u(&t, row, "pid"), 900);
	assert_false(cell_at(&t, row, "tid")->known);
	t = ask(w, BY_CALLER);
	(void)row_of(&t, "sleeps_in", "kernel_clone");
}

static struct locksnap_blocked object(int tid, const char *comm, struct locksnap *s)
{
	struct locksnap_blocked b = {.pid = tid, .tid = tid, .state = LOCKSNAP_BLOCKED_D};

	b.cgroup = locksnap_add_text(s, tid < 50 ? "/a" : "/b");
	b.by_comm = locksnap_add_text(s, comm);
	b.by_cpu = -1;
	return b;
}

/* A work whose worker is kept off, one without a worker, a page, a suspended device, a limit. */
static void emit_objects(struct asked *w, uint64_t t)
{
	struct locksnap s = {0};
	struct locksnap_blocked b = object(41, "kworker/1:1", &s);

	b.by_pid = b.by_tid = 33;
	b.by_state = LOCKSNAP_RUNNABLE;
	b.by_cpu = 1;
	b.off_pid = b.off_tid = 99;
	b.off_prio = 50;
	b.off_comm = locksnap_add_text(&s, "spin");
	b.function = 0xffffffff81e00500;
	b.queue = locksnap_add_text(&s, "events");
	lock_snap_blocked(&s, b, "flushes", LOCK_SNAP_WORK, t - MS);
	b = object(42, "", &s);
	b.function = 0xffffffff81e00500;
	lock_snap_blocked(&s, b, "waits", LOCK_SNAP_WORK, t - MS);
	b = object(43, "sshfs", &s);
	b.by_pid = b.by_tid = 34;
	b.file = locksnap_add_text(&s, "/home/x");
	b.fs = locksnap_add_text(&s, "fuse");
	lock_snap_blocked(&s, b, "ls", LOCK_SNAP_PAGE, t - MS);
	b = object(44, "", &s);
	b.file = locksnap_add_text(&s, "/srv/a");
	b.device = locksnap_add_text(&s, "vda1");
	lock_snap_blocked(&s, b, "cat", LOCK_SNAP_PAGE, t - MS);
	b = object(51, "", &s);
	b.device = locksnap_add_text(&s, "dm-0");
	b.source = locksnap_add_text(&s, "vg-home");
	b.suspended = 1;
	lock_snap_blocked(&s, b, "dd", LOCK_SNAP_PAGE, t - MS);
	b = object(52, "", &s);
	b.limit = locksnap_add_text(&s, "/b");
	lock_snap_blocked(&s, b, "tail", LOCK_SNAP_PAGE, t - MS); /* its cause is no limit */
	b.tid = 53;
	b.state = LOCKSNAP_BLOCKED_THROTTLED;
	lock_snap_blocked(&s, b, "spins", LOCK_SNAP_PAGE, t - 2 * MS);
	s.head.no_objects = locksnap_add_text(&s, "as a test");
	s.head.blocked_by = LOCKSNAP_BLOCKED_BY_PROC_AGAIN;
	lock_snap_emit(w->rig.synth, &s, t);
}

static void objects_are_named_by_the_cause(void **state)
{
	static const char *const because[][2] = {
		{"flushes",
		 "kworker/1:1/33, runnable on 1, kept off by spin/99 (real-time 50), for "
		 "scrub_the_device"},
		{"waits", "no worker yet, for scrub_the_device"},
		{"ls", "sshfs/34, page of /home/x"},
		{"cat", "/srv/a (vda1)"},
		{"dd", "vg-home is suspended"},
		{"spins", "cgroup /b"},
	};
	struct asked *w = *state;
	struct query_blocked_sum sum;

	begin(w);
	emit_objects(w, CANNED_START + MS);
	emit_objects(w, CANNED_START + 501 * MS);
	synth_tick(w->rig.synth, CANNED_START + 501 * MS);
	asked_play(w, NULL);
	struct table t = ask(w, BY_TASK);
	for (size_t i = 0; i < sizeof(because) / sizeof(*because); i++)
		assert_string_equal(cell_s(&t, row_of(&t, "comm", because[i][0]), "because_of"),
				    because[i][1]);
	size_t row = row_of(&t, "comm", "flushes");
	assert_string_equal(cell_s(&t, row, "because_state"), "runnable");
	assert_int_equal(cell_at(&t, row, "because_cpu")->i, 1);
	assert_int_equal(cell_at(&t, row, "kept_off_tid")->i, 99);
	assert_int_equal(cell_at(&t, row, "kept_off_prio")->i, 50);
	assert_string_equal(cell_s(&t, row, "kept_off_comm"), "spin");
	assert_string_equal(cell_s(&t, row, "work_function"), "scrub_the_device");
	assert_string_equal(cell_s(&t, row, "workqueue"), "events");
	assert_string_equal(cell_s(&t, row, "cgroup"), "/a");
	assert_string_equal(cell_s(&t, row, "syscall"), "fsync");
	assert_string_equal(cell_s(&t, row_of(&t, "comm", "cat"), "page_file"), "/srv/a");
	row = row_of(&t, "comm", "dd");
	assert_int_equal(cell_u(&t, row, "suspended"), 1);
	assert_string_equal(cell_s(&t, row, "device_name"), "vg-home");
	row = row_of(&t, "comm", "tail");
	assert_false(cell_at(&t, row, "limit_cgroup")->known);
	row = row_of(&t, "comm", "spins");
	assert_string_equal(cell_s(&t, row, "cause"), "throttled by cpu.max");
	assert_string_equal(cell_s(&t, row, "task_state"), "R");
	assert_string_equal(cell_s(&t, row, "limit_cgroup"), "/b");
	assert_int_equal(query_blocked_sum(&w->q, &sum), 0);
	assert_int_equal(sum.tasks, 6);
	assert_int_equal(sum.throttled, 1);
	assert_string_equal(sum.no_objects, "as a test");
	assert_string_equal(sum.method, "proc_again");
	assert_true(sum.by_proc && sum.only_known);
	t = ask(w, BY_CGROUP);
	assert_string_equal(query_blocked_by_name(BY_CGROUP), "cgroup");
	row = row_of(&t, "cgroup", "/a");
	assert_string_equal(cell_s(&t, row, "cause"), "work of a kworker");
	assert_int_equal(cell_u(&t, row, "blocked"), 2);
	assert_int_equal(cell_u(&t, row, "blocked_ns"), 1000 * MS);
}

static void a_window_has_its_part(void **state)
{
	struct asked *w = *state;
	const struct model_limits limits = model_limits_recent(64 << 20);

	begin(w);
	emit(w, CANNED_START + 1 * MS, 8);
	emit(w, CANNED_START + 501 * MS, 8);
	for (uint64_t i = 1; i <= 30; i++) {
		emit(w, CANNED_START + i * 1000 * MS, 1);
		synth_tick(w->rig.synth, CANNED_START + i * 1000 * MS);
	}
	asked_play(w, &limits);
	w->q.window_ns = 10000 * MS;
	struct table t = ask(w, BY_TYPE);
	size_t row = row_of(&t, "cause", "jbd2 commit vda1");
	assert_int_equal(cell_u(&t, row, "blocked_ns"), 10000 * MS);
	assert_int_equal(cell_u(&t, row, "longest_seen_ns"), 10 * MS);
	w->q.window_ns = 0;
	t = ask(w, BY_TYPE);
	row = row_of(&t, "cause", "jbd2 commit vda1");
	assert_int_equal(cell_u(&t, row, "blocked_ns"), 33499 * MS);
}

/* "I/O of a page" is a wait for a disk, or for the server of the file. */
static void io_without_a_disk_is_the_servers(void **state)
{
	static const struct {
		const char *fs, *cause;
	} all[] = {{"ext4", "I/O of a page vda1"},
		   {"fuse", "FUSE daemon"},
		   {"nfs4", "network file system"},
		   {"9p", "9p server"},
		   {"", "I/O of a page"}};
	struct asked *w = *state;
	struct locksnap s = {0};
	const size_t n = sizeof(all) / sizeof(*all);

	begin(w);
	for (int round = 0; round < 2; round++) {
		const uint64_t t = CANNED_START + (uint64_t)(round + 1) * 100 * MS;
		for (size_t i = 0; i < n; i++) {
			struct locksnap_blocked b = {.pid = 10 + (int)i,
						     .tid = 10 + (int)i,
						     .state = LOCKSNAP_BLOCKED_D,
						     .io = 1,
						     .fs = locksnap_add_text(&s, all[i].fs)};
			b.device = i ? 0 : locksnap_add_text(&s, "vda1");
			lock_snap_blocked(&s, b, "cat", LOCK_SNAP_PAGE, t - MS);
		}
		lock_snap_emit(w->rig.synth, &s, t);
	}
	synth_tick(w->rig.synth, CANNED_START + 300 * MS);
	asked_play(w, NULL);
	struct table t = ask(w, BY_TYPE);
	assert_int_equal(t.n_rows, n);
	for (size_t i = 0; i < n; i++) {
		const size_t row = row_of(&t, "cause", all[i].cause);
		assert_int_equal(cell_u(&t, row, "blocked"), 1);
		assert_int_equal(cell_u(&t, row, "blocked_ns"), 100 * MS);
	}
}

static void a_snapshot_says_why_it_has_none(void **state)
{
	struct asked *w = *state;
	struct query_blocked_sum sum;
	struct locksnap s = {0};

	begin(w);
	s.head.no_sleepers = locksnap_add_text(&s, "BPF is switched off");
	lock_snap_emit(w->rig.synth, &s, CANNED_START + MS);
	synth_tick(w->rig.synth, CANNED_START + 2 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_blocked_sum(&w->q, &sum), 0);
	assert_false(sum.known);
	assert_string_equal(sum.reason, "BPF is switched off");
	struct table t = ask(w, BY_TYPE);
	assert_int_equal(t.n_rows, 0);
}

/* @n sleeps of 10 ms of sqlite for the log, and one of make for its child. */
static void emit_slept(struct asked *w, uint64_t t, uint64_t n, uint64_t max_ns)
{
	struct sleptsnap s = {.head = {.time_ns = t, .from_ns = CANNED_START, .dropped = n / 2}};
	const struct sleptsnap_row log = {.pid = 900,
					  .comm = sleptsnap_add_text(&s, "sqlite"),
					  .kind = LOCKSNAP_IO,
					  .n_frames = 1,
					  .sleeps = n,
					  .total_ns = n * 10 * MS,
					  .max_ns = max_ns};
	const struct sleptsnap_row child = {.pid = 70,
					    .comm = sleptsnap_add_text(&s, "make"),
					    .kind = LOCKSNAP_DISK,
					    .frame = 1,
					    .n_frames = 1,
					    .sleeps = 1,
					    .total_ns = 5 * MS,
					    .max_ns = 5 * MS};

	assert_int_equal(sleptsnap_add_frame(&s, 0xffffffff81e00110), 0);
	assert_int_equal(sleptsnap_add_frame(&s, 0xffffffff81e00010), 0);
	assert_int_equal(sleptsnap_add_row(&s, n % 2 ? &child : &log), 0);
	assert_int_equal(sleptsnap_add_row(&s, n % 2 ? &log : &child), 0);
	lock_snap_emit_slept(w->rig.synth, &s);
}

/* In the order of any hash: what was before the first snapshot is subtracted. */
static void sleeps_are_beside_snapshots(void **state)
{
	struct asked *w = *state;
	const struct model_limits limits = model_limits_recent(64 << 20);

	begin(w);
	emit_slept(w, CANNED_START + 1 * MS, 2, 9 * MS);
	emit(w, CANNED_START + 1 * MS, 9);
	emit_slept(w, CANNED_START + 501 * MS, 7, 20 * MS);
	emit(w, CANNED_START + 1001 * MS, 4);
	emit_slept(w, CANNED_START + 1001 * MS, 13, 20 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1001 * MS);
	asked_play(w, &limits);
	struct table t = ask(w, BY_TYPE);
	/* Two rows have this cause: the sums do not know the device. */
	size_t row = row_of(&t, "cause", "jbd2 commit");
	assert_int_equal(cell_u(&t, row, "sleeps"), 11);
	assert_int_equal(cell_u(&t, row, "slept_ns"), 110 * MS);
	assert_int_equal((int)(cell_at(&t, row, "slept_ns_per_s")->d / 1e6 + 0.5), 110);
	assert_int_equal(cell_u(&t, row, "slept_max_ns"), 20 * MS);
	assert_false(cell_at(&t, row, "sleeps")->approx);
	row = row_of(&t, "cause", "child of vfork");
	assert_int_equal(cell_u(&t, row, "sleeps"), 0);
	assert_false(cell_at(&t, row, "slept_max_ns")->known);
	t = ask(w, BY_PROCESS);
	row = row_of(&t, "process", "sqlite/900");
	assert_int_equal(cell_u(&t, row, "sleeps"), 11);
	assert_true(cell_at(&t, row, "sleeps")->approx); /* of vda1, by the cause alone */
	t = ask(w, BY_CALLER);
	row = row_of(&t, "cause", "jbd2 commit");
	assert_int_equal(cell_u(&t, row, "sleeps"), 11);
	w->q.window_ns = 1000 * MS;
	t = ask(w, BY_TYPE);
	row = row_of(&t, "cause", "jbd2 commit");
	assert_int_equal(cell_u(&t, row, "sleeps"), 11);
}

static const struct task_table no_tasks;

/* Processes and chains without room are summed up together: no time is lost. */
static void sums_stay_whole_in_full_tables(void **state)
{
	struct blocked b = {0}, copy;
	uint64_t sum = 0, copied = 0;

	(void)state;
	for (uint64_t round = 1; round <= 3; round++) {
		struct locksnap s = {0};
		for (int i = 0; i < 3 * BLOCKED_CELLS; i++) {
			struct locksnap_blocked t = {
				.pid = i + 1, .tid = i + 1, .state = LOCKSNAP_BLOCKED_D};
			const uint64_t frame = 4096 + (uint64_t)(i % (2 * BLOCKED_STACKS));
			t.frame = (uint32_t)s.n_frames;
			t.n_frames = 1;
			assert_int_equal(locksnap_add_frame(&s, &frame), 0);
			assert_int_equal(locksnap_add_blocked(&s, &t), 0);
		}
		s.head.knows_blocked = 1;
		s.head.time_ns = round * 1000;
		assert_int_equal(blocked_take(&b, &s, &no_tasks, true), 0);
		locksnap_deinit(&s);
	}
	assert_true(b.n_cells <= BLOCKED_CELLS && b.n_stacks <= BLOCKED_STACKS);
	assert_int_equal(blocked_copy(&copy, &b), 0);
	for (uint32_t i = 0; i < b.n_cells; i++) {
		sum += b.cells[i].task_ns;
		copied += copy.cells[i].task_ns;
	}
	assert_int_equal(sum, 2ull * 1000 * 3 * BLOCKED_CELLS);
	assert_int_equal(copied, sum);
	assert_true(blocked_bytes(&b) > 0);
	blocked_zero(&b);
	assert_int_equal(b.n_cells, 0);
	blocked_deinit(&b);
	blocked_deinit(&copy);
}

/* As after the counts were zeroed and the screen has gone back in time. */
static void a_copy_without_counts_counts_on(void **state)
{
	struct locksnap s = {0};
	struct locksnap_blocked t = {.pid = 1, .tid = 1, .state = LOCKSNAP_BLOCKED_D};
	struct blocked b = {0}, copy;

	(void)state;
	assert_int_equal(locksnap_add_blocked(&s, &t), 0);
	s.head.knows_blocked = 1;
	s.head.time_ns = 1000;
	assert_int_equal(blocked_take(&b, &s, &no_tasks, true), 0);
	blocked_zero(&b);
	assert_int_equal(blocked_copy(&copy, &b), 0);
	s.head.time_ns = 3000;
	assert_int_equal(blocked_take(&copy, &s, &no_tasks, true), 0);
	assert_int_equal(copy.n_cells, 2);
	assert_int_equal(copy.cells[1].task_ns, 2000);
	blocked_deinit(&b);
	blocked_deinit(&copy);
	locksnap_deinit(&s);
}

/* Snapshots that are far apart, or not in order, stand for no time. */
static void gaps_are_left_out(void **state)
{
	struct locksnap s = {0};
	struct locksnap_blocked t = {.pid = 1, .tid = 1, .state = LOCKSNAP_BLOCKED_D};
	struct blocked b = {0};

	(void)state;
	assert_int_equal(locksnap_add_blocked(&s, &t), 0);
	s.head.time_ns = 1000;
	assert_int_equal(blocked_take(&b, &s, &no_tasks, false), 0);
	assert_int_equal(b.snapshots, 0); /* it does not have them */
	s.head.knows_blocked = 1;
	assert_int_equal(blocked_take(&b, &s, &no_tasks, false), 0);
	s.head.time_ns = 3600 * 1000000000ull;
	assert_int_equal(blocked_take(&b, &s, &no_tasks, false), 0);
	assert_int_equal(b.covered_ns, 0);
	s.head.time_ns -= 5;
	assert_int_equal(blocked_take(&b, &s, &no_tasks, false), 0);
	assert_int_equal(b.snapshots, 2);
	locksnap_deinit(&s);
	blocked_deinit(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(causes_are_those_of_the_chains),
		TEST(the_worst_is_no_lock_and_nothing_that_is_meant),
		TEST(rows_are_by_task_process_or_function),
		TEST(objects_are_named_by_the_cause),
		TEST(a_window_has_its_part),
		TEST(io_without_a_disk_is_the_servers),
		TEST(a_snapshot_says_why_it_has_none),
		TEST(sleeps_are_beside_snapshots),
		cmocka_unit_test(sums_stay_whole_in_full_tables),
		cmocka_unit_test(a_copy_without_counts_counts_on),
		cmocka_unit_test(gaps_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
