// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file that a holder works on, by the arguments of its system call; and readers in a snapshot.
 * Both from the arrays of the BPF programs, whose content may be anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "locks/because-shared.h"
#include "locks/internal.h"
#include "locks/sleepers-shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As fill.c has them. */
uint32_t snapshot_locks_add_text(struct locksnap *s, const char *text, size_t size)
{
	char copy[64];

	snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
	return locksnap_add_text(s, copy);
}

uint32_t snapshot_locks_add_long(struct locksnap *s, const char *text)
{
	return locksnap_add_text(s, text);
}

uint32_t snapshot_locks_add_path(struct locksnap *s, const char *proc, int pid, int fd)
{
	char text[64];

	snprintf(text, sizeof(text), "%s/%d/%d", proc, pid, fd);
	return locksnap_add_text(s, text);
}

static struct raw_locks_state state;
static struct raw_lock_waiter waiters[RAW_LOCK_WAITERS];
static struct snapshot_locks_raw raw = {.state = &state, .waiters = waiters, .proc = "P"};

static void calls_name_their_file(void **state_unused)
{
	unsigned arg = 9;

	(void)state_unused;
	assert_int_equal(calls_doing(SYS_pread64, &arg), LOCKSNAP_READS);
	assert_int_equal(arg, 0);
	assert_int_equal(calls_doing(SYS_splice, &arg), LOCKSNAP_WRITES);
	assert_int_equal(arg, 2);
	assert_int_equal(calls_doing(SYS_fsync, &arg), LOCKSNAP_SYNCS);
	/* mmap() has a descriptor, but does not sleep for its file. */
	assert_int_equal(calls_doing(SYS_mmap, &arg), LOCKSNAP_NO_FILE);
	assert_int_equal(calls_doing(-1, &arg), LOCKSNAP_NO_FILE);
	assert_int_equal(calls_doing(INT64_MAX, &arg), LOCKSNAP_NO_FILE);
}

static void put_link(const char *root, const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/dev/block/%s", root, name);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static void devices_have_the_names_of_sysfs(void **state_unused)
{
	char root[] = "/tmp/kontend-calls-XXXXXX", path[128], device[8];

	(void)state_unused;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/dev", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dev/block", root);
	assert_int_equal(mkdir(path, 0700), 0);
	put_link(root, "254:1", "../../devices/virtio/block/vda/vda1");
	put_link(root, "7:0", "loop0");
	put_link(root, "8:0", "a/name-that-is-too-long");
	assert_string_equal(calls_device(root, 254u << 20 | 1, device, sizeof(device)), "vda1");
	assert_string_equal(calls_device(root, 7u << 20, device, sizeof(device)), "loop0");
	assert_string_equal(calls_device(root, 8u << 20, device, sizeof(device)), "name-th");
	assert_string_equal(calls_device(root, 9u << 20, device, sizeof(device)), "");
	assert_string_equal(calls_device(root, 45, device, sizeof(device)), "");
	assert_string_equal(calls_device(root, UINT32_MAX, device, sizeof(device)), "");
	snprintf(path, sizeof(path), "rm -r %s", root);
	assert_int_equal(system(path), 0);
}

static void who_waits_is_at_no_file_and_few_are_asked(void **state_unused)
{
	struct raw_call c = {.number = SYS_splice, .files = {[2] = {.known = 1, .fd = 7}}};
	struct locksnap s = {0};

	(void)state_unused;
	state.n_waiters = 1;
	waiters[0].tid = 5;
	assert_int_equal(snapshot_locks_fill_call(&raw, &c, 5, &s), 0);
	assert_int_equal(s.n_sleeps, 0);
	assert_int_equal(snapshot_locks_fill_call(&raw, &c, 6, &s), 0);
	assert_int_equal(snapshot_locks_fill_call(&raw, &c, 6, &s), 0);
	assert_int_equal(s.n_sleeps, 1);
	assert_int_equal(s.sleeps[0].doing, LOCKSNAP_WRITES);
	assert_string_equal(locksnap_text(&s, s.sleeps[0].file), "P/6/7");
	assert_string_equal(locksnap_text(&s, s.sleeps[0].device), "");
	c.files[2].known = 0;
	assert_int_equal(snapshot_locks_fill_call(&raw, &c, 7, &s), 0);
	assert_int_equal(s.n_sleeps, 1);
	c.files[2].known = 1;
	for (int tid = 10; tid < 100; tid++)
		assert_int_equal(snapshot_locks_fill_call(&raw, &c, tid, &s), 0);
	assert_int_equal(s.n_sleeps, 16);
	locksnap_deinit(&s);
}

