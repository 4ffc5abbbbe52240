// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of runtimes from a tree like /proc. This program exports the variables by which runtimes
 * are recognised, so it is the program of the processes in the tree; their memory is made up, also
 * as no real runtime has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/runtimes/internal.h"
#include "kontend/locksnap.h"
#include "kontend/snapshot-users.h"
#include "proc-tree.h"

#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Symbols that PostgreSQL and Python export. */
extern uint64_t my_wait_event_info, MyProc, _PyRuntime, Py_Version;
uint64_t my_wait_event_info, MyProc, _PyRuntime, Py_Version;

enum { PROGRAM = 0x10000, SHARED = 0x4000000, HEAP = 0x6000000 };
/* In shared memory. */
enum { INFO = SHARED + 64, ENTRIES = SHARED + 0x1000, LOCK = SHARED + 0x8000, CLAIMS = LOCK + 256 };

static uint64_t loaded_at;

static int find_first(struct dl_phdr_info *i, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	loaded_at = i->dlpi_addr;
	return 1;
}

/* Where a variable of this program is in the processes of the tree. */
static uint64_t in_tree(const void *variable)
{
	if (!loaded_at)
		dl_iterate_phdr(find_first, NULL);
	return (uint64_t)(uintptr_t)variable - loaded_at + PROGRAM;
}

static void put(int pid, uint64_t at, const void *bytes, size_t n)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/mem", pid);
	tree_file_at(name, bytes, n, (off_t)at);
}

static void put_u64(int pid, uint64_t at, uint64_t value)
{
	put(pid, at, &value, sizeof(value));
}

static void put_u32(int pid, uint64_t at, uint32_t value)
{
	put(pid, at, &value, sizeof(value));
}

/* A process with this program, by the name @program. */
static void process(int pid, const char *program)
{
	char path[256], name[256], text[512], self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	tree_thread(pid, pid, 0, TREE_OTHER, 0);
	snprintf(path, sizeof(path), "%s/%s", tree_root, program);
	if (access(path, F_OK) != 0)
		assert_int_equal(symlink(self, path), 0);
	snprintf(name, sizeof(name), "%s/%d/exe", tree_root, pid);
	assert_int_equal(symlink(path, name), 0);
	snprintf(name, sizeof(name), "%s/%d/map_files", tree_root, pid);
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(name, sizeof(name), "%s/%d/map_files/%x-%x", tree_root, pid, PROGRAM, SHARED);
	assert_int_equal(symlink(path, name), 0);
	snprintf(name, sizeof(name), "%d/maps", pid);
	snprintf(text, sizeof(text),
		 "%x-%x r--p 00000000 fe:01 77   %s\n"
		 "%x-%x rw-s 00000000 00:01 99   /dev/zero (deleted)\n"
		 "%x-%x rw-p 00000000 00:00 0    [heap]\n",
		 PROGRAM, SHARED, path, SHARED, HEAP, HEAP, 2 * HEAP);
	tree_file(name, text);
}

static uint64_t entry_of(int pid)
{
	return ENTRIES + (uint64_t)(pid - 700) * 512;
}

/* A backend of a server of version @version. */
static void backend(int pid, const char *version, uint32_t info)
{
	char name[64];

	process(pid, "postgres");
	snprintf(name, sizeof(name), "%d/cwd/PG_VERSION", pid);
	tree_file(name, version);
	put_u64(pid, in_tree(&my_wait_event_info), INFO);
	put_u64(pid, in_tree(&MyProc), entry_of(pid));
	put_u32(pid, INFO, info);
	/* The end of its entry. */
	put_u64(pid, entry_of(pid) + 504, 0);
}

static void take(struct locksnap *s)
{
	struct snapshot_users *u = snapshot_users_new(tree_root, false);

	assert_non_null(u);
	locksnap_clear(s);
	assert_int_equal(snapshot_users_add(u, NULL, s), 0);
	snapshot_users_free(u);
}

