// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which inode has a lock, as events report it: each wait is counted for the inode that it was for,
 * also one that began before the event came; names are of the inode that was reported, and looks do
 * not move them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file-lock.h"
#include "kontend/damage.h"
#include "kontend/holder.h"
#include "kontend/holdrec.h"
#include "kontend/lockname.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"

#include <string.h>

#define US (CANNED_MS / 1000)
enum { DEV = 254 << 20 | 1, SEEN = INODEREC_NAMED | INODEREC_SEEN };

/* @names: as in the record, from the file's own on, with a NUL after each. */
static struct inoderec inode(uint64_t ino, uint32_t generation, const char *names, size_t n_bytes,
			     unsigned short flags)
{
	struct inoderec r = {.magic = INODEREC_MAGIC,
			     .lock = LOCK,
			     .ino = ino,
			     .generation = generation,
			     .dev = DEV,
			     .flags = flags,
			     .n_bytes = (unsigned int)n_bytes,
			     .fs = "ext4"};

	memcpy(r.names, names, n_bytes);
	return r;
}

#define NAMES(text) text, sizeof(text)
#define E1 inode(12, 1, NAMES("E1\0data"), SEEN)
#define E2 inode(12, 2, NAMES("E2\0data"), SEEN | INODEREC_CHANGED)

/* After the begin, as perf's own event comes first. */
static void emit_inode(struct asked *w, uint32_t cpu, uint64_t at, struct inoderec r)
{
	synth_inode(w->rig.synth, cpu, at + 5 * US, &r);
}

static void emit_snapshot(struct asked *w, uint64_t at, const char *path, uint64_t ino,
			  uint32_t generation)
{
	struct locksnap s = {0};

	lock_snap_name(&s, LOCK, LOCKSNAP_INODE, -1, 100, "a", path, 0);
	lock_snap_file(&s, ino, generation, DEV);
	lock_snap_emit(w->rig.synth, &s, at);
}

/* The first wait for a file, and one on another CPU, begin before the event reports it. */
static void each_wait_is_counted_for_its_inode(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, true);
	file_lock_begin(w, 0, AT(100), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(100), E1);
	file_lock_end(w, 0, AT(102), 101);
	file_lock_waits(w, AT(200), 5, LCB_F_WRITE);
	file_lock_begin(w, 1, AT(300) - 3 * US, 103, LCB_F_READ);
	file_lock_begin(w, 0, AT(300), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(300), E2);
	emit_inode(w, 1, AT(300) + 2 * US, E2);
	file_lock_end(w, 0, AT(302), 101);
	file_lock_end(w, 1, AT(303), 103);
	file_lock_waits(w, AT(400), 3, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 3);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 6);
	file_lock_expect(&t, 1, "i_rwsem /data/E2", 4);
	file_lock_expect(&t, 2, "i_rwsem /data/E2", 1); /* its reader */
	assert_int_equal(cell_u(&t, 1, "total_ns"), 5 * MS);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
	assert_int_equal(model_damage(w->rig.engine.model).unmatched, 0);
	assert_int_equal(rig_waited_ns(w->rig.engine.model), rig_blamed_ns(w->rig.engine.model));
}

static void begin_owned(struct asked *w, uint64_t at, int tid, int owner)
{
	const struct waitrec_begin b = {
		.magic = WAITREC_BEGIN_MAGIC,
		.lock = LOCK,
		.flags = LCB_F_WRITE,
		.tid = tid,
		.owner = WAITREC_OWNED,
		.owner_pid = 100,
		.owner_tid = owner,
	};

	synth_wait_begin(w->rig.synth, 0, at, 100, tid, &b);
}

static void emit_holder(struct asked *w, uint64_t at, int tid)
{
	const struct holdrec r = {.magic = HOLDREC_MAGIC,
				  .lock = LOCK,
				  .pid = 100,
				  .tid = tid,
				  .what = HOLDREC_SEEN,
				  .state = HOLDREC_ASLEEP,
				  .comm = "holder"};

	synth_holder(w->rig.synth, 0, at, &r);
}