static void arguments_name_what_a_call_is_on(void **state_unused)
{
	static const struct {
		long number;
		uint64_t args[RAW_CALL_FILES];
		int fd_of; /* the argument that is a descriptor; -1: none */
		enum locksnap_on kind;
		const char *text;
	} calls[] = {
		{SYS_pwrite64, {4, 0x7f00, 9}, 0, LOCKSNAP_ON_FILE, "P/5/4"},
		{SYS_flock, {6}, 0, LOCKSNAP_ON_FILE, "P/5/6"},
		{SYS_sendto, {8}, 0, LOCKSNAP_ON_FILE, "P/5/8"},
		{SYS_epoll_ctl, {3, 1, 9}, 2, LOCKSNAP_ON_FILE, "P/5/9"},
		/* A number beyond the table of descriptors. */
		{SYS_flock, {66}, -1, LOCKSNAP_ON_FILE, ""},
		{SYS_munmap, {0x1000, 0x2000}, -1, LOCKSNAP_ON_MEMORY, "0x1000-0x3000"},
		{SYS_kill, {77}, -1, LOCKSNAP_ON_TASK, "-/77"},
		{SYS_kill, {(uint64_t)-77}, -1, LOCKSNAP_ON_TASK, "process group 77"},
		{SYS_kill, {0}, -1, LOCKSNAP_ON_TASK, ""},
		{SYS_openat, {3, 0x7f00}, 0, LOCKSNAP_ON_PATH, ""},
		{SYS_getppid, {3, 0x7f00}, 0, LOCKSNAP_ON_NOTHING, ""},
		{-1, {3, 0x7f00}, 0, LOCKSNAP_ON_UNKNOWN, ""},
	};
	struct locksnap s = {0};

	(void)state_unused;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct raw_call c = {.number = calls[i].number};
		uint32_t kind;

		for (int k = 0; k < RAW_CALL_FILES; k++)
			c.args[k] = calls[i].args[k];
		if (calls[i].fd_of >= 0)
			c.files[calls[i].fd_of] = (struct raw_call_file){
				.known = 1, .fd = (unsigned)c.args[calls[i].fd_of]};
		uint32_t text = calls_on(&s, &c, "P", 5, &kind);
		if (kind != calls[i].kind || strcmp(locksnap_text(&s, text), calls[i].text) != 0)
			fail_msg("call %ld: %u %s", calls[i].number, kind, locksnap_text(&s, text));
	}
	/* So many have been read. */
	for (int i = 0; i < 64; i++)
		assert_int_equal(locksnap_add_waiter(&s, &(struct locksnap_waiter){0}), 0);
	struct raw_call c = {.number = SYS_flock, .files = {{.known = 1, .fd = 6}}};
	uint32_t kind;
	assert_int_equal(calls_on(&s, &c, "P", 5, &kind), 0);
	assert_int_equal(kind, LOCKSNAP_ON_UNKNOWN);
	locksnap_deinit(&s);
}

enum { LOCK = 4096 };

static struct raw_reader reader(int tid, unsigned skip, unsigned in, unsigned frames)
{
	struct raw_reader r = {.pid = tid,
			       .tid = tid,
			       .skip = skip,
			       .in = in,
			       .bytes = (int)(frames * sizeof(uint64_t)),
			       .on_cpu = 1,
			       .call.number = -1};

	for (unsigned i = 0; i < RAW_READER_FRAMES; i++)
		r.frames[i] = 100 + i;
	return r;
}

