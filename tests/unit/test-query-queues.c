// SPDX-License-Identifier: GPL-2.0-only
/*
 * Additions of lock snapshots to the tables: names of locks, places in queues, holders, and waits
 * that began before there were events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/lock.h"
#include "kontend/query-chains.h"
#include "kontend/query-lock.h"
#include "kontend/query-overview.h"
#include "kontend/query-wait.h"
#include "lock-snaps.h"

#include <errno.h>
#include <string.h>

#define MS CANNED_MS
#define INODE_LOCK 0xffff888011111100ull
#define PIPE_LOCK 0xffff888022222200ull

static struct synth *first_round(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	return w->rig.synth;
}

static uint32_t frames(struct locksnap *s, const enum synth_address *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t addr = synth_addr(a[i]);
		assert_int_equal(locksnap_add_frame(s, &addr), 0);
	}
	return n;
}

/* An inode: a writer holds it, 702 and then the reader 703 wait. @late: 704 as well. */
static void emit_inode(struct asked *w, uint64_t t, bool late)
{
	struct locksnap s = {0};
	struct locksnap_queue q = {.addr = INODE_LOCK,
				   .type = LOCKSNAP_RWSEM,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = 700,
				   .holder_tid = 701,
				   .holder_comm = locksnap_add_text(&s, "dd"),
				   .holder_state = LOCKSNAP_RUNNING,
				   .holder_cpu = 1,
				   .writers_waiting = late ? 2 : 1,
				   .readers_waiting = 1};

	lock_snap_name(&s, INODE_LOCK, LOCKSNAP_INODE, -1, 700, "dd", "/var/x.img", 0);
	lock_snap_waiter(&s, 1, 700, 702, "dd", false);
	lock_snap_waiter(&s, 2, 700, 703, "dd", true);
	if (late)
		lock_snap_waiter(&s, 3, 700, 704, "dd", false);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	lock_snap_emit(w->rig.synth, &s, t);
}

/* A task in two snapshots and in no event has waited since before; one in a single one has not. */
static void waits_from_before_are_rows(void **state)
{
	struct asked *w = *state;
	struct query_overview o;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_inode(w, CANNED_START, false);
	synth_begin(w->rig.synth, 0, CANNED_START + 5 * MS, 700, 702, INODE_LOCK, LCB_F_WRITE, NULL,
		    0);
	emit_inode(w, CANNED_START + 1000 * MS, true);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);

	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, 0, "tid"), 703);
	assert_int_equal(cell_u(&t, 0, "early"), 1);
	assert_int_equal(cell_u(&t, 0, "since_ns"), 1000 * MS);
	assert_true(cell_at(&t, 0, "since_ns")->approx);
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:R");
	assert_string_equal(cell_s(&t, 0, "name"), "i_rwsem /var/x.img");
	assert_string_equal(cell_s(&t, 0, "place"), "2/3");
	assert_string_equal(cell_s(&t, 0, "caller"), "-");

	assert_int_equal(cell_u(&t, 1, "tid"), 702);
	assert_int_equal(cell_u(&t, 1, "early"), 0);
	assert_int_equal(cell_u(&t, 1, "since_ns"), 995 * MS);
	assert_string_equal(cell_s(&t, 1, "place"), "1/3");
	assert_string_equal(cell_s(&t, 1, "holder"), "dd/701 W");
	assert_string_equal(cell_s(&t, 1, "owner_certainty"), "sure");
	assert_string_equal(cell_s(&t, 1, "holder_is"), "running on 1");
	assert_int_equal(cell_u(&t, 1, "owner_cpu"), 1);
	assert_int_equal(cell_u(&t, 1, "owner_tid"), 701);
	assert_int_equal(cell_u(&t, 1, "owner_seen_ns"), 1000 * MS);
	assert_false(cell_at(&t, 1, "owner_stack")->known);

	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.waiting, 2);
	assert_int_equal(o.waiting_early, 1);
	assert_int_equal(o.waiting_rwsem_r, 1);
	assert_int_equal(o.waiting_rwsem_w, 1);
}