static int32_t holder_of(const struct model *m, int tid)
{
	uint64_t ns;

	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *v = &m->waits->waits[i];
		if (v->used && m->tasks->tasks[v->task].tid == tid)
			return m->tasks->tasks[cell_owner_task(holder_now(m, v, &ns))].tid;
	}
	return -1;
}

/* The record of the inode may come after another report of the holder than that of the begin. */
static void a_wait_for_another_inode_keeps_its_holder(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, true);
	file_lock_begin(w, 0, AT(100), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(100), E1);
	file_lock_end(w, 0, AT(102), 101);
	begin_owned(w, AT(300), 101, 201);
	begin_owned(w, AT(301), 102, 201);
	emit_holder(w, AT(302), 202);
	emit_inode(w, 0, AT(303), E2);
	file_lock_finish(w);
	const struct model *m = w->rig.engine.model;
	struct table t = file_lock_rows(w);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 1);
	assert_int_equal(m->waits->in_flight, 2);
	assert_int_equal(holder_of(m, 101), 202);
	assert_int_equal(holder_of(m, 102), 202);
	assert_int_equal(rig_waited_ns(m), rig_blamed_ns(m));
}

static void looks_do_not_move_a_name(void **state)
{
	struct asked *w = *state;
	struct locksnap ended = {0};

	file_lock_start(w, true);
	file_lock_begin(w, 0, AT(100), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(100), E1);
	file_lock_end(w, 0, AT(102), 101);
	file_lock_begin(w, 0, AT(200), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(200), E2);
	file_lock_end(w, 0, AT(202), 101);
	/* One that saw the first file, one that sees that it is gone, one that sees a third. */
	emit_snapshot(w, AT(210), "/data/E1", 12, 1);
	assert_int_equal(locksnap_add_ended(&ended, LOCK), 0);
	lock_snap_emit(w->rig.synth, &ended, AT(250));
	file_lock_waits(w, AT(300), 4, LCB_F_WRITE);
	emit_snapshot(w, AT(400), "/data/E3", 13, 9);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "i_rwsem /data/E2", 5);
	file_lock_expect(&t, 1, "i_rwsem /data/E1", 1);
}

/* In a part of a recording the record of the first file may be missing. */
static void what_was_before_has_no_name(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, true);
	file_lock_waits(w, AT(100), 3, LCB_F_WRITE);
	file_lock_begin(w, 0, AT(200), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(200), E2);
	file_lock_end(w, 0, AT(202), 101);
	emit_snapshot(w, AT(300), "/data/E2", 12, 2);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "vfs_write …222240", 3);
	file_lock_expect(&t, 1, "i_rwsem /data/E2", 1);
}

/* Waits of before are of the same inode, if none was reported there before. */
static void the_first_report_is_of_all_before(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, true);
	file_lock_waits(w, AT(100), 3, LCB_F_WRITE);
	file_lock_begin(w, 0, AT(200), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(200), E1);
	file_lock_end(w, 0, AT(202), 101);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 1);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 4);
}

/* A dropped record may be of an inode: from then on snapshots decide again which one it is. */
static void looks_count_again_after_a_drop(void **state)
{
	const struct record_drop drop = {.records = 3, .bytes = 900};
	struct asked *w = *state;

	file_lock_start(w, true);
	file_lock_begin(w, 0, AT(100), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(100), E1);
	file_lock_end(w, 0, AT(102), 101);
	/* Whole rounds before and after: the wait above is not one of those that may be missing. */
	for (unsigned i = 0; i < 5; i++)
		synth_round(w->rig.synth, AT(103 + i));
	synth_record(w->rig.synth, RECORD_DROP, 0, &drop, sizeof(drop));
	for (unsigned i = 0; i < 5; i++)
		synth_round(w->rig.synth, AT(110 + i));
	emit_snapshot(w, AT(200), "/data/E2", 12, 2);
	file_lock_waits(w, AT(300), 2, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "i_rwsem /data/E2", 2);
	file_lock_expect(&t, 1, "i_rwsem /data/E1", 1);
}