static void fill(struct locksnap *s, struct locksnap_queue *q, const struct raw_reader *r, size_t n,
		 int hint)
{
	const struct raw_lock l = {
		.addr = LOCK, .type = RAW_RWSEM, .waiters = 1, .holder_tid = hint};

	raw.readers = r;
	raw.n_readers = n;
	raw.wanted[0] = LOCK;
	*q = (struct locksnap_queue){.addr = LOCK, .certainty = LOCKSNAP_HINT};
	assert_int_equal(snapshot_locks_fill_readers(&raw, &l, s, q), 0);
	assert_int_equal(locksnap_add_queue(s, q), 0);
}

/* The task that the kernel remembers comes first; waiters and other locks do not count. */
static void readers_are_in_order(void **state_unused)
{
	struct raw_reader r[] = {reader(7, 0, 1, 3), reader(8, 2, 4, 6), reader(5, 0, 0, 1),
				 reader(9, 0, 0, 1), reader(10, 0, 0, 1)};
	struct locksnap s = {0};
	struct locksnap_queue q;

	(void)state_unused;
	state.n_waiters = 1;
	waiters[0].tid = 5;
	r[3].lock = 1;
	r[4].lock = UINT32_MAX;
	fill(&s, &q, r, 5, 8);
	assert_int_equal(s.n_readers, 2);
	assert_int_equal(q.certainty, LOCKSNAP_EVIDENCE);
	assert_int_equal(q.holder_tid, 8);
	assert_int_equal(q.n_evident, 2);
	/* Without the two calls by which it was interrupted. */
	assert_int_equal(s.readers[0].n_frames, 4);
	assert_int_equal(s.frames[s.readers[0].frame], 102);
	assert_int_equal(s.readers[0].in, 2);
	assert_int_equal(s.readers[1].tid, 7);
	assert_int_equal(s.readers[1].in, 1);
	locksnap_deinit(&s);
}

/* An invalid reference to a frame means the first. */
static void readers_refer_to_what_is_there(void **state_unused)
{
	const unsigned odd[][3] = {{0, 0, 0},
				   {9, 3, 5},
				   {0, 70, 64},
				   {UINT32_MAX, 1, 2},
				   {0, 1, 1},
				   {1, 1, 100},
				   {64, UINT32_MAX, 1u << 20}};
	struct locksnap s = {0}, t = {0};
	struct locksnap_queue q;

	(void)state_unused;
	state.n_waiters = 0;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct raw_reader r = reader(7, odd[i][0], odd[i][1], odd[i][2]);
		locksnap_clear(&s);
		fill(&s, &q, &r, 1, 0);
		size_t len = locksnap_size(&s);
		char *p = calloc(1, len);
		assert_non_null(p);
		locksnap_encode(&s, p);
		assert_int_equal(locksnap_decode(&t, p, len), 0);
		assert_int_equal(t.n_readers, 1);
		free(p);
	}
	locksnap_clear(&s);
	fill(&s, &q, NULL, 0, 8);
	assert_int_equal(q.certainty, LOCKSNAP_HINT);
	locksnap_deinit(&s);
	locksnap_deinit(&t);
}

static struct raw_blocked blocked_task(int tid, unsigned frames, uint64_t ran)
{
	struct raw_blocked r = {
		.pid = 7,
		.tid = tid,
		.cpu = 3,
		.state = RAW_STATE_D,
		.io = 1,
		.bytes = (int)(frames * sizeof(r.frames[0])),
		.ran = ran,
		.comm = "dd",
		.process = "sh",
		.call = {.number = SYS_fsync,
			 .files = {{.known = 1, .fd = 4, .dev = UINT32_MAX, .fs = "fuse"}}}};

	for (unsigned i = 0; i < RAW_BLOCKED_FRAMES; i++)
		r.frames[i] = i < frames ? 100 + i : 0xdead;
	return r;
}

