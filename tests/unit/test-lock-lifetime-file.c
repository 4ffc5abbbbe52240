// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of files that follow each other at one address, as memory of inodes is used again:
 * each file has a row with its own waits, and no name is passed on to the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file-lock.h"
#include "kontend/wait.h"
#include "lock-snaps.h"

#include <string.h>

enum { DEV = 0x800001 };

struct file {
	const char *path;
	uint64_t ino;
	uint32_t generation, dev;
};

static void look_at(struct asked *w, uint64_t at, enum locksnap_kind kind, struct file f)
{
	struct locksnap s = {0};

	lock_snap_name(&s, LOCK, kind, -1, 100, "a", f.path, 0);
	lock_snap_file(&s, f.ino, f.generation, f.dev);
	lock_snap_emit(w->rig.synth, &s, at);
}

static void add_snapshot(struct asked *w, uint64_t at, struct file f)
{
	look_at(w, at, LOCKSNAP_INODE, f);
}

static void look_ended(struct asked *w, uint64_t at)
{
	struct locksnap s = {0};

	assert_int_equal(locksnap_add_ended(&s, LOCK), 0);
	lock_snap_emit(w->rig.synth, &s, at);
}

/* Its number is used again, with another generation, as ext4 does. */
static void a_file_in_the_place_of_another_has_its_own_row(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 6, LCB_F_WRITE);
	add_snapshot(w, AT(200), (struct file){"/data/E1", 12, 1, DEV});
	file_lock_waits(w, AT(300), 2, LCB_F_READ);
	add_snapshot(w, AT(500), (struct file){"/data/E2", 12, 2, DEV});
	file_lock_waits(w, AT(600), 5, LCB_F_WRITE);
	add_snapshot(w, AT(800), (struct file){"/data/E3", 13, 9, DEV});
	file_lock_waits(w, AT(900), 4, LCB_F_WRITE);
	add_snapshot(w, AT(1000), (struct file){"/data/E4", 13, 9, DEV + 1});
	file_lock_waits(w, AT(1100), 3, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 5);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 6);
	file_lock_expect(&t, 1, "i_rwsem /data/E2", 5);
	file_lock_expect(&t, 2, "i_rwsem /data/E3", 4);
	file_lock_expect(&t, 3, "i_rwsem /data/E4", 3);
	file_lock_expect(&t, 4, "i_rwsem /data/E1", 2); /* its readers */
	assert_string_equal(query_title(&w->q, BY_LOCK, t.ids[0]), "rwsem:W i_rwsem /data/E1");
	assert_string_equal(query_title(&w->q, BY_LOCK, t.ids[3]), "rwsem:W i_rwsem /data/E4");
}

/* The next one is not open: it has no name, and not that of the one before. */
static void a_name_is_not_passed_on(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 3, LCB_F_WRITE);
	add_snapshot(w, AT(200), (struct file){"/data/E1", 12, 1, DEV});
	look_ended(w, AT(500));
	file_lock_waits(w, AT(600), 2, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 3);
	file_lock_expect(&t, 1, "vfs_write …222240", 2);
}

/* The next one may be named by a later look; what was waited since it is there is its own. */
static void a_name_may_come_later(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 3, LCB_F_WRITE);
	add_snapshot(w, AT(200), (struct file){"/data/E1", 12, 1, DEV});
	look_ended(w, AT(500));
	file_lock_waits(w, AT(600), 2, LCB_F_WRITE);
	add_snapshot(w, AT(700), (struct file){"/data/E2", 12, 2, DEV});
	file_lock_waits(w, AT(800), 2, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "i_rwsem /data/E2", 4);
	file_lock_expect(&t, 1, "i_rwsem /data/E1", 3);
}

/* As the manual says: until the next look they are counted for the one before. */
static void waits_between_two_looks_are_of_the_first(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	add_snapshot(w, AT(200), (struct file){"/data/E1", 12, 1, DEV});
	file_lock_waits(w, AT(300), 3, LCB_F_WRITE);
	synth_begin(w->rig.synth, 1, AT(490), 100, 102, LOCK, LCB_F_WRITE, NULL, 0);
	add_snapshot(w, AT(500), (struct file){"/data/E2", 12, 2, DEV});
	synth_end(w->rig.synth, 1, AT(510), 100, 102, LOCK, 0);
	file_lock_waits(w, AT(600), 2, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "i_rwsem /data/E1", 4);
	file_lock_expect(&t, 1, "i_rwsem /data/E2", 2);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
}

/* It is renamed, or its descriptor was closed before its path was read: it is the same file. */
static void the_same_file_goes_on(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 2, LCB_F_WRITE);
	add_snapshot(w, AT(200), (struct file){"/data/old", 12, 1, DEV});
	file_lock_waits(w, AT(300), 2, LCB_F_WRITE);
	add_snapshot(w, AT(500), (struct file){"/data/new", 12, 1, DEV});
	file_lock_waits(w, AT(600), 2, LCB_F_WRITE);
	add_snapshot(w, AT(700), (struct file){"", 12, 1, DEV});
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 1);
	file_lock_expect(&t, 0, "i_rwsem /data/new", 6);
}

static void a_pipe_ends_as_well(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 3, LCB_F_MUTEX);
	look_at(w, AT(200), LOCKSNAP_PIPE, (struct file){"pipe:[77]", 77, 0, 14});
	look_at(w, AT(500), LOCKSNAP_POS, (struct file){"/data/log", 12, 1, DEV});
	file_lock_waits(w, AT(600), 2, LCB_F_MUTEX);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 2);
	file_lock_expect(&t, 0, "pipe->mutex a/100", 3);
	file_lock_expect(&t, 1, "f_pos_lock /data/log", 2);
}

/* Recordings of before have no numbers of inodes: of a file the latest name counts. */
static void old_recordings_have_one_name(void **state)
{
	struct asked *w = *state;

	file_lock_start(w, false);
	file_lock_waits(w, AT(100), 3, LCB_F_WRITE);
	add_snapshot(w, AT(200), (struct file){.path = "/data/E1"});
	add_snapshot(w, AT(500), (struct file){.path = "/data/E2"});
	file_lock_waits(w, AT(600), 2, LCB_F_WRITE);
	file_lock_finish(w);
	struct table t = file_lock_rows(w);
	assert_int_equal(t.n_rows, 1);
	file_lock_expect(&t, 0, "i_rwsem /data/E2", 5);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		T(a_file_in_the_place_of_another_has_its_own_row),
		T(a_name_is_not_passed_on),
		T(a_name_may_come_later),
		T(waits_between_two_looks_are_of_the_first),
		T(the_same_file_goes_on),
		T(a_pipe_ends_as_well),
		T(old_recordings_have_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