static void names_are_those_of_the_version(void **state)
{
	(void)state;
	assert_string_equal(postgres_lwlock(15, 8), "WALWrite");
	assert_string_equal(postgres_lwlock(13, 10), "Checkpoint");
	assert_null(postgres_lwlock(14, 10));
	assert_string_equal(postgres_lwlock(13, 57), "BufferIO");
	assert_string_equal(postgres_lwlock(14, 57), "ReplicationOriginState");
	assert_string_equal(postgres_lwlock(14, 71), "PerXactPredicateList");
	assert_null(postgres_lwlock(14, 72));
	assert_string_equal(postgres_lwlock(15, 61), "LockManager");
	assert_string_equal(postgres_lwlock(15, 74), "PgStatsData");
	assert_null(postgres_lwlock(15, 75));
	assert_string_equal(postgres_lwlock(16, 76), "LogicalRepLauncherHash");
	assert_null(postgres_lwlock(16, 77));
	assert_null(postgres_lwlock(17, 11));
	assert_string_equal(postgres_lwlock(17, 53), "XactBuffer");
	assert_string_equal(postgres_lwlock(17, 91), "ParallelVacuumDSA");
	assert_null(postgres_lwlock(17, 92));
	assert_string_equal(postgres_lwlock(18, 53), "AioWorkerSubmissionQueue");
	assert_string_equal(postgres_lwlock(18, 70), "ParallelBtreeScan");
	assert_string_equal(postgres_lwlock(18, 94), "AioUringCompletion");
	assert_null(postgres_lwlock(18, 95));
	assert_null(postgres_lwlock(12, 8));
	assert_null(postgres_lwlock(19, 8));
	assert_null(postgres_lwlock(18, UINT32_MAX));
	assert_string_equal(postgres_lock(11), "applytransaction");
	assert_null(postgres_lock(12));
}

/* Backends of one server wait for one lock; it has no owner that is known. */
static void a_lightweight_lock_is_one_for_all_backends(void **state)
{
	struct locksnap s = {0};

	(void)state;
	backend(701, "15\n", 0x01000008);
	backend(702, "15\n", 0x01000008);
	/* It waits for its client. */
	backend(703, "15\n", 0x06000000);
	take(&s);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].type, LOCKSNAP_USER_RUNTIME);
	assert_int_equal(s.queues[0].writers_waiting, 2);
	assert_int_equal(s.queues[0].holder_tid, 0);
	assert_int_equal(s.n_waiters, 2);
	assert_string_equal(locksnap_text(&s, s.names[0].text), "LWLock:WALWrite");
	locksnap_deinit(&s);
}

static void locks_without_a_name_have_numbers(void **state)
{
	struct locksnap s = {0};

	(void)state;
	backend(701, "99\n", 0x01000008);
	take(&s);
	assert_int_equal(s.n_names, 1);
	assert_int_equal(s.names[0].kind, LOCKSNAP_RUNTIME);
	assert_int_equal(s.names[0].pid, TREE_PARENT);
	assert_string_equal(locksnap_text(&s, s.names[0].text), "LWLock:8");
	locksnap_deinit(&s);
}

/* LOCK and PROCLOCK of the server. */
struct lock {
	uint32_t field[3];
	uint16_t field4;
	uint8_t type, method;
	uint32_t granted, waited;
	uint64_t before, next;
};

struct claim {
	uint64_t lock, entry, leader;
	uint32_t modes, released;
	uint64_t before, next;
};

/*
 * 701 waits for a transaction that 702 has, 703 waits, too, and is the first in the list. The
 * number of a process is in its entry at 48, the lock, the claim and the mode at 144.
 */