static void blocked_tasks_share_frames_and_name_children(void **state_unused)
{
	const int64_t ahead = 50;
	const struct raw_vfork child = {.pid = 20, .tid = 20, .parent = 11, .comm = "cc1"};
	struct because_names names = {.mountinfo = "/nosuch", .sys = "/nosuch"};
	/* Of the first two something was found. */
	const struct raw_because found[2] = {{.tid = 10}, {.tid = 11, .fs = "ext4"}};
	struct raw_blocked all[80];
	struct raw_blocked_pass pass = {.blocked = all,
					.n = 80,
					.vforks = &child,
					.n_vforks = 1,
					.proc = "P",
					.because = found,
					.n_because = 2,
					.names = &names};
	struct locksnap s = {0};

	(void)state_unused;
	for (int i = 0; i < 80; i++)
		all[i] = blocked_task(10 + i, 2, 1050);
	all[2] = blocked_task(12, RAW_BLOCKED_FRAMES, 0);
	all[3].bytes = -14; /* the kernel could not read it */
	all[4].state = RAW_STATE_S;
	all[4].call.number = -1;
	pass.ahead_ns = &ahead;
	assert_int_equal(sleepers_fill_blocked(&pass, &s), 0);
	assert_int_equal(s.n_blocked, 80);
	assert_int_equal(s.n_frames, 2 + RAW_BLOCKED_FRAMES);
	assert_int_equal(s.blocked[0].frame, s.blocked[79].frame);
	assert_int_equal(s.blocked[79].n_frames, 2);
	assert_int_equal(s.blocked[2].n_frames, RAW_BLOCKED_FRAMES);
	assert_int_equal(s.frames[s.blocked[2].frame + 23], 123);
	assert_int_equal(s.blocked[3].n_frames, 0);
	assert_int_equal(s.blocked[0].ran_ns, 1000);
	assert_int_equal(s.blocked[2].ran_ns, 0);
	assert_int_equal(s.blocked[0].cpu, 4);
	assert_string_equal(locksnap_text(&s, s.blocked[1].process), "sh");
	assert_string_equal(locksnap_text(&s, s.blocked[0].fs), "fuse");
	assert_string_equal(locksnap_text(&s, s.blocked[1].fs), "ext4");
	assert_string_equal(locksnap_text(&s, s.blocked[2].fs), "fuse");
	assert_string_equal(locksnap_text(&s, s.blocked[4].fs), "");
	assert_int_equal(s.blocked[1].by_tid, 20);
	assert_string_equal(locksnap_text(&s, s.blocked[1].by_comm), "cc1");
	assert_int_equal(s.blocked[0].by_tid, 0);
	/* Paths cost a call each: the first ones have them. */
	assert_int_equal(s.n_sleeps, 64);
	assert_string_equal(locksnap_text(&s, s.sleeps[0].file), "P/10/4");
	pass.ahead_ns = NULL;
	locksnap_clear(&s);
	assert_int_equal(sleepers_fill_blocked(&pass, &s), 0);
	assert_int_equal(s.blocked[0].ran_ns, 0);
	locksnap_deinit(&s);
}

static void sleepers_are_summed_up_by_process(void **state_unused)
{
	const struct raw_sleepers rows[] = {
		{.pid = 9, .kind = RAW_FUTEX, .tasks = 2, .comm = "java"},
		{.pid = 8, .kind = RAW_IO, .tasks = 4, .comm = "dd"},
		{.pid = 9, .kind = RAW_FUTEX, .tasks = 5, .idle = 1, .comm = "java"},
	};
	struct locksnap s = {0};

	(void)state_unused;
	assert_int_equal(sleepers_fill(rows, 3, &s), 0);
	assert_int_equal(s.n_sleepers, 2);
	assert_int_equal(s.sleepers[0].pid, 9);
	assert_int_equal(s.sleepers[0].tasks, 7);
	assert_int_equal(s.sleepers[0].idle, 1);
	assert_string_equal(locksnap_text(&s, s.sleepers[1].comm), "dd");
	locksnap_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_name_their_file),
		cmocka_unit_test(devices_have_the_names_of_sysfs),
		cmocka_unit_test(who_waits_is_at_no_file_and_few_are_asked),
		cmocka_unit_test(arguments_name_what_a_call_is_on),
		cmocka_unit_test(blocked_tasks_share_frames_and_name_children),
		cmocka_unit_test(sleepers_are_summed_up_by_process),
		cmocka_unit_test(readers_are_in_order),
		cmocka_unit_test(readers_refer_to_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
