// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocked tasks from a tree like /proc: which ones are, their calls, files and children, what is
 * read again, and what is not known. And addresses of functions by a text like /proc/kallsyms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/locks/internal.h"
#include "../../src/inspect/locks/tasks.h"
#include "kontend/snapshot-tasks.h"
#include "kontend/target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[64], kallsyms[80];

static const char symbols[] = "ffffffff81000000 T _stext\n"
			      "ffffffff81001000 t jbd2_log_wait_commit\n"
			      "ffffffff81001100 t wait_twice\n"
			      "ffffffff81001200 d no_function\n"
			      "ffffffff81001300 T kernel_clone\n"
			      "ffffffff81001400 t wait_twice\n"
			      "ffffffff81001420 t vfs_fsync\n"
			      "ffffffff81001500 T _etext\n"
			      "ffffffffc0a00000 t ext4_sync_file\t[ext4]\n"
			      "ffffffffc0a00200 t ext4_end\t[ext4]\n"
			      "ffffffffc0b00000 t ext4_sync_file\t[other]\n"
			      "ffffffffc0b00200 t other_end\t[other]\n";

static void file(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void file_of(int tid, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%d/task/%d/%s", tid, tid, name);
	file(path, text);
}

/* A process with one thread that has run @runs times, in state @state. */
static void task(int tid, char state, int runs, int flags)
{
	char text[256], path[64];

	snprintf(
		text, sizeof(text),
		"%d (a (b) c) %c 1 2 3 4 -1 %d 7 8 9 10 11 12 13 14 20 0 1 0 100 0 0 0 0 0 0 0 0 0 "
		"0 0 0 0 0 0 17 1 0\n",
		tid, state, flags);
	file_of(tid, "stat", text);
	snprintf(text, sizeof(text), "5 6 %d\n", runs);
	file_of(tid, "schedstat", text);
	snprintf(path, sizeof(path), "%d/comm", tid);
	file(path, "a (b) c\n");
}

static void call(int tid, int number, int fd)
{
	char text[256];

	snprintf(text, sizeof(text), "%d 0x%x 0x0 0x0 0x0 0x0 0x0 0x7ffe00000000 0x7f0100000000\n",
		 number, fd);
	file_of(tid, "syscall", text);
}

static void sync_task(int tid, int runs)
{
	task(tid, 'D', runs, 0);
	call(tid, SYS_fsync, 3);
	file_of(tid, "stack",
		"[<0>] jbd2_log_wait_commit+0x12/0x100\n[<0>] ext4_sync_file+0x20/0x200 [ext4]\n"
		"[<0>] vfs_fsync+0x30/0xe0\n");
}

static int set_up(void **state)
{
	*state = root;
	strcpy(root, "/tmp/kontend-tasks-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", root);
	file("kallsyms", symbols);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) == 0 ? 0 : -1;
}

static struct snapshot_tasks *begin(void)
{
	struct snapshot_tasks *t = snapshot_tasks_new(root, kallsyms);

	assert_non_null(t);
	return t;
}

static void take(struct snapshot_tasks *t, struct locksnap *s)
{
	locksnap_clear(s);
	assert_int_equal(snapshot_tasks_add(t, NULL, "no BPF here", s), 0);
}

static bool has(const struct locksnap *s, int tid)
{
	for (size_t i = 0; i < s->n_blocked; i++)
		if (s->blocked[i].tid == tid)
			return true;
	return false;
}

static const struct locksnap_blocked *of(const struct locksnap *s, int tid)
{
	static const struct locksnap_blocked none;

	assert_true(has(s, tid));
	for (size_t i = 0; i < s->n_blocked; i++)
		if (s->blocked[i].tid == tid)
			return &s->blocked[i];
	return &none;
}