/* Waits of kontend itself count apart, and are never the longest. */
static void waits_of_kontend_are_told_apart(void **state)
{
	struct asked *w = *state;
	struct synth *s = first_round(w);
	struct query_overview o;

	synth_comm(s, 0, CANNED_START, 50, 50, "kontend");
	synth_comm(s, 0, CANNED_START, 60, 60, "app");
	synth_comm(s, 0, CANNED_START, 60, 61, "kontend");
	synth_begin(s, 0, CANNED_START + 1 * MS, 50, 50, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_end(s, 0, CANNED_START + 3 * MS, 50, 50, INODE_LOCK, 0);
	synth_begin(s, 0, CANNED_START + 4 * MS, 50, 50, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_begin(s, 0, CANNED_START + 5 * MS, 60, 61, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_tick(s, CANNED_START + 100 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.waiting, 2);
	assert_int_equal(o.own_waiting, 1);
	assert_int_equal(o.own_waits, 1);
	assert_int_equal(o.own_wait_ns, 2 * MS);
	assert_int_equal(o.total_ns, 2 * MS);
	/* A thread of another program may be called so. */
	assert_int_equal(o.longest_ns, 95 * MS);
	assert_string_equal(o.longest_task, "kontend/61");
}

/* A thread called so whose process is known by its number alone: by another of its threads, or not.
 */
static void waits_of_kontend_are_told_where_its_process_has_no_name(void **state)
{
	struct asked *w = *state;
	struct synth *s = first_round(w);
	struct query_overview o;

	synth_begin(s, 0, CANNED_START + 1 * MS, 70, 70, PIPE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_end(s, 0, CANNED_START + 2 * MS, 70, 70, PIPE_LOCK, 0);
	synth_comm(s, 0, CANNED_START + 2 * MS, 70, 71, "kontend");
	synth_comm(s, 0, CANNED_START + 2 * MS, 80, 81, "kontend");
	for (int tid = 71; tid <= 81; tid += 10) {
		uint64_t t = CANNED_START + (uint64_t)tid * MS / 10;
		synth_begin(s, 0, t, tid - 1, tid, INODE_LOCK, LCB_F_WRITE, NULL, 0);
		synth_end(s, 0, t + MS / 2, tid - 1, tid, INODE_LOCK, 0);
	}
	synth_begin(s, 0, CANNED_START + 20 * MS, 70, 71, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_begin(s, 0, CANNED_START + 30 * MS, 70, 70, PIPE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_tick(s, CANNED_START + 100 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.own_waits, 2);
	assert_int_equal(o.own_wait_ns, MS);
	assert_int_equal(o.own_waiting, 1);
	assert_int_equal(o.waiting, 2);
	/* A task without a name cannot be recognized as kontend's. */
	assert_int_equal(o.longest_ns, 70 * MS);
}

/* The same where a reader has it and sleeps; 703 waits, in two snapshots, since long ago. */
static void emit_asleep(struct asked *w, uint64_t t)
{
	static const enum synth_address holder[] = {SYNTH_VFS_READ, SYNTH_KSYS_READ};
	static const enum synth_address waits[] = {SYNTH_RWSEM_DOWN_READ_SLOWPATH, SYNTH_DOWN_READ,
						   SYNTH_PIPE_READ, SYNTH_VFS_READ};
	struct locksnap s = {0};
	struct locksnap_queue q = {.addr = INODE_LOCK,
				   .type = LOCKSNAP_RWSEM,
				   .certainty = LOCKSNAP_HINT,
				   .holder_pid = 700,
				   .holder_tid = 701,
				   .holder_comm = locksnap_add_text(&s, "dd"),
				   .holder_state = LOCKSNAP_ASLEEP,
				   .writers_waiting = 1};
	struct locksnap_waiter v = {
		.position = 1, .pid = 700, .tid = 703, .comm = q.holder_comm, .frame = 2};

	q.holder_n_frames = frames(&s, holder, 2);
	v.n_frames = frames(&s, waits, 4);
	lock_snap_name(&s, INODE_LOCK, LOCKSNAP_INODE, -1, 700, "dd", "/var/x.img", 0);
	assert_int_equal(locksnap_add_waiter(&s, &v), 0);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	lock_snap_emit(w->rig.synth, &s, t);
}

/* Both side by side, and none of a wait that is not there. */
static void check_calls(struct asked *w, uint64_t row)
{
	struct query_spec spec = {0};
	struct query_wait one;

	assert_int_equal(query_wait(&w->q, row + 1, &spec, &one, NULL), -ENOENT);
	assert_int_equal(query_wait(&w->q, row, &spec, &one, NULL), 0);
	assert_string_equal(one.task, "dd/703");
	assert_string_equal(one.holder, "dd/701 R?");
	assert_true(one.approx);
	assert_int_equal(one.calls.n_rows, 4);
	assert_string_equal(cell_s(&one.calls, 0, "stack"), "rwsem_down_read_slowpath");
	assert_string_equal(cell_s(&one.calls, 3, "stack"), "vfs_read");
	assert_string_equal(cell_s(&one.calls, 1, "owner_stack"), "ksys_read");
	assert_false(cell_at(&one.calls, 2, "owner_stack")->known);
	spec.filter = "pipe";
	assert_int_equal(query_wait(&w->q, row, &spec, &one, NULL), 0);
	assert_int_equal(one.calls.n_rows, 1);
}

/* Evidence of two readers: one row is for both, and both are listed. */
static void emit_evidence(struct asked *w, uint64_t t)
{
	static const enum synth_address asleep[] = {SYNTH_PIPE_READ, SYNTH_VFS_READ,
						    SYNTH_KSYS_READ};
	struct locksnap s = {0};
	struct locksnap_queue q = {.addr = INODE_LOCK,
				   .type = LOCKSNAP_RWSEM,
				   .certainty = LOCKSNAP_EVIDENCE,
				   .holder_pid = 710,
				   .holder_tid = 711,
				   .holder_comm = locksnap_add_text(&s, "ps"),
				   .holder_state = LOCKSNAP_ASLEEP,
				   .holder_cpu = 1,
				   .n_evident = 2,
				   .writers_waiting = 1};
	struct locksnap_waiter v = {.position = 1,
				    .pid = 700,
				    .tid = 703,
				    .on = locksnap_add_text(&s, "socket:[77]"),
				    .on_kind = LOCKSNAP_ON_FILE};
	struct locksnap_reader r = {.pid = 710,
				    .tid = 711,
				    .comm = q.holder_comm,
				    .state = LOCKSNAP_ASLEEP,
				    .cpu = 1,
				    .in = 2};

	q.holder_n_frames = r.n_frames = frames(&s, asleep, 3);
	const struct locksnap_sleep at = {.tid = 711,
					  .doing = LOCKSNAP_READS,
					  .file = locksnap_add_text(&s, "/proc/7/mem"),
					  .device = locksnap_add_text(&s, "vda")};
	assert_int_equal(locksnap_add_sleep(&s, &at), 0);
	s.head.no_readers = locksnap_add_text(&s, "withheld");
	s.head.many_tasks = 1;
	assert_int_equal(locksnap_add_reader(&s, &r), 0);
	r = (struct locksnap_reader){.pid = 720, .tid = 720, .state = LOCKSNAP_RUNNING};
	r.comm = locksnap_add_text(&s, "top");
	r.frame = 1;
	r.n_frames = 1;
	assert_int_equal(locksnap_add_reader(&s, &r), 0);
	assert_int_equal(locksnap_add_waiter(&s, &v), 0);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	lock_snap_emit(w->rig.synth, &s, t);
}

static void readers_by_evidence_are_told_as_such(void **state)
{
	static const char both[] = "ps/711, asleep pipe_read, by ksys_read\n"
				   "top/720, running on 0, by vfs_read";
	struct asked *w = *state;
	struct query_lock_now now;
	struct query_lock_look look;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_evidence(w, CANNED_START);
	emit_evidence(w, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "holder"), "ps/711 R?");
	assert_string_equal(cell_s(&t, 0, "owner_certainty"), "evidence");
	assert_string_equal(cell_s(&t, 0, "holder_is"), "asleep pipe_read, by ksys_read");
	assert_string_equal(cell_s(&t, 0, "readers_evident"), both);
	assert_string_equal(cell_s(&t, 0, "on"), "socket:[77]");
	assert_false(cell_at(&t, 0, "on_reason")->known);
	const struct query_spec all = {0};
	struct table c;
	assert_int_equal(query_chains(&w->q, &all, &c, NULL), 0);
	assert_string_equal(cell_s(&c, 0, "is"),
			    "asleep: pipe is empty, reads /proc/7/mem (vda), in "
			    "pipe_read, by ksys_read");
	assert_string_equal(cell_s(&c, 0, "asleep_file"), "/proc/7/mem");
	assert_string_equal(cell_s(&c, 0, "asleep_dev"), "vda");
	assert_string_equal(cell_s(&c, 0, "certainty"), "evidence");
	query_lock_look(&w->q, &look);
	assert_int_equal(look.missing, 0);
	assert_string_equal(look.no_readers, "withheld");
	assert_true(look.many_tasks);
	query_lock_now(&w->q, INODE_LOCK, LOCK_RWSEM_W, &now);
	assert_string_equal(now.certainty, "evidence");
	assert_string_equal(now.readers, both);
}

/* Where the holder sleeps, and where a task waits whose begin was not seen. */
static void sleepers_are_told_by_their_calls(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_asleep(w, CANNED_START);
	emit_asleep(w, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "holder"), "dd/701 R?");
	assert_string_equal(cell_s(&t, 0, "holder_is"), "asleep vfs_read");
	assert_string_equal(cell_s(&t, 0, "owner_state"), "asleep");
	assert_string_equal(cell_s(&t, 0, "owner_function"), "vfs_read");
	assert_string_equal(cell_s(&t, 0, "caller"), "pipe_read");
	/* Of its call nothing was read: it is the lock's file. */
	assert_string_equal(cell_s(&t, 0, "on"), "/var/x.img");
	assert_string_equal(cell_s(&t, 0, "stack"),
			    "rwsem_down_read_slowpath\ndown_read\npipe_read\nvfs_read");
	assert_string_equal(cell_s(&t, 0, "owner_stack"), "vfs_read\nksys_read");
	check_calls(w, t.ids[0]);
	/* A reader that had it may have gone and come back. */
	assert_false(cell_at(&t, 0, "owner_seen_ns")->known);
}

static size_t row_of(const struct table *t, uint64_t lock, const char *kind)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (cell_at(t, i, "lock")->u == lock && !strcmp(cell_s(t, i, "kind"), kind))
			return i;
	fail_msg("no row of %s", kind);
	return 0;
}

/* Both rows of a rwsem have the same queue and holder; without a snapshot the stream counts. */
static void locks_say_who_has_them(void **state)
{
	struct asked *w = *state;
	struct synth *s = (rig_init(&w->rig, 1), w->rig.synth);
	struct query_lock_now now;

	synth_round(s, CANNED_START);
	synth_begin(s, 0, CANNED_START + 5 * MS, 700, 702, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_begin(s, 0, CANNED_START + 6 * MS, 700, 703, INODE_LOCK, LCB_F_READ, NULL, 0);
	synth_begin(s, 0, CANNED_START + 7 * MS, 700, 704, PIPE_LOCK, LCB_F_MUTEX, NULL, 0);
	emit_inode(w, CANNED_START + 900 * MS, true);
	synth_tick(s, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	static const char *const kinds[] = {"rwsem:W", "rwsem:R"};
	for (int i = 0; i < 2; i++) {
		size_t row = row_of(&t, INODE_LOCK, kinds[i]);
		assert_string_equal(cell_s(&t, row, "object"), "i_rwsem");
		assert_string_equal(cell_s(&t, row, "path"), "/var/x.img");
		assert_string_equal(cell_s(&t, row, "holder"), "dd/701 W");
		assert_int_equal(cell_u(&t, row, "owner_pid"), 700);
		assert_int_equal(cell_u(&t, row, "owner_tid"), 701);
		assert_string_equal(cell_s(&t, row, "owner_comm"), "dd");
		assert_string_equal(cell_s(&t, row, "owner_certainty"), "sure");
		assert_int_equal(cell_u(&t, row, "readers_waiting"), 1);
		assert_int_equal(cell_u(&t, row, "writers_waiting"), 2);
	}
	size_t pipe = row_of(&t, PIPE_LOCK, "mutex");
	assert_false(cell_at(&t, pipe, "owner_pid")->known);
	assert_int_equal(cell_u(&t, pipe, "readers_waiting"), 0);
	assert_int_equal(cell_u(&t, pipe, "writers_waiting"), 1);
	assert_true(query_lock_now_by_id(&w->q, lock_key(INODE_LOCK, LOCK_RWSEM_R), &now));
	assert_string_equal(now.holder, "dd/701 W");
	assert_string_equal(now.is, "running on 1");
	assert_false(query_lock_now_by_id(&w->q, lock_key(INODE_LOCK, LOCK_MUTEX), &now));
}

/* So many wait for each type, by its flags: two to write, or without a mode, and three to read. */
static void readers_and_writers_are_counted_by_their_flags(void **state)
{
	static const uint32_t pairs[] = {LCB_F_SPIN, 0, LCB_F_RT, LCB_F_PERCPU};
	static const uint32_t alone[] = {LCB_F_SPIN, LCB_F_MUTEX, LCB_F_RT, 0};
	enum { WRITERS = 2, READERS = 3, ALL = WRITERS + READERS, KINDS = 4 };
	struct asked *w = *state;
	struct synth *s = (rig_init(&w->rig, 3 * ALL), w->rig.synth);
	uint64_t t = CANNED_START;

	for (uint32_t i = 0; i < KINDS; i++)
		for (uint32_t n = 0; n < ALL; n++) {
			uint32_t mode = n < WRITERS ? LCB_F_WRITE : LCB_F_READ;
			/* Those that spin have a CPU each. */
			uint32_t cpu = n + (i ? 2 * ALL : 0);
			synth_begin(s, cpu, t += MS, 700, (int)(710 + 10 * i + n),
				    INODE_LOCK + i * 0x100, pairs[i] | mode, NULL, 0);
			if (n < WRITERS)
				synth_begin(s, i ? cpu : cpu + ALL, t, 700, (int)(810 + 10 * i + n),
					    PIPE_LOCK + i * 0x100, alone[i], NULL, 0);
		}
	synth_tick(s, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table locks = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(locks.n_rows, 3 * KINDS);
	for (size_t row = 0; row < locks.n_rows; row++) {
		bool has_modes = cell_s(&locks, row, "mode")[0] != '-';
		assert_int_equal(cell_u(&locks, row, "readers_waiting"), has_modes ? READERS : 0);
		assert_int_equal(cell_u(&locks, row, "writers_waiting"), WRITERS);
	}
}

/* One snapshot does not show whether a wait began before the tick or just after it. */
static void one_snapshot_is_not_enough(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_inode(w, CANNED_START + 1000 * MS, true);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_int_equal(asked_waiters(w, (struct query_spec){0}).n_rows, 0);
}

static void wait_for(struct asked *w, uint64_t at, uint64_t lock)
{
	synth_begin(w->rig.synth, 0, at, 700, 702, lock, LCB_F_MUTEX, NULL, 0);
	synth_end(w->rig.synth, 0, at + MS, 700, 702, lock, 0);
}

static const char *named(struct asked *w, uint64_t lock)
{
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_u(&t, i, "lock") == lock)
			return cell_s(&t, i, "name");
	return "no such row";
}

/* The latest name counts, and stays when later snapshots do not repeat it. */
static void locks_are_called_by_what_they_belong_to(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	lock_snap_name(&s, PIPE_LOCK, LOCKSNAP_PIPE, -1, 5, "old", "pipe:[1]", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + MS);
	for (uint64_t i = 0; i < 10; i++)
		wait_for(w, CANNED_START + (10 + 2 * i) * MS, PIPE_LOCK + 64 * i);
	lock_snap_name(&s, PIPE_LOCK + 512, LOCKSNAP_BPF_MAP, -1, 0, "", "inhibit_events", 812);
	lock_snap_name(&s, PIPE_LOCK + 576, LOCKSNAP_BPF_MAP, -1, 0, "", "", 7);
	lock_snap_name(&s, PIPE_LOCK, LOCKSNAP_PIPE, -1, 612, "sh", "pipe:[1]", 0);
	lock_snap_name(&s, PIPE_LOCK + 64, LOCKSNAP_MMAP, -1, 5214, "mm", "", 0);
	lock_snap_name(&s, PIPE_LOCK + 128, LOCKSNAP_PERCPU, 1, 0, "", "runqueues", 0);
	lock_snap_name(&s, PIPE_LOCK + 192, LOCKSNAP_PERCPU, 3, 0, "", "timer_bases", 0x40);
	lock_snap_name(&s, PIPE_LOCK + 256, LOCKSNAP_SLAB, -1, 0, "", "filp", 0);
	lock_snap_name(&s, PIPE_LOCK + 448, LOCKSNAP_SLAB, -1, 0, "", "~pool_workqueue", 0);
	lock_snap_name(&s, PIPE_LOCK + 320, LOCKSNAP_POS, -1, 9, "tail", "/var/log/x", 0);
	lock_snap_name(&s, PIPE_LOCK + 384, LOCKSNAP_IMMAP, -1, 9, "tail", "", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 500 * MS);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);

	assert_string_equal(named(w, PIPE_LOCK), "pipe->mutex sh/612");
	assert_string_equal(named(w, PIPE_LOCK + 64), "mmap_lock mm/5214");
	assert_string_equal(named(w, PIPE_LOCK + 128), "rq_lock cpu 1");
	assert_string_equal(named(w, PIPE_LOCK + 192), "timer_bases+0x40 cpu 3");
	assert_string_equal(named(w, PIPE_LOCK + 256), "filp …222300");
	assert_string_equal(named(w, PIPE_LOCK + 320), "f_pos_lock /var/log/x");
	assert_string_equal(named(w, PIPE_LOCK + 384), "i_mmap_rwsem tail/9");
	assert_string_equal(named(w, PIPE_LOCK + 448), "0xffff8880222223c0");
	assert_string_equal(named(w, PIPE_LOCK + 512), "BPF map inhibit_events (id 812)");
	assert_string_equal(named(w, PIPE_LOCK + 576), "BPF map (id 7)");
}

/* The name of the lock @i, of an object: @what in a @type. */
static void name_field(struct locksnap *s, unsigned i, const char *what, const char *type,
		       const char *text, int pid, uint64_t ino)
{
	lock_snap_name(s, PIPE_LOCK + 64ull * i, LOCKSNAP_OBJECT, -1, pid, pid ? "sh" : "", text,
		       0);
	struct locksnap_name *n = &s->names[s->n_names - 1];
	n->what = locksnap_add_text(s, what);
	n->site = locksnap_add_text(s, type);
	n->ino = ino;
}

/* Once seen it stays, though a later snapshot may not find out which object that is. */
static void locks_are_called_by_their_place_in_an_object(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 6; i++)
		wait_for(w, CANNED_START + (10 + 2 * i) * MS, PIPE_LOCK + 64 * i);
	name_field(&s, 0, "pi_lock", "task_struct", "", 612, 77);
	name_field(&s, 1, "zone->lock", "zone", "node 0 Normal", 0, 1);
	name_field(&s, 2, "d_lock", "dentry", "", 0, 0);
	name_field(&s, 3, "xa_lock", "inode", "/srv/x", 0, 12);
	lock_snap_name(&s, PIPE_LOCK + 256, LOCKSNAP_BPF_MAP, -1, 0, "", "counts", 9);
	s.names[s.n_names - 1].start = 4;
	name_field(&s, 5, "siglock", "sighand_struct", "", 5, 80);
	/* It began when others had waited for the lock of another task there. */
	s.names[s.n_names - 1].since_ns = CANNED_START + 300 * MS;
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 500 * MS);
	name_field(&s, 0, "pi_lock", "task_struct", "", 0, 0);
	s.head.no_names = locksnap_add_text(&s, "the kernel refused");
	lock_snap_name(&s, PIPE_LOCK + 64, LOCKSNAP_SLAB, -1, 0, "", "kmalloc-64", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);

	assert_string_equal(named(w, PIPE_LOCK), "pi_lock sh/612");
	assert_string_equal(named(w, PIPE_LOCK + 64), "zone->lock node 0 Normal");
	assert_string_equal(named(w, PIPE_LOCK + 128), "d_lock (dentry)");
	assert_string_equal(named(w, PIPE_LOCK + 192), "xa_lock /srv/x");
	assert_string_equal(named(w, PIPE_LOCK + 256), "BPF map counts (id 9) bucket 3");
	assert_string_equal(named(w, PIPE_LOCK + 320), "siglock (sighand_struct)");
	struct query_lock_look look;
	query_lock_look(&w->q, &look);
	assert_string_equal(look.no_names, "the kernel refused");
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	for (size_t i = 0; i < t.n_rows; i++) {
		if (cell_u(&t, i, "lock") == PIPE_LOCK)
			assert_string_equal(cell_s(&t, i, "object"), "pi_lock");
		if (cell_u(&t, i, "lock") == PIPE_LOCK + 192)
			assert_string_equal(cell_s(&t, i, "path"), "/srv/x");
	}
}

/* The memory of an object that is gone has another one: its waits are not those of before. */
static void the_next_object_has_a_row_of_its_own(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	bool seen[2] = {false, false};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	wait_for(w, CANNED_START + 10 * MS, PIPE_LOCK);
	name_field(&s, 0, "pi_lock", "task_struct", "", 612, 77);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 100 * MS);
	locksnap_add_ended(&s, PIPE_LOCK);
	name_field(&s, 0, "pi_lock", "task_struct", "", 613, 78);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 300 * MS);
	wait_for(w, CANNED_START + 400 * MS, PIPE_LOCK);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 2);
	for (size_t i = 0; i < t.n_rows; i++) {
		const char *name = cell_s(&t, i, "name");
		seen[strcmp(name, "pi_lock sh/612") != 0] = true;
		assert_true(!strcmp(name, "pi_lock sh/612") || !strcmp(name, "pi_lock sh/613"));
		assert_int_equal(cell_u(&t, i, "contended"), 1);
	}
	assert_true(seen[0] && seen[1]);
}