static void transaction(int waiter)
{
	const struct lock lock = {.field = {812},
				  .type = 5,
				  .method = 1,
				  .before = CLAIMS + 128 + 32,
				  .next = CLAIMS + 256 + 32};
	const struct claim mine = {LOCK, entry_of(701), entry_of(701), 0, 0, 0, CLAIMS + 128 + 32};
	const struct claim owns = {LOCK, entry_of(702), entry_of(702), 1 << 7, 0, 0, LOCK + 24};
	const struct claim other = {LOCK, entry_of(703), entry_of(703), 0, 0, 0, CLAIMS + 32};

	put(waiter, LOCK, &lock, sizeof(lock));
	put(waiter, CLAIMS, &mine, sizeof(mine));
	put(waiter, CLAIMS + 128, &owns, sizeof(owns));
	put(waiter, CLAIMS + 256, &other, sizeof(other));
	for (int pid = 701; pid <= 703; pid++) {
		put_u32(waiter, entry_of(pid) + 48, (uint32_t)pid);
		put_u64(waiter, entry_of(pid) + 504, 0);
	}
	put_u64(waiter, entry_of(waiter) + 144, LOCK);
	put_u64(waiter, entry_of(waiter) + 152, CLAIMS);
	put_u32(waiter, entry_of(waiter) + 160, 5);
}

static void backends(void)
{
	backend(701, "15\n", 0x03000005);
	backend(702, "15\n", 0x06000000);
	backend(703, "15\n", 0x06000000);
	transaction(701);
}

/* The snapshot has the one wait, of 701. */
static void check_wait(const char *name, int owner)
{
	struct locksnap s = {0};

	take(&s);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.n_waiters, 1);
	assert_int_equal(s.waiters[0].tid, 701);
	assert_int_equal(s.queues[0].holder_pid, owner);
	assert_int_equal(s.queues[0].holder_tid, owner);
	assert_int_equal(s.queues[0].certainty, owner ? LOCKSNAP_EVIDENCE : LOCKSNAP_NOBODY);
	assert_string_equal(locksnap_text(&s, s.names[0].text), name);
	locksnap_deinit(&s);
}

/* The owner may be read after its waiter, and is known then from the next snapshot on. */
static void a_transaction_has_the_backend_as_owner(void **state)
{
	struct snapshot_users *u = snapshot_users_new(tree_root, false);
	struct locksnap s = {0};

	(void)state;
	assert_non_null(u);
	backends();
	for (int i = 0; i < 2; i++) {
		locksnap_clear(&s);
		assert_int_equal(snapshot_users_add(u, NULL, &s), 0);
	}
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].holder_tid, 702);
	assert_string_equal(locksnap_text(&s, s.names[0].text), "Lock:transactionid 812");
	/* 702 has gone, and another process has its number. */
	tree_file("702/stat", "702 (x) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 20 0 1 0 999 0 0 0 0 0 "
			      "1 0 0 0 0 0 0 0 0 0 17 1 0\n");
	locksnap_clear(&s);
	assert_int_equal(snapshot_users_add(u, NULL, &s), 0);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].holder_tid, 0);
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

/* A process may have anything in its memory. */
static void what_does_not_prove_itself_is_not_believed(void **state)
{
	static const char no_more[] = "Lock:transactionid";

	(void)state;
	backends();
	put_u64(701, CLAIMS, LOCK + 8); /* a claim to another lock */
	check_wait(no_more, 0);
	put_u64(701, CLAIMS, LOCK);
	put_u64(701, CLAIMS + 8, entry_of(702)); /* of another backend */
	check_wait(no_more, 0);
	put_u64(701, CLAIMS + 8, entry_of(701));
	put_u32(701, entry_of(701) + 160, 9); /* no such mode */
	check_wait(no_more, 0);
	put_u32(701, entry_of(701) + 160, 5);
	put_u32(701, LOCK + 12, 4 << 16); /* of another type */
	check_wait(no_more, 0);
	put_u32(701, LOCK + 12, 5 << 16);
	put_u64(701, LOCK + 32, CLAIMS + 32); /* a list that never comes back */
	put_u64(701, CLAIMS + 40, CLAIMS + 32);
	check_wait("Lock:transactionid 812", 0);
	put_u64(701, LOCK + 32, CLAIMS + 33);
	check_wait("Lock:transactionid 812", 0);
	put_u64(701, LOCK + 32, UINT64_MAX - 7);
	check_wait("Lock:transactionid 812", 0);
	put_u64(701, in_tree(&MyProc), UINT64_MAX - 7);
	check_wait(no_more, 0);
}