static void a_task_has_calls_file_and_names(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};

	(void)state;
	sync_task(800, 7);
	file_of(800, "fdinfo/3", "pos:\t0\nflags:\t02\nmnt_id:\t36\nino:\t12\n");
	file("self/mountinfo", "36 35 0:45 / /srv rw - fuse srv rw\n");
	take(t, &s);
	assert_true(s.head.knows_blocked);
	assert_int_equal(s.head.blocked_by, LOCKSNAP_BLOCKED_BY_PROC);
	assert_string_equal(locksnap_text(&s, s.head.no_objects), "no BPF here");
	assert_int_equal(s.n_blocked, 1);
	const struct locksnap_blocked *b = of(&s, 800);
	assert_int_equal(b->state, LOCKSNAP_BLOCKED_D);
	assert_string_equal(locksnap_text(&s, b->comm), "a (b) c");
	assert_string_equal(locksnap_text(&s, b->fs), "fuse");
	assert_int_equal(b->cpu, 1 + 1);
	assert_false(b->kthread);
	assert_int_equal(b->n_frames, 3);
	assert_int_equal(s.frames[b->frame], 0xffffffff81001012);
	assert_int_equal(s.frames[b->frame + 1], 0xffffffffc0a00020);
	assert_int_equal(s.frames[b->frame + 2], 0xffffffff81001450);
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

static void only_blocked_ones_are_there(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};

	(void)state;
	task(800, 'R', 1, 0);
	task(801, 'I', 1, 0x200000);
	task(802, 'D', 1, 0x200000); /* a kernel thread */
	task(803, 'S', 1, 0x200000);
	task(804, 'T', 1, 0);
	task(805, 'S', 1, 0);
	call(805, SYS_ppoll, 3);
	task(806, 'S', 1, 0);
	call(806, SYS_flock, 3);
	task(807, 'S', 1, 0);
	file_of(807, "syscall", "running\n");
	task(808, 'S', 1, 0); /* of 32 bits: its numbers are others */
	file_of(808, "syscall", "143 0x3 0x0 0x0 0x0 0x0 0x0 0xffe00000 0xf7f00000\n");
	task(809, 'S', 1, 0);
	file_of(809, "syscall", "-1 0x7ffe00000000 0x7f0100000000\n");
	take(t, &s);
	assert_int_equal(s.n_blocked, 4);
	assert_int_equal(of(&s, 802)->kthread, 1);
	assert_int_equal(of(&s, 804)->state, LOCKSNAP_BLOCKED_STOPPED);
	assert_int_equal(of(&s, 806)->state, LOCKSNAP_BLOCKED_S);
	assert_int_equal(of(&s, 809)->state, LOCKSNAP_BLOCKED_S);
	assert_int_equal(of(&s, 806)->n_frames, 0);
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

/* Until all are read again only those that were blocked are, and not what cannot have changed. */
static void a_sleep_is_read_once(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};

	(void)state;
	sync_task(800, 7);
	sync_task(801, 7);
	take(t, &s);
	assert_int_equal(s.n_blocked, 2);
	const uint64_t ran_ns = of(&s, 800)->ran_ns;
	file_of(800, "stack", "[<0>] vfs_fsync+0x30/0xe0\n");
	sync_task(801, 8);
	file_of(801, "stack", "[<0>] vfs_fsync+0x30/0xe0\n");
	sync_task(802, 1);
	/* It may be kept as it was for a moment. */
	do
		take(t, &s);
	while (of(&s, 801)->n_frames != 1);
	assert_int_equal(of(&s, 800)->n_frames, 3);
	assert_int_equal(of(&s, 800)->ran_ns, ran_ns);
	assert_true(of(&s, 801)->ran_ns > ran_ns);
	/* All are read now and then. */
	do
		take(t, &s);
	while (!has(&s, 802));
	assert_int_equal(of(&s, 800)->ran_ns, ran_ns);
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

static void the_child_of_a_vfork_is_the_last_one(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};

	(void)state;
	task(800, 'D', 1, 0);
	file_of(800, "stack", "[<0>] kernel_clone+0x12/0x100\n[<0>] vfs_fsync+0x30/0xe0\n");
	file_of(800, "children", "811 810 ");
	file("810/comm", "child\n");
	/* It does not wait for the one that it has. */
	sync_task(801, 1);
	file_of(801, "children", "812 ");
	take(t, &s);
	assert_int_equal(of(&s, 800)->by_pid, 810);
	assert_string_equal(locksnap_text(&s, of(&s, 800)->by_comm), "child");
	assert_int_equal(of(&s, 801)->by_pid, 0);
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