/* A recording has no names that were asked for, but the places of the per-CPU sections. */
static void percpu_locks_are_found_by_their_section(void **state)
{
	static const struct {
		uint32_t offset, size;
		const char *name;
	} vars[] = {{0x40, 0x20, "timer_bases"}, {0x100, 0x80, "runqueues"}};
	struct asked *w = *state;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (int cpu = 0; cpu < 2; cpu++) {
		struct locksnap_area a = {.base = PIPE_LOCK + 0x1000ull * (unsigned)cpu,
					  .cpu = cpu};
		locksnap_add_area(&s, &a);
	}
	for (int i = 0; i < 2; i++) {
		struct locksnap_var v = {.offset = vars[i].offset, .size = vars[i].size};
		v.name = locksnap_add_text(&s, vars[i].name);
		locksnap_add_var(&s, &v);
	}
	lock_snap_emit(w->rig.synth, &s, CANNED_START + MS);
	wait_for(w, CANNED_START + 10 * MS, PIPE_LOCK + 0x1100);
	wait_for(w, CANNED_START + 12 * MS, PIPE_LOCK + 0x48);
	wait_for(w, CANNED_START + 14 * MS, PIPE_LOCK + 0x60);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_string_equal(named(w, PIPE_LOCK + 0x1100), "rq_lock cpu 1");
	assert_string_equal(named(w, PIPE_LOCK + 0x48), "timer_bases+0x8 cpu 0");
	assert_string_equal(named(w, PIPE_LOCK + 0x60), "0xffff888022222260");
}