static void nothing_is_waited_for_where_nothing_can_be_read(void **state)
{
	struct locksnap s = {0};

	(void)state;
	backend(701, "15\n", 0x03000005);
	put_u64(701, in_tree(&my_wait_event_info), INFO + 1);
	backend(702, "15\n", 0x03000005);
	put_u64(702, in_tree(&my_wait_event_info), UINT64_MAX - 3);
	backend(703, "15\n", 0x03000005);
	put_u64(703, in_tree(&my_wait_event_info), 0);
	put_u32(703, 0, 0);
	take(&s);
	assert_int_equal(s.n_queues, 0);
	locksnap_deinit(&s);
}

static bool read_701(void *arg, uint64_t addr, void *ret, size_t n)
{
	char path[128];

	(void)arg;
	snprintf(path, sizeof(path), "%s/701/mem", tree_root);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	bool ok = addr <= INT64_MAX && fseek(f, (long)addr, SEEK_SET) == 0 &&
		  fread(ret, 1, n, f) == n;
	fclose(f);
	return ok;
}

/* It has no variable for that, and this program cannot do without. */
static void version_13_has_it_in_the_entry(void **state)
{
	const struct runtime_process p = {.proc = tree_root, .pid = 701, .read = read_701};
	struct runtime t = {.type = &runtime_postgres,
			    .pid = 701,
			    .parent = TREE_PARENT,
			    .inner = 701,
			    .symbols = {in_tree(&MyProc)},
			    .version = 13};
	struct runtimes *r = runtimes_new();
	const struct runtime_thread thread = {.tid = 701};
	struct runtime_lock l = {0};

	(void)state;
	assert_non_null(r);
	put_u64(701, in_tree(&MyProc), ENTRIES);
	put_u32(701, ENTRIES + 52, 701);
	put_u32(701, ENTRIES + 684, 0x01000000 | 57);
	assert_true(t.type->find(r, &p, &t, &thread, &l));
	assert_string_equal(l.name, "LWLock:BufferIO");
	assert_int_equal(l.pid, TREE_PARENT);
	/* Its entry would be another one then. */
	put_u32(701, ENTRIES + 52, 702);
	assert_false(t.type->find(r, &p, &t, &thread, &l));
	put_u32(701, ENTRIES + 52, 701);
	t.version = 14;
	assert_false(t.type->find(r, &p, &t, &thread, &l));
	runtimes_unref(r);
}

/* The lock of an interpreter at @gil, which thread 700 has. */
static void gil(int pid, uint64_t at, uint64_t number_at)
{
	put_u64(pid, at + 8, HEAP + 0x800);
	put_u32(pid, at + 16, 1);
	put_u64(pid, HEAP + 0x800 + number_at, (uint64_t)pid);
}

static void python(int pid, uint64_t version)
{
	process(pid, "python3.9");
	put_u64(pid, in_tree(&Py_Version), version << 16);
	/* The end of what is read. */
	put_u64(pid, HEAP + 0x2000, 0);
}

static void check_gil(int pid, uint64_t sleeps_at, int owner)
{
	struct locksnap s = {0};

	tree_thread(pid, pid + 1, sleeps_at, FUTEX_WAIT_BITSET_PRIVATE, 0);
	take(&s);
	assert_int_equal(s.n_queues, owner >= 0);
	if (owner >= 0) {
		assert_int_equal(s.waiters[0].tid, pid + 1);
		assert_int_equal(s.queues[0].holder_tid, owner);
		assert_string_equal(locksnap_text(&s, s.names[0].text), "GIL");
	}
	locksnap_deinit(&s);
}

static void the_lock_of_3_11_is_at_its_place(void **state)
{
	uint64_t at = in_tree(&_PyRuntime) + 360;

	(void)state;
	python(700, 0x30b);
	gil(700, at, 160);
	check_gil(700, at + 32 + 40, 700);
	check_gil(700, at + 32 + 44, 700);
	/* At its mutex, and before it. */
	check_gil(700, at + 80, -1);
	check_gil(700, at + 28, -1);
	/* It is being handed over. */
	put_u32(700, at + 16, 0);
	check_gil(700, at + 32 + 40, 0);
	/* No lock looks like that. */
	put_u32(700, at + 16, UINT32_MAX);
	check_gil(700, at + 32 + 40, -1);
	put_u32(700, at + 16, 1);
	/* The thread does not exist. */
	put_u64(700, HEAP + 0x800 + 160, 777);
	check_gil(700, at + 32 + 40, 0);
	put_u64(700, HEAP + 0x800 + 160, UINT64_MAX);
	check_gil(700, at + 32 + 40, 0);
}