static const char *named(struct asked *w, struct inoderec r)
{
	file_lock_start(w, true);
	file_lock_begin(w, 0, AT(100), 101, LCB_F_WRITE);
	emit_inode(w, 0, AT(100), r);
	file_lock_end(w, 0, AT(102), 101);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 1);
	return cell_s(&t, 0, "name");
}

static struct inoderec of(unsigned short which, struct inoderec r)
{
	r.which = which;
	return r;
}

#define NAME_TEST(test, record, expected)                                                          \
	static void test(void **state)                                                             \
	{                                                                                          \
		assert_string_equal(named(*state, record), expected);                              \
	}

NAME_TEST(a_file_in_a_file_system_that_is_not_seen, inode(7, 1, NAMES("log\0var"), INODEREC_NAMED),
	  "i_rwsem /var/log (ext4 254:1)")
NAME_TEST(a_deleted_file, inode(7, 1, NAMES("log\0var"), SEEN | INODEREC_DELETED),
	  "i_rwsem /var/log (deleted)")
NAME_TEST(a_long_path, inode(7, 1, NAMES("log\0var"), SEEN | INODEREC_CUT), "i_rwsem .../var/log")
NAME_TEST(the_root, inode(2, 0, "", 0, SEEN), "i_rwsem /")
NAME_TEST(no_name_at_all, inode(7, 1, "", 0, 0), "i_rwsem inode 7 (ext4 254:1)")
NAME_TEST(a_mapped_file, of(INODEREC_MMAP_RWSEM, inode(7, 1, NAMES("libc.so.6\0lib"), SEEN)),
	  "i_mmap_rwsem /lib/libc.so.6")
NAME_TEST(pages_of_a_file, of(INODEREC_INVALIDATE, inode(7, 1, NAMES("db\0srv"), SEEN)),
	  "invalidate_lock /srv/db")
NAME_TEST(an_inode_of_xfs, of(INODEREC_XFS, inode(7, 1, NAMES("db\0srv"), SEEN)), "i_lock /srv/db")
NAME_TEST(an_inode_of_ext4, of(INODEREC_EXT4, inode(7, 1, NAMES("db\0srv"), SEEN)),
	  "i_data_sem /srv/db")

enum { BEFORE_PARTS = offsetof(struct inoderec, start) - offsetof(struct inoderec, magic) };

static void records_of_before_have_no_part(void **state)
{
	struct inoderec good = E1;
	struct asked *w = *state;

	good.start = 100;
	good.past = 200;
	file_lock_start(w, true);
	synth_output(w->rig.synth, 0, AT(100), 1, 1, &good.magic, BEFORE_PARTS);
	good.which = INODEREC_FILE;
	good.lock = LOCK + 64;
	synth_inode(w->rig.synth, 0, AT(101), &good);
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 0);
	const struct lockname *old = lockname_get(w->rig.engine.model->lock_names, LOCK);
	const struct lockname *new = lockname_get(w->rig.engine.model->lock_names, LOCK + 64);
	assert_non_null(old);
	assert_non_null(new);
	assert_true(!old->start && !old->past);
	assert_int_equal(new->start, 100);
	assert_int_equal(new->past, 200);
}

static void records_that_make_no_sense_are_bad(void **state)
{
	struct inoderec good = E1, bad[6];
	struct asked *w = *state;

	for (int i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].which = INODEREC_LOCKS;
	bad[1].flags = INODEREC_FLAGS;
	bad[2].n_bytes = INODEREC_NAMES + 1;
	bad[3].n_bytes = UINT32_MAX;
	bad[4].n_bytes = 2; /* within a name */
	memset(bad[5].fs, 'x', sizeof(bad[5].fs));
	file_lock_start(w, true);
	for (int i = 0; i < 6; i++)
		emit_inode(w, 0, AT(100), bad[i]);
	synth_output(w->rig.synth, 0, AT(101), 1, 1, &good.magic, BEFORE_PARTS - 16);
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 7);
	assert_null(lockname_get(w->rig.engine.model->lock_names, LOCK));
}