/* Requests: the queue of a lock with waiters, the names of those without one. */
static void the_engine_asks_for_what_it_shows(void **state)
{
	struct asked *w = *state;
	struct lock_request_lock locks[LOCKASK_MOST];
	struct lock_requests asks;

	lock_request_init(&asks);
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_inode(w, CANNED_START, false);
	wait_for(w, CANNED_START + 10 * MS, PIPE_LOCK);
	wait_for(w, CANNED_START + 20 * MS, INODE_LOCK);
	synth_begin(w->rig.synth, 0, CANNED_START + 30 * MS, 700, 702, PIPE_LOCK + 64, LCB_F_MUTEX,
		    NULL, 0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	rig_play_ticks(&w->rig, NULL, 1);
	w->rig.engine.lock_requests = &asks;
	asked_play(w, NULL);
	w->rig.engine.lock_requests = NULL;
	assert_int_equal(lock_request_get(&asks, locks), 2);
	assert_int_equal(locks[0].addr, PIPE_LOCK + 64);
	assert_int_equal(locks[0].type, LOCKSNAP_MUTEX);
	assert_int_equal(locks[1].addr, PIPE_LOCK);
	assert_int_equal(locks[1].type, LOCKSNAP_TYPES);
	lock_request_deinit(&asks);
}

/* A recorder sees a part of the waits: whether some wait now it does not know. */
static void a_recorder_asks_for_names_alone(void **state)
{
	struct asked *w = *state;
	struct lock_request_lock locks[LOCKASK_MOST];
	struct lock_requests asks;

	lock_request_init(&asks);
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_inode(w, CANNED_START, false);
	wait_for(w, CANNED_START + 20 * MS, INODE_LOCK);
	synth_begin(w->rig.synth, 0, CANNED_START + 30 * MS, 700, 702, PIPE_LOCK, LCB_F_MUTEX, NULL,
		    0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	rig_play_ticks(&w->rig, NULL, 1);
	w->rig.engine.lock_requests = &asks;
	w->rig.engine.asks_names = true;
	asked_play(w, NULL);
	w->rig.engine.lock_requests = NULL;
	assert_int_equal(lock_request_get(&asks, locks), 1);
	assert_int_equal(locks[0].addr, PIPE_LOCK);
	assert_int_equal(locks[0].type, LOCKSNAP_TYPES);
	lock_request_deinit(&asks);
}

/*
 * The model gets a second snapshot, then a key asks. Its answer is of the snapshot that the frame
 * began with, also where the frame has only used what an older one had decoded.
 */
static void a_frame_has_one_snapshot(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	emit_inode(w, CANNED_START, false);
	synth_begin(w->rig.synth, 0, CANNED_START + 5 * MS, 700, 702, INODE_LOCK, LCB_F_WRITE, NULL,
		    0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	emit_inode(w, CANNED_START + 1500 * MS, true);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	rig_play_ticks(&w->rig, NULL, 1);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	for (int frame = 0; frame < 2; frame++) {
		query_begin(&w->q);
		struct table t = asked_waiters(w, (struct query_spec){0});
		assert_int_equal(t.n_rows, 1);
		assert_string_equal(cell_s(&t, 0, "place"), "1/2");
	}
	rig_play(&w->rig, NULL);
	struct table same = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&same, same.n_rows - 1, "place"), "1/2");
	query_begin(&w->q);
	struct table next = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&next, next.n_rows - 1, "place"), "1/3");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits_from_before_are_rows),
		TEST(waits_of_kontend_are_told_apart),
		TEST(waits_of_kontend_are_told_where_its_process_has_no_name),
		TEST(sleepers_are_told_by_their_calls),
		TEST(readers_by_evidence_are_told_as_such),
		TEST(locks_say_who_has_them),
		TEST(readers_and_writers_are_counted_by_their_flags),
		TEST(one_snapshot_is_not_enough),
		TEST(locks_are_called_by_what_they_belong_to),
		TEST(locks_are_called_by_their_place_in_an_object),
		TEST(the_next_object_has_a_row_of_its_own),
		TEST(percpu_locks_are_found_by_their_section),
		TEST(the_engine_asks_for_what_it_shows),
		TEST(a_recorder_asks_for_names_alone),
		TEST(a_frame_has_one_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
