// SPDX-License-Identifier: GPL-2.0-only
/* Texts for what blocked tasks wait for, of what the BPF program has found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "locks/because-shared.h"
#include "locks/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Names as the program writes them, the innermost first. */
static struct raw_path path_of(const char *names, size_t bytes, bool whole)
{
	struct raw_path p = {.bytes = (unsigned)bytes, .whole = whole};

	memcpy(p.names, names, bytes);
	return p;
}

#define PATH(NAMES, WHOLE) path_of(NAMES, sizeof(NAMES), WHOLE)

struct place {
	char dir[32], mountinfo[64];
	struct because_names names;
	struct locksnap snap;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char path[128];

	assert_non_null(p);
	strcpy(p->dir, "/tmp/because-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->mountinfo, sizeof(p->mountinfo), "%s/mountinfo", p->dir);
	put(p->mountinfo, "21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n"
			  "broken\n"
			  "22 21 254:1 /sub /srv\\040a rw - ext4 /dev/vdb rw\n"
			  "23 21 0:50 / /home rw,noatime shared:5 - nfs4 nas:/export\\134x rw\n"
			  "24 21 0:51 / /tmp/fuse rw - fuse.sshfs me@host:/ rw\n");
	for (int i = 0; i < 3; i++) {
		static const char *const dirs[] = {"block", "block/dm-0", "block/dm-0/dm"};
		snprintf(path, sizeof(path), "%s/%s", p->dir, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	p->names = (struct because_names){.mountinfo = p->mountinfo, .sys = p->dir};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	char command[64];

	mounts_deinit(&p->names.mounts);
	locksnap_deinit(&p->snap);
	snprintf(command, sizeof(command), "rm -r %s", p->dir);
	assert_int_equal(system(command), 0);
	free(p);
	return 0;
}

static struct locksnap_blocked fill(struct place *p, const struct raw_because *b)
{
	struct locksnap_blocked to = {.tid = 7};

	because_fill(b, &p->names, &to, &p->snap);
	return to;
}

#define IS(VALUE, TEXT) assert_string_equal(locksnap_text(&p->snap, VALUE), TEXT)

static void paths_begin_at_their_mount(void **state)
{
	struct place *p = *state;
	struct raw_because b = {
		.tid = 7, .dev = 254 << 20, .fs = "ext4", .file = PATH("x\0b\0a", true)};

	struct locksnap_blocked to = fill(p, &b);
	IS(to.file, "/a/b/x");
	IS(to.fs, "ext4");
	b.dev = 254 << 20 | 1;
	to = fill(p, &b);
	IS(to.file, "/a/b/x"); /* not below that mount */
	b.file = PATH("x\0sub", true);
	to = fill(p, &b);
	IS(to.file, "/srv a/x");
	b.dev = 254 << 20 | 9; /* mounted elsewhere */
	to = fill(p, &b);
	IS(to.file, "/sub/x");
	b.file = PATH("x\0sub", false);
	to = fill(p, &b);
	IS(to.file, ".../sub/x");
	b.file = (struct raw_path){0};
	to = fill(p, &b);
	assert_int_equal(to.file, 0);
	b.tid = 8; /* of another task */
	to = fill(p, &b);
	IS(to.fs, "");
}

static void servers_are_sources_of_mounts(void **state)
{
	struct place *p = *state;
	struct raw_because b = {.tid = 7, .dev = 50, .fs = "nfs4", .file = PATH("x", true)};

	struct locksnap_blocked to = fill(p, &b);
	IS(to.source, "nas:/export\\x");
	IS(to.file, "/home/x");
	b.dev = 254 << 20;
	to = fill(p, &b);
	assert_int_equal(to.source, 0);
}

static void cgroups_have_paths(void **state)
{
	struct place *p = *state;
	struct raw_because b = {.tid = 7, .cgroup = PATH("app.service\0system.slice", true)};

	struct locksnap_blocked to = fill(p, &b);
	IS(to.limit, "/system.slice/app.service");
	b.cgroup = (struct raw_path){.whole = 1};
	to = fill(p, &b);
	IS(to.limit, "/");
	b.cgroup.whole = 0;
	to = fill(p, &b);
	assert_int_equal(to.limit, 0);
}

static void workers_and_who_keeps_them_off(void **state)
{
	struct place *p = *state;
	const struct raw_because b = {
		.tid = 7,
		.work = 1,
		.function = 4096,
		.queue = "events",
		.by = {.pid = 33,
		       .tid = 33,
		       .cpu = 1,
		       .state = RAW_BY_RUNNABLE,
		       .off_pid = 99,
		       .off_tid = 99,
		       .off_prio = 50,
		       .comm = "kworker/1:1",
		       .off_comm = "spin"},
	};

	struct locksnap_blocked to = fill(p, &b);
	assert_int_equal(to.by_tid, 33);
	assert_int_equal(to.by_state, LOCKSNAP_RUNNABLE);
	assert_int_equal(to.by_cpu, 1);
	assert_int_equal(to.off_tid, 99);
	assert_int_equal(to.off_prio, 50);
	assert_int_equal(to.function, 4096);
	IS(to.by_comm, "kworker/1:1");
	IS(to.off_comm, "spin");
	IS(to.queue, "events");
}

/* The thread of a log waits for a task that has a handle open, and not for one of another log. */
static void logs_wait_for_open_handles(void **state)
{
	struct place *p = *state;
	const struct raw_because found[] = {
		{.tid = 5, .log = 100}, {.tid = 6, .open = 200}, {.tid = 7, .open = 100}};

	for (int i = 0; i < 3; i++) {
		const struct locksnap_blocked b = {
			.pid = 5 + i, .tid = 5 + i, .state = LOCKSNAP_BLOCKED_D, .kthread = !i};
		assert_int_equal(locksnap_add_blocked(&p->snap, &b), 0);
	}
	because_fill_logs(found, 2, &p->snap);
	assert_int_equal(p->snap.blocked[0].by_tid, 0);
	because_fill_logs(found, 3, &p->snap);
	assert_int_equal(p->snap.blocked[0].by_tid, 7);
	assert_int_equal(p->snap.blocked[1].by_tid, 0);
}

static void a_suspended_device_has_its_name(void **state)
{
	struct place *p = *state;
	struct locksnap_blocked to = {.device = locksnap_add_text(&p->snap, "dm-0")};
	char path[128];

	because_fill_device(&p->names, &to, &p->snap);
	assert_int_equal(to.source, 0);
	snprintf(path, sizeof(path), "%s/block/dm-0/dm/name", p->dir);
	put(path, "vg-home\n");
	snprintf(path, sizeof(path), "%s/block/dm-0/dm/suspended", p->dir);
	put(path, "0\n");
	because_fill_device(&p->names, &to, &p->snap);
	IS(to.source, "vg-home");
	assert_int_equal(to.suspended, 0);
	put(path, "1\n");
	because_fill_device(&p->names, &to, &p->snap);
	assert_int_equal(to.suspended, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_begin_at_their_mount), TEST(servers_are_sources_of_mounts),
		TEST(cgroups_have_paths),	  TEST(workers_and_who_keeps_them_off),
		TEST(logs_wait_for_open_handles), TEST(a_suspended_device_has_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