static struct lockname known_name(uint64_t addr, uint64_t ino, uint64_t from_ns)
{
	return (struct lockname){.addr = addr,
				 .kind = LOCKSNAP_INODE,
				 .ino = ino,
				 .dev = DEV,
				 .from_ns = from_ns,
				 .event_ns = from_ns,
				 .comm = "",
				 .text = "file"};
}

/*
 * Files come and go at some addresses, and one that came first stays: it is not forgotten with
 * those that have ended, nor do these become more than there may be.
 */
static void ended_names_are_forgotten_first(void **state)
{
	enum { ADDRS = 128, NAMES = 10 * LOCKNAME_LEAST };
	struct lockname_set *s = lockname_set_new(0), *large = lockname_set_new(1 << 20);
	struct lockname first = known_name(LOCK, 1, 1);

	(void)state;
	assert_non_null(s);
	assert_non_null(large);
	assert_int_equal(s->most, LOCKNAME_LEAST);
	assert_int_equal(large->most, LOCKNAME_MOST);
	assert_int_equal(lockname_inode(s, &first, true), 0);
	for (uint64_t i = 0; i < NAMES; i++) {
		struct lockname n = known_name(LOCK + 64 * (1 + i % ADDRS), 2 + i, 2 + i);
		assert_int_equal(lockname_inode(s, &n, true), 0);
		assert_true(s->n <= LOCKNAME_LEAST);
		assert_true(s->cap <= LOCKNAME_LEAST);
	}
	assert_non_null(lockname_at(s, LOCK, 2 + NAMES));
	assert_int_equal(lockname_at(s, LOCK, 2 + NAMES)->ino, 1);
	assert_int_equal(lockname_at(s, LOCK + 64, 2 + NAMES)->ino, 2 + NAMES - ADDRS);
	/* The latest one that has ended is there as well. */
	assert_int_equal(lockname_at(s, LOCK + 64, 1 + NAMES - ADDRS)->ino, 2 + NAMES - 2 * ADDRS);
	lockname_set_unref(s);
	lockname_set_unref(large);
}

/* Where none has ended, there are no more either. */
static void names_that_stay_are_bounded(void **state)
{
	struct lockname_set *s = lockname_set_new(0);

	(void)state;
	assert_non_null(s);
	for (uint64_t i = 0; i < 4 * LOCKNAME_LEAST; i++) {
		struct lockname n = known_name(LOCK + 64 * i, 1 + i, 1 + i);
		assert_int_equal(lockname_inode(s, &n, true), 0);
		assert_true(s->n <= LOCKNAME_LEAST);
	}
	assert_true(s->n >= LOCKNAME_LEAST / 2);
	lockname_set_unref(s);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		T(each_wait_is_counted_for_its_inode),
		T(a_wait_for_another_inode_keeps_its_holder),
		T(looks_do_not_move_a_name),
		T(what_was_before_has_no_name),
		T(the_first_report_is_of_all_before),
		T(looks_count_again_after_a_drop),
		T(a_file_in_a_file_system_that_is_not_seen),
		T(a_deleted_file),
		T(a_long_path),
		T(the_root),
		T(no_name_at_all),
		T(a_mapped_file),
		T(pages_of_a_file),
		T(an_inode_of_xfs),
		T(an_inode_of_ext4),
		T(records_of_before_have_no_part),
		T(records_that_make_no_sense_are_bad),
		cmocka_unit_test(ended_names_are_forgotten_first),
		cmocka_unit_test(names_that_stay_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