/* The innermost function alone, where calls cannot be read; no address where these are withheld. */
static void what_is_not_known_is_left_out(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};

	(void)state;
	task(800, 'D', 1, 0);
	file_of(800, "wchan", "jbd2_log_wait_commit");
	task(801, 'D', 1, 0);
	file_of(801, "wchan", "0");
	take(t, &s);
	assert_int_equal(of(&s, 800)->n_frames, 1);
	assert_int_equal(s.frames[of(&s, 800)->frame], 0xffffffff81001001);
	assert_int_equal(of(&s, 801)->n_frames, 0);
	snapshot_tasks_free(t);
	file("kallsyms", "0000000000000000 t jbd2_log_wait_commit\n");
	t = begin();
	take(t, &s);
	assert_int_equal(of(&s, 800)->n_frames, 0);
	assert_non_null(strstr(locksnap_text(&s, s.head.no_objects), "withholds addresses"));
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

static void targets_are_kept_to(void **state)
{
	struct snapshot_tasks *t = begin();
	struct locksnap s = {0};
	pid_t ids[] = {801};
	const struct target pids = {.kind = TARGET_PIDS, .ids = ids, .n_ids = 1};
	const struct target cgroup = {.kind = TARGET_CGROUP};

	(void)state;
	sync_task(800, 1);
	sync_task(801, 1);
	assert_int_equal(snapshot_tasks_add(t, &pids, "no BPF", &s), 0);
	assert_int_equal(s.n_blocked, 1);
	assert_int_equal(s.blocked[0].tid, 801);
	locksnap_clear(&s);
	assert_int_equal(snapshot_tasks_add(t, &cgroup, "no BPF", &s), 0);
	assert_false(s.head.knows_blocked);
	assert_string_equal(locksnap_text(&s, s.head.no_sleepers),
			    "no BPF: tasks of a cgroup are not known");
	locksnap_deinit(&s);
	snapshot_tasks_free(t);
}

static uint64_t address_of(struct tasks_symbols *s, const char *line)
{
	unsigned long long frames[RAW_BLOCKED_FRAMES];
	int fd = open(kallsyms, O_RDONLY);

	assert_int_equal(tasks_symbols_want(s, line), 0);
	assert_int_equal(tasks_symbols_search(s, fd), 0);
	close(fd);
	return tasks_symbols_frames(s, line, frames) ? frames[0] : 0;
}

static void functions_are_told_apart(void **state)
{
	struct tasks_symbols s = {0};

	(void)state;
	assert_int_equal(address_of(&s, "[<0>] wait_twice+0x1/0x200\n"), 0xffffffff81001101);
	assert_int_equal(address_of(&s, "[<0>] wait_twice+0x1/0x20\n"), 0xffffffff81001401);
	assert_int_equal(address_of(&s, "[<0>] ext4_sync_file+0x1/0x200 [other]\n"),
			 0xffffffffc0b00001);
	assert_int_equal(address_of(&s, "[<0>] ext4_sync_file+0x1/0x200\n"), 0);
	assert_int_equal(address_of(&s, "[<0>] no_function+0x1/0x100\n"), 0);
	assert_int_equal(address_of(&s, "[<0>] 0xffffffff81001101\n"), 0);
	assert_int_equal(address_of(&s, "[<0>]\n[<0>] +0x1/0x2\nx+0x\n"), 0);
	assert_int_equal(address_of(&s, ""), 0);
	tasks_symbols_deinit(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_task_has_calls_file_and_names),
		TEST(only_blocked_ones_are_there),
		TEST(a_sleep_is_read_once),
		TEST(the_child_of_a_vfork_is_the_last_one),
		TEST(what_is_not_known_is_left_out),
		TEST(targets_are_kept_to),
		TEST(functions_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
