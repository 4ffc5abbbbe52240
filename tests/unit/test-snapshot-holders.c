// SPDX-License-Identifier: GPL-2.0-only
/* The functions in which holders of locks sleep, from a tree like /proc and a text like
 * /proc/kallsyms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/snapshot-holders.h"
#include "proc-tree.h"

#include <stdio.h>
#include <string.h>

static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 t hrtimer_nanosleep\n"
			      "ffffffff81001100 t anon_pipe_read\n"
			      "ffffffff81001200 T _etext\n";

static void add_queue(struct locksnap *s, int32_t holder, enum locksnap_state state)
{
	const struct locksnap_queue q = {.addr = 0x1000 + s->n_queues,
					 .type = LOCKSNAP_USER_MUTEX,
					 .certainty = LOCKSNAP_EVIDENCE,
					 .holder_pid = holder,
					 .holder_tid = holder,
					 .holder_state = state};

	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

static void take(struct locksnap *s)
{
	char path[512];

	tree_file("kallsyms", symbols);
	tree_file("701/task/701/wchan", "hrtimer_nanosleep");
	tree_file("702/task/702/wchan", "0");
	tree_file("703/task/703/wchan", "anon_pipe_read");
	tree_file("704/task/704/wchan", "no_such_function");
	snprintf(path, sizeof(path), "%s/kallsyms", tree_root);
	struct snapshot_holders *h = snapshot_holders_new(tree_root, path);
	assert_non_null(h);
	assert_int_equal(snapshot_holders_add(h, s), 0);
	snapshot_holders_free(h);
}

static void those_that_sleep_have_a_function(void **state)
{
	struct locksnap s = {0};

	(void)state;
	add_queue(&s, 701, LOCKSNAP_ASLEEP);
	add_queue(&s, 702, LOCKSNAP_ASLEEP); /* it is awake by now */
	add_queue(&s, 703, LOCKSNAP_ASLEEP);
	take(&s);
	assert_int_equal(s.queues[0].holder_n_frames, 1);
	assert_int_equal(s.queues[1].holder_n_frames, 0);
	assert_int_equal(s.queues[2].holder_n_frames, 1);
	/* Within the function, as a return address is. */
	assert_true(s.frames[s.queues[0].holder_frame] == 0xffffffff81001001);
	assert_true(s.frames[s.queues[2].holder_frame] == 0xffffffff81001101);
	locksnap_deinit(&s);
}

static void others_have_none(void **state)
{
	const uint64_t frame = 0xffffffff81001180;
	struct locksnap s = {0};

	(void)state;
	assert_int_equal(locksnap_add_frame(&s, &frame), 0);
	add_queue(&s, 701, LOCKSNAP_RUNNING);
	add_queue(&s, 704, LOCKSNAP_ASLEEP); /* no symbol */
	add_queue(&s, 705, LOCKSNAP_ASLEEP); /* it is gone */
	add_queue(&s, 0, LOCKSNAP_ASLEEP);
	add_queue(&s, 703, LOCKSNAP_ASLEEP);
	s.queues[4].holder_n_frames = 1; /* more is known of it */
	take(&s);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s.queues[i].holder_n_frames, 0);
	assert_int_equal(s.n_frames, 1);
	assert_int_equal(s.queues[4].holder_frame, 0);
	locksnap_deinit(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_that_sleep_have_a_function),
		TEST(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