static void other_versions_are_left_alone(void **state)
{
	(void)state;
	python(700, 0x30a);
	gil(700, in_tree(&_PyRuntime) + 360, 160);
	check_gil(700, in_tree(&_PyRuntime) + 360 + 32 + 40, -1);
}

static void each_interpreter_of_3_12_has_a_lock(void **state)
{
	uint64_t one = HEAP + 0x1000, two = HEAP + 0x1400;

	(void)state;
	python(700, 0x30c);
	put_u64(700, in_tree(&_PyRuntime) + 40, two);
	put_u64(700, two, one);
	put_u64(700, two + 384, two + 512);
	put_u64(700, one + 384, one + 512);
	put_u64(700, one, 0);
	gil(700, one + 512, 144);
	check_gil(700, one + 512 + 32 + 40, 700);
	/* A list that never ends. */
	put_u64(700, one, two);
	check_gil(700, HEAP + 0x1f00, -1);
}

static void newer_versions_say_where_it_is(void **state)
{
	uint64_t words[32] = {0}, one = HEAP + 0x1000, at = in_tree(&_PyRuntime);

	(void)state;
	python(700, 0x30d);
	memcpy(words, "xdebugpy", 8);
	words[1] = 0x30d00f0;
	words[5] = 632;
	words[8] = 64;
	words[14] = 16;
	words[25] = 96;
	put(700, at, words, sizeof(words));
	put_u64(700, at + 632, one);
	put_u64(700, one + 16, one + 512);
	put_u64(700, one + 64, 0);
	gil(700, one + 512, 96);
	check_gil(700, one + 512 + 32 + 40, 700);
	words[25] = UINT64_MAX - 7; /* a place that is none */
	put(700, at, words, sizeof(words));
	check_gil(700, one + 512 + 32 + 40, -1);
	words[25] = 96;
	words[1] = 0x30e00f0; /* of another version than it says */
	put(700, at, words, sizeof(words));
	check_gil(700, one + 512 + 32 + 40, -1);
	words[1] = 0x30d00f0;
	words[0] = 0;
	put(700, at, words, sizeof(words));
	check_gil(700, one + 512 + 32 + 40, -1);
}

/* The name is not enough: its file has to have the symbols. */
static void a_file_without_symbols_is_no_runtime(void **state)
{
	struct locksnap s = {0};

	(void)state;
	backend(701, "15\n", 0x01000008);
	char path[128];
	snprintf(path, sizeof(path), "%s/postgres", tree_root);
	assert_int_equal(unlink(path), 0);
	tree_file("postgres", "\177ELF, but no more");
	take(&s);
	assert_int_equal(s.n_queues, 0);
	locksnap_deinit(&s);
}

#define IN_TREE(TEST) cmocka_unit_test_setup_teardown(TEST, tree_set_up, tree_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_version),
		IN_TREE(a_lightweight_lock_is_one_for_all_backends),
		IN_TREE(locks_without_a_name_have_numbers),
		IN_TREE(a_transaction_has_the_backend_as_owner),
		IN_TREE(what_does_not_prove_itself_is_not_believed),
		IN_TREE(nothing_is_waited_for_where_nothing_can_be_read),
		IN_TREE(version_13_has_it_in_the_entry),
		IN_TREE(the_lock_of_3_11_is_at_its_place),
		IN_TREE(other_versions_are_left_alone),
		IN_TREE(each_interpreter_of_3_12_has_a_lock),
		IN_TREE(newer_versions_say_where_it_is),
		IN_TREE(a_file_without_symbols_is_no_runtime),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
