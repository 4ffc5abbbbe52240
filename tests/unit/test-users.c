// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of programs from a tree like /proc: calls of futex(2), the layouts of the C library, what
 * is no lock, which lock is the same one, and how the model takes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/locks/users.h"
#include "../../src/query/internal.h"
#include "asked.h"
#include "canned.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/query-chains.h"
#include "kontend/query-elsewhere.h"
#include "kontend/query-lock.h"
#include "kontend/snapshot-users.h"
#include "kontend/userlock.h"
#include "kontend/userword.h"
#include "kontend/wait.h"
#include "lock-snaps.h"
#include "proc-tree.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum { BASE = 0x10000, AREA = 64 };

/* Memory of a program at BASE. */
struct memory {
	uint32_t words[AREA];
};

static bool read_words(void *arg, uint64_t addr, void *ret, size_t n)
{
	const struct memory *m = arg;

	if (addr < BASE || addr - BASE > sizeof(m->words) - n)
		return false;
	memcpy(ret, (const char *)m->words + (addr - BASE), n);
	return true;
}

/* @number: of the call, with arguments "0x10 0x80 0x2 0x82" or so; its line in /proc. */
static bool parse(long number, const char *args, struct users_line *ret)
{
	char line[256];

	snprintf(line, sizeof(line), "%ld %s 0x7ffe 0x7f01", number, args);
	return users_line_parse(line, ret);
}

static void calls_are_read(void **state)
{
	struct userlock_call c;
	struct users_line l;

	(void)state;
	assert_true(parse(SYS_futex, "0x7f0000001060 0x80 0x2 0x0 0x0 0x0", &l));
	assert_int_equal(users_line_caller(&l), USERS_64BIT);
	assert_true(users_line_call(&l, read_words, NULL, &c));
	assert_int_equal(c.addr, 0x7f0000001060);
	assert_int_equal(c.op, FUTEX_WAIT_PRIVATE);
	assert_int_equal(c.value, 2);
	assert_int_equal(l.sp, 0x7ffe);
	assert_int_equal(l.ip, 0x7f01);
	assert_true(userlock_is_private(&c));
	assert_false(parse(SYS_futex, "0x7f0000001060 0x80", &l));
	assert_true(parse(SYS_read, "0x3 0x0 0x0 0x0 0x0 0x0", &l));
	assert_int_equal(users_line_caller(&l), USERS_NO_SLEEP);
	assert_false(users_line_parse("running", &l));
	assert_false(users_line_parse("-1 0x7ffe 0x7f01", &l));
	assert_false(users_line_parse("", &l));
}

/* futex_wait(2): its private word is a mutex's. */
static void newer_calls_are_read(void **state)
{
	struct memory m = {0};
	struct userlock_call c;
	struct users_line l;

	(void)state;
	assert_true(parse(455, "0x7f0000001060 0x2 0xffffffff 0x82 0x0 0x1", &l));
	assert_int_equal(users_line_caller(&l), USERS_EITHER);
	assert_true(users_line_call(&l, read_words, &m, &c));
	assert_int_equal(c.addr, 0x7f0000001060);
	assert_int_equal(c.op, FUTEX_WAIT_BITSET_PRIVATE);
	assert_int_equal(c.value, 2);
	assert_true(parse(455, "0x7f0000001060 0x2 0xffffffff 0x2 0x0 0x1", &l));
	assert_true(users_line_call(&l, read_words, &m, &c));
	assert_false(userlock_is_private(&c));
	/* A word of 64 bits: the kernel has no sleep for that. */
	assert_true(parse(455, "0x7f0000001060 0x2 0xffffffff 0x83 0x0 0x1", &l));
	assert_false(users_line_call(&l, read_words, &m, &c));
}

/* futex_waitv(2): one word is as in futex_wait(2); several are no lock. */
static void words_are_read(void **state)
{
	const struct userlock_word words[] = {{2, 0x7f0000001060, 0x82, 0}, {0, 0x1000, 0x82, 0}};
	struct memory m = {0};
	struct userlock_call c;
	struct users_line l;
	char args[128];

	(void)state;
	memcpy(m.words, words, sizeof(words));
	for (int n = 1; n <= 2; n++) {
		snprintf(args, sizeof(args), "0x%llx 0x%x 0x0 0x0 0x1 0x0",
			 (unsigned long long)BASE, (unsigned)n);
		assert_true(parse(449, args, &l));
		assert_int_equal(users_line_caller(&l), USERS_EITHER);
		assert_true(users_line_call(&l, read_words, &m, &c));
		assert_int_equal(c.addr, 0x7f0000001060);
		assert_int_equal(c.value, 2);
		assert_true(userlock_is_private(&c));
		assert_int_equal(c.op & USERLOCK_COMMAND,
				 n == 1 ? FUTEX_WAIT_BITSET : USERLOCK_WAITV);
	}
	assert_true(parse(449, "0x10 0x1 0x0 0x0 0x1 0x0", &l));
	assert_false(users_line_call(&l, read_words, &m, &c));
}

/* The program decides whether it has these numbers; x32 has numbers of its own. */
static void calls_of_32_bits_are_found(void **state)
{
	const char *args = "0x56559008 0x80 0x2 0x0 0x0 0x0";
	struct users_line l;

	(void)state;
	assert_true(parse(240, args, &l));
	assert_int_equal(users_line_caller(&l), USERS_EITHER);
	assert_true(parse(422, args, &l));
	assert_int_equal(users_line_caller(&l), USERS_EITHER);
#ifdef __x86_64__
	assert_true(parse(0x40000000 | 202, args, &l));
	assert_int_equal(users_line_caller(&l), USERS_32BIT);
	assert_true(parse(0x40000000 | 455, args, &l));
	assert_int_equal(users_line_caller(&l), USERS_32BIT);
#endif
}

static bool find(struct memory *m, unsigned word, uint32_t op, uint32_t value,
		 struct userlock_found *ret)
{
	const struct userlock_call c = {BASE + word * sizeof(uint32_t), op, value};

	return users_lock_find(&c, read_words, m, ret);
}

static void mutexes_have_owners(void **state)
{
	static const uint32_t kinds[] = {0, 1, 2, 3, 128, 256 | 2, 512};
	struct memory m = {0};
	struct userlock_found l;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		memcpy(m.words, (uint32_t[]){2, 0, 4711, 1, kinds[i]}, 20);
		assert_true(find(&m, 0, FUTEX_WAIT_PRIVATE, 2, &l));
		assert_int_equal(l.kind, USERLOCK_MUTEX);
		assert_int_equal(l.addr, BASE);
		assert_int_equal(l.owner, 4711);
		assert_false(l.sure);
	}
	/* The owner is in the word of a robust one, with the bit "waiters". */
	memcpy(m.words, (uint32_t[]){FUTEX_WAITERS | 4712, 0, 4712, 1, 0x10}, 20);
	assert_true(find(&m, 0, FUTEX_WAIT_PRIVATE, FUTEX_WAITERS | 4712, &l));
	assert_int_equal(l.owner, 4712);
	assert_true(l.sure);
	/* With priority inheritance the kernel has it in the word. */
	memcpy(m.words, (uint32_t[]){FUTEX_WAITERS | 4713}, 4);
	assert_true(find(&m, 0, FUTEX_LOCK_PI_PRIVATE, 0, &l));
	assert_int_equal(l.kind, USERLOCK_PI);
	assert_int_equal(l.owner, 4713);
	assert_true(l.sure);
}

static void what_differs_is_no_mutex(void **state)
{
	static const struct {
		uint32_t words[5], value;
	} others[] = {
		{{1, 0, 4711, 1, 0}, 2},     /* free to be taken by now */
		{{2, 0, 0, 1, 0}, 2},	     /* no owner: another kind of lock, or between two */
		{{2, 0, 4711, 0, 0}, 2},     /* no user of it */
		{{2, 0, 4711, 1, 4}, 2},     /* no such kind */
		{{2, 0, 4711, 1, 0x400}, 2}, /* no such flag */
		{{0, 0, 4711, 1, 0}, 0},     /* a semaphore without a unit waits for 0 */
		{{1, 0, 4711, 1, 0}, 1},
	};
	struct memory m = {0};
	struct userlock_found l;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		memcpy(m.words, others[i].words, sizeof(others[i].words));
		assert_false(find(&m, 0, FUTEX_WAIT_PRIVATE, others[i].value, &l));
	}
	/* Commands of condition variables with priority inheritance, and of none. */
	memcpy(m.words, (uint32_t[]){2, 0, 4711, 1, 0}, 20);
	assert_false(find(&m, 0, FUTEX_WAIT_REQUEUE_PI, 2, &l));
	assert_false(find(&m, 0, FUTEX_WAKE, 2, &l));
	/* At the end of what can be read. */
	m.words[AREA - 1] = 2;
	assert_false(find(&m, AREA - 1, FUTEX_WAIT_PRIVATE, 2, &l));
	assert_false(find(&m, 2 * AREA, FUTEX_WAIT_PRIVATE, 2, &l));
}

static void rwlocks_have_writers_or_readers(void **state)
{
	struct memory m = {0};
	struct userlock_found l;
	uint32_t *w = m.words + 8;

	(void)state;
	/* A writer has it: readers wait for the phase, writers for the lock. */
	memcpy(w, (uint32_t[]){3 | 4, 1, 3, 3, 0, 0, 4711, 0}, 32);
	assert_true(find(&m, 10, FUTEX_WAIT_BITSET_PRIVATE, 3, &l));
	assert_int_equal(l.kind, USERLOCK_RWLOCK);
	assert_int_equal(l.addr, BASE + 32);
	assert_true(l.reads);
	assert_int_equal(l.owner, 4711);
	assert_true(find(&m, 11, FUTEX_WAIT_BITSET_PRIVATE, 3, &l));
	assert_int_equal(l.addr, BASE + 32);
	assert_false(l.reads);
	/* Two readers have it, and a writer is next. */
	memcpy(w, (uint32_t[]){2 << 3 | 2, 0, 2, 0, 0, 0, 0, 0}, 32);
	assert_true(find(&m, 10, FUTEX_WAIT_BITSET_PRIVATE, 2, &l));
	assert_false(l.reads);
	assert_int_equal(l.owner, 0);
	assert_int_equal(l.readers, 2);
	/* Another writer is next, so this one waits for the lock; also if there are many. */
	for (uint32_t writers = 0; writers < 20; writers++) {
		memcpy(w, (uint32_t[]){2 << 3 | 2, writers, 2, 3, 0, 0, 0, 0}, 32);
		assert_true(find(&m, 11, FUTEX_WAIT_BITSET_PRIVATE, 3, &l));
		assert_int_equal(l.addr, BASE + 32);
		assert_false(l.reads);
		assert_int_equal(l.readers, 2);
	}
	memcpy(w, (uint32_t[]){2 << 3 | 2, 0, 2, 0, 0, 0, 0, 0}, 32);
	/* It is shared by processes, and the call says otherwise. */
	w[7] = 1;
	assert_false(find(&m, 10, FUTEX_WAIT_BITSET_PRIVATE, 2, &l));
	assert_true(find(&m, 10, FUTEX_WAIT_BITSET, 2, &l));
}

/* Of glibc: two sequences, references, sizes, and the words that are waited on, at 40 and 44. */
static void conditions_are_no_locks(void **state)
{
	struct memory m = {0};
	struct userlock_found l;

	(void)state;
	memcpy(m.words, (uint32_t[]){3, 0, 1, 0, 2, 2, 1, 1, 0, 8, 0, 0}, 48);
	/* The mutex that belongs to it is often next. */
	memcpy(m.words + 12, (uint32_t[]){2, 0, 4711, 1, 0}, 20);
	for (uint32_t value = 0; value < 2; value++) {
		m.words[10] = m.words[11] = value;
		assert_false(find(&m, 10, FUTEX_WAIT_BITSET_PRIVATE, value, &l));
		assert_false(find(&m, 11, FUTEX_WAIT_BITSET_PRIVATE, value, &l));
	}
	/* A barrier in round 2, which waits as mutexes do. */
	memcpy(m.words, (uint32_t[]){1, 2, 2, 0, 0, 0, 0, 0}, 32);
	assert_false(find(&m, 1, FUTEX_WAIT_PRIVATE, 2, &l));
}

/* Variables at 0x5000, without a value in the file from 0x6000 on; shared memory at 0x8000. */
static void memory(int pid, uint64_t at, const uint32_t *words, size_t n)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/maps", pid);
	tree_file(name, "4000-5000 r-xp 00000000 fe:01 77   /usr/bin/app\n"
			"5000-6000 rw-p 00001000 fe:01 77   /usr/bin/app\n"
			"6000-7000 rw-p 00000000 00:00 0 \n"
			"8000-9000 rw-s 00000000 00:01 99   /dev/shm/pool (deleted)\n"
			"a000-b000 rw-p 00000000 00:00 0    [heap]\n");
	snprintf(name, sizeof(name), "%d/mem", pid);
	tree_file_at(name, (const char *)words, n * sizeof(*words), (off_t)at);
}

static void take(struct snapshot_users *u, struct locksnap *s)
{
	locksnap_clear(s);
	assert_int_equal(snapshot_users_add(u, NULL, s), 0);
}

static struct snapshot_users *new_users(void)
{
	struct snapshot_users *u = snapshot_users_new(tree_root, false);

	assert_non_null(u);
	return u;
}

static void a_queue_has_owner_waiters_and_place(void **state)
{
	struct snapshot_users *u = new_users();
	struct locksnap s = {0};

	(void)state;
	tree_thread(700, 700, 0, TREE_OTHER, 0);
	tree_thread(700, 701, 0x6020, FUTEX_WAIT_PRIVATE, 2);
	tree_thread(700, 702, 0x6020, FUTEX_WAIT_PRIVATE, 2);
	memory(700, 0x6020, (uint32_t[]){2, 0, 700, 1, 0}, 5);
	take(u, &s);
	assert_int_equal(s.head.users, LOCKSNAP_USERS_ALL);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].type, LOCKSNAP_USER_MUTEX);
	assert_int_equal(s.queues[0].certainty, LOCKSNAP_EVIDENCE);
	assert_int_equal(s.queues[0].holder_pid, 700);
	assert_int_equal(s.queues[0].holder_tid, 700);
	assert_int_equal(s.queues[0].holder_state, LOCKSNAP_ASLEEP);
	assert_int_equal(s.queues[0].writers_waiting, 2);
	assert_true(userlock_is(s.queues[0].addr));
	assert_int_equal(s.n_waiters, 2);
	assert_string_equal(locksnap_text(&s, s.waiters[0].comm), "t701");
	assert_int_equal(s.waiters[0].cpu, 1 + 1);
	assert_int_equal(s.n_names, 1);
	assert_int_equal(s.names[0].kind, LOCKSNAP_USER);
	assert_string_equal(locksnap_text(&s, s.names[0].text), "/usr/bin/app");
	assert_int_equal(s.names[0].start, 0x2020);
	assert_int_equal(s.names[0].ino, 77);
	assert_int_equal(s.names[0].dev, 0xfe << 20 | 1);
	/* Until the next search it looks at these alone; one has the lock meanwhile. */
	tree_thread(700, 701, 0, TREE_OTHER, 0);
	tree_thread(700, 703, 0x6020, FUTEX_WAIT_PRIVATE, 2);
	take(u, &s);
	assert_int_equal(s.head.users, LOCKSNAP_USERS_AGAIN);
	assert_int_equal(s.n_waiters, 1);
	assert_int_equal(s.waiters[0].tid, 702);
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

static void an_owner_that_does_not_exist_is_no_owner(void **state)
{
	struct snapshot_users *u = new_users();
	struct locksnap s = {0};

	(void)state;
	tree_thread(700, 701, 0x6020, FUTEX_WAIT_PRIVATE, 2);
	memory(700, 0x6020, (uint32_t[]){2, 0, 799, 1, 0}, 5);
	/* That number is another process's. */
	tree_thread(799, 799, 0, TREE_OTHER, 0);
	take(u, &s);
	assert_int_equal(s.n_queues, 0);
	/* Its own: it sleeps on its state, as threads of pools do. */
	memory(700, 0x6020, (uint32_t[]){2, 0, 701, 1, 0}, 5);
	take(u, &s);
	assert_int_equal(s.n_queues, 0);
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

/* The same address in two processes is two locks; the same place in shared memory is one. */
static void locks_are_by_process_unless_they_are_shared(void **state)
{
	struct snapshot_users *u = new_users();
	struct locksnap s = {0};

	(void)state;
	for (int pid = 700; pid <= 710; pid += 10) {
		tree_thread(pid, pid, 0, TREE_OTHER, 0);
		tree_thread(pid, pid + 1, 0xa010, FUTEX_WAIT_PRIVATE, 2);
		tree_thread(pid, pid + 2, 0x8040, FUTEX_WAIT, 2);
		memory(pid, 0xa010, (uint32_t[]){2, 0, (uint32_t)pid, 1, 0}, 5);
		memory(pid, 0x8040, (uint32_t[]){2, 0, 700, 1, 128}, 5);
		/* Robust ones are always waited for as if they were shared. */
		tree_thread(pid, pid + 3, 0x5060, FUTEX_WAIT, FUTEX_WAITERS | (uint32_t)pid);
		memory(pid, 0x5060,
		       (uint32_t[]){FUTEX_WAITERS | (uint32_t)pid, 0, (uint32_t)pid, 1, 0x10}, 5);
	}
	take(u, &s);
	assert_int_equal(s.n_queues, 5);
	unsigned shared = 0;
	for (size_t i = 0; i < s.n_queues; i++) {
		const char *in = locksnap_text(&s, s.names[i].text);
		bool is_shared = strstr(in, "/pool") != NULL;
		shared += is_shared;
		assert_int_equal(s.queues[i].writers_waiting, is_shared ? 2 : 1);
		assert_int_equal(s.names[i].start, is_shared		       ? 0x40
						   : strcmp(in, "[heap]") == 0 ? 0x10
									       : 0x1060);
		assert_int_equal(s.names[i].offset, is_shared);
		if (is_shared)
			assert_int_equal(s.queues[i].holder_pid, 700);
	}
	assert_int_equal(shared, 1);
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

/* Only processes in which a task sleeps in a futex are searched, where these were counted. */
static void counted_sleepers_say_where(void **state)
{
	const struct locksnap_sleepers counted = {.pid = 710, .kind = LOCKSNAP_FUTEX, .tasks = 1};
	struct snapshot_users *u = new_users();
	struct locksnap s = {0};

	(void)state;
	for (int pid = 700; pid <= 710; pid += 10) {
		tree_thread(pid, pid, 0, TREE_OTHER, 0);
		tree_thread(pid, pid + 1, 0xa010, FUTEX_WAIT_PRIVATE, 2);
		memory(pid, 0xa010, (uint32_t[]){2, 0, (uint32_t)pid, 1, 0}, 5);
	}
	s.head.counts_sleepers = 1;
	assert_int_equal(locksnap_add_sleepers(&s, &counted), 0);
	assert_int_equal(snapshot_users_add(u, NULL, &s), 0);
	assert_int_equal(s.n_queues, 1);
	assert_int_equal(s.queues[0].holder_pid, 710);
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

/* Nothing is read of it; the same number of a program for 64 bits is another call. */
static void sleepers_of_32_bits_are_counted(void **state)
{
	struct snapshot_users *u = new_users();
	struct locksnap s = {0};

	(void)state;
	for (int pid = 700; pid <= 710; pid += 10) {
		const char head[] = {0x7f, 'E', 'L', 'F', pid == 700 ? 1 : 2};
		char name[64];
		tree_thread(pid, pid, 0, TREE_OTHER, 0);
		tree_thread(pid, pid + 1, 0, TREE_OTHER, 0);
		snprintf(name, sizeof(name), "%d/task/%d/syscall", pid, pid + 1);
		tree_file(name, "240 0x56559008 0x80 0x2 0x0 0x0 0x0 0x7ffe 0x7f01\n");
		snprintf(name, sizeof(name), "%d/exe", pid);
		tree_file_at(name, head, sizeof(head), 0);
		memory(pid, 0xa010, (uint32_t[]){2, 0, (uint32_t)pid, 1, 0}, 5);
	}
	take(u, &s);
	assert_int_equal(s.n_queues, 0);
	assert_int_equal(s.n_futexes, 1);
	assert_int_equal(s.futexes[0].pid, 700);
	assert_int_equal(s.futexes[0].class, LOCKSNAP_FUTEX_UNKNOWN);
	assert_string_equal(locksnap_text(&s, s.futexes[0].what), "32-bit program");
	locksnap_deinit(&s);
	snapshot_users_free(u);
}

#define MS CANNED_MS
#define AT(ms) (CANNED_START + (uint64_t)(ms)*MS)

static uint64_t lock_of(unsigned i)
{
	return userlock_addr(1, 0x6000 + i * 64);
}

static void seen(struct locksnap *s, unsigned i, int tid, int owner, uint64_t ran_ns)
{
	const struct locksnap_queue q = {.addr = lock_of(i),
					 .type = LOCKSNAP_USER_MUTEX,
					 .certainty = LOCKSNAP_EVIDENCE,
					 .holder_pid = owner,
					 .holder_tid = owner,
					 .holder_state = LOCKSNAP_ASLEEP,
					 .holder_cpu = -1,
					 .writers_waiting = 1};

	lock_snap_waiter(s, 1, tid, tid, "t", false);
	s->waiters[s->n_waiters - 1].ran_ns = ran_ns;
	assert_int_equal(locksnap_add_queue(s, &q), 0);
	lock_snap_name(s, lock_of(i), LOCKSNAP_USER, -1, 700, "app", "[heap]", 0);
	s->names[s->n_names - 1].start = 0x40 * i;
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
}

static void show(struct asked *w, struct locksnap *s, uint64_t at)
{
	s->head.users = LOCKSNAP_USERS_ALL;
	lock_snap_emit(w->rig.synth, s, at);
	synth_tick(w->rig.synth, at);
}

static void a_circle_of_mutexes_is_a_deadlock(void **state)
{
	const struct query_spec spec = {0};
	struct asked *w = *state;
	struct locksnap s = {0};
	struct error err = {0};
	struct table t;

	start(w);
	seen(&s, 0, 701, 702, AT(10));
	seen(&s, 1, 702, 701, AT(20));
	show(w, &s, AT(500));
	asked_play(w, NULL);
	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	assert_string_equal(cell_s(&t, 0, "what"), "DEADLOCK of 2 tasks");
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "name"), "heap+0x0 app/700");
	assert_string_equal(cell_s(&t, 0, "owner_certainty"), "evidence");
	assert_int_equal(cell_u(&t, 0, "since_ns"), 490 * MS);
}

/* The lock with number @i of the heap, at @start there, for which a thread waits in @site. */
static void heap_lock(struct locksnap *s, unsigned i, uint64_t start, const char *site)
{
	seen(s, i, 710 + (int)i, 701, AT(10));
	struct locksnap_name *n = &s->names[s->n_names - 1];
	n->start = start;
	n->what = locksnap_add_text(s, "mutex");
	n->site = site ? locksnap_add_text(s, site) : 0;
}

static void check_names(struct asked *w, const char *const *names, size_t n)
{
	struct table t = asked_waiters(w, (struct query_spec){0});

	assert_int_equal(t.n_rows, n);
	for (size_t i = 0; i < n; i++) {
		bool found = false;
		for (uint32_t k = 0; k < t.n_rows; k++)
			found |= !strcmp(cell_s(&t, k, "name"), names[i]);
		if (!found)
			fail_msg("%s is not there", names[i]);
	}
}

/* Where a lock has no symbol, who waits for it is its name, with enough of its address. */
static void allocated_locks_have_the_name_of_their_call(void **state)
{
	static const char *const names[] = {
		"mutex in work ..62a0 app/700", "mutex in work ..0e4062b0 app/700",
		"mutex in app+0x40 ..0e5062b0 app/700", "heap+0xc0 app/700"};
	struct asked *w = *state;
	struct locksnap s = {0};

	start(w);
	heap_lock(&s, 0, 0x62a0, "work");
	heap_lock(&s, 1, 0x10e4062b0, "work");
	heap_lock(&s, 2, 0x10e5062b0, "app+0x40");
	heap_lock(&s, 3, 0xc0, NULL);
	show(w, &s, AT(500));
	/* Another function waits, or it is not known which: the name stays. */
	heap_lock(&s, 0, 0x62a0, "other");
	heap_lock(&s, 1, 0x10e4062b0, NULL);
	heap_lock(&s, 2, 0x10e5062b0, NULL);
	heap_lock(&s, 3, 0xc0, NULL);
	show(w, &s, AT(900));
	asked_play(w, NULL);
	check_names(w, names, 4);
	/* Of several runs and machines it is one lock. */
	assert_string_equal(
		query_object_everywhere(&w->q, lockname_get(w->q.model->lock_names, lock_of(1))),
		"mutex in work app");
}

/* No snapshot and no event says who reads, or who has a semaphore. */
static void what_cannot_be_known_is_there(void **state)
{
	struct query_lock_now now;
	struct asked *w = *state;
	struct locksnap s = {0};
	enum lock_type type;
	unsigned at = 0;

	start(w);
	seen(&s, 0, 701, 702, AT(10));
	seen(&s, 1, 703, 0, AT(10));
	s.queues[1].type = LOCKSNAP_USER_SEM;
	seen(&s, 2, 704, 0, AT(10));
	s.queues[2].type = LOCKSNAP_USER_RWLOCK;
	show(w, &s, AT(500));
	asked_play(w, NULL);
	assert_int_equal(asked_waiters(w, (struct query_spec){0}).n_rows, 3);
	query_lock_now(&w->q, lock_of(0), LOCK_USER_MUTEX, &now);
	assert_null(now.unknown);
	query_lock_now(&w->q, lock_of(1), LOCK_USER_SEM, &now);
	assert_string_equal(now.unknown,
			    "the owner is not known before its release; the releaser is");
	assert_true(query_lock_unknowns(&w->q, &at, &type));
	assert_int_equal(type, LOCK_USER_RWLOCK_R);
	assert_string_equal(query_lock_unknown(type), "readers are not known by thread");
	assert_true(query_lock_unknowns(&w->q, &at, &type));
	assert_int_equal(type, LOCK_USER_SEM);
	assert_false(query_lock_unknowns(&w->q, &at, &type));
}

/*
 * The last look is later than the last tick. A wait that it does not have may have lasted so long,
 * and one may have begun in between.
 */
static void the_last_look_has_all_waits(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct table t;

	start(w);
	seen(&s, 0, 701, 702, AT(10));
	show(w, &s, AT(500));
	synth_round(w->rig.synth, AT(900));
	synth_tick(w->rig.synth, AT(1000));
	s = (struct locksnap){0};
	seen(&s, 1, 703, 702, AT(900));
	seen(&s, 2, 704, 702, AT(1001));
	s.head.users = LOCKSNAP_USERS_ALL;
	lock_snap_emit(w->rig.synth, &s, AT(1002));
	asked_play(w, NULL);
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "task"), "t/701");
	assert_int_equal(cell_u(&t, 0, "since_ns"), 990 * MS);
	assert_string_equal(cell_s(&t, 1, "task"), "t/703");
	assert_int_equal(cell_u(&t, 1, "since_ns"), 100 * MS);
	assert_string_equal(cell_s(&t, 2, "task"), "t/704");
	assert_int_equal(cell_u(&t, 2, "since_ns"), 1);
}

/* The task has run since, so its wait before that has ended, which no event reports. */
static void a_task_that_has_run_waits_again(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	for (unsigned i = 0; i < 3; i++) {
		struct locksnap s = {0};
		if (i < 2)
			seen(&s, 0, 701, 702, AT(100 + 300 * i));
		show(w, &s, AT(300 + 300 * i));
		rig_play_ticks(&w->rig, NULL, 1);
		assert_int_equal(w->rig.engine.model->waits->in_flight, i < 2);
	}
	asked_play(w, NULL);
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 0);
}

static void add_call(struct locksnap *s, const char *function, const char *object, uint64_t at)
{
	struct locksnap_user_frame f = {.at = at};

	f.function = locksnap_add_text(s, function);
	f.object = locksnap_add_text(s, object);
	assert_int_equal(locksnap_add_user_frame(s, &f), 0);
}

static void add_sleepers(struct locksnap *s, uint32_t class, const char *what, uint32_t tasks)
{
	struct locksnap_futex f = {.pid = 700, .class = class, .tasks = tasks};

	f.comm = locksnap_add_text(s, "app");
	f.what = locksnap_add_text(s, what);
	assert_int_equal(locksnap_add_futex(s, &f), 0);
}

/* A wait has the calls of the program; those that wait for no lock are only counted. */
static void calls_and_other_sleepers_are_shown(void **state)
{
	struct query_elsewhere e;
	struct asked *w = *state;
	struct locksnap s = {0};
	struct table t;

	start(w);
	seen(&s, 0, 701, 702, AT(10));
	add_call(&s, "pthread_mutex_lock", "/lib/libc.so.6", 0x60);
	add_call(&s, "work", "/opt/app", 0x12);
	add_call(&s, "", "/opt/app", 0x4060);
	add_call(&s, "", "", 0x7f12);
	s.waiters[0].user_n_frames = 4;
	s.waiters[0].user_site = 1;
	add_sleepers(&s, LOCKSNAP_FUTEX_UNKNOWN, "semaphore", 2);
	add_sleepers(&s, LOCKSNAP_FUTEX_WAIT, "condition variable", 31);
	for (uint32_t i = 0; i < 3; i++)
		add_sleepers(&s, LOCKSNAP_FUTEX_UNKNOWN, "", 1);
	show(w, &s, AT(500));
	asked_play(w, NULL);
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "caller"), "work");
	assert_string_equal(cell_s(&t, 0, "stack"), "pthread_mutex_lock (libc.so.6)\nwork (app)\n"
						    "app+0x4060\n0x7f12");
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_int_equal(e.n_futexes, 5);
	assert_string_equal(e.futexes[0].class, "wait");
	assert_string_equal(e.futexes[0].what, "condition variable");
	assert_string_equal(e.futexes[1].class, "unknown");
	assert_int_equal(e.futexes[1].pid, 700);
	assert_int_equal(e.futexes[1].tasks, 2);
	assert_string_equal(query_elsewhere_futexes(&w->q, &e),
			    "condition variable 31 of app/700, unknown (semaphore) 2 of app/700, "
			    "unknown 1 of app/700, unknown 1 of app/700, 1 more");
}

static void damaged_calls_are_refused(void **state)
{
	struct locksnap s = {0}, back = {0};
	char bytes[4096];

	(void)state;
	seen(&s, 0, 701, 702, 5);
	add_call(&s, "work", "/opt/app", 0x12);
	s.waiters[0].user_n_frames = 1;
	assert_true(locksnap_size(&s) <= sizeof(bytes));
	locksnap_encode(&s, bytes);
	assert_int_equal(locksnap_decode(&back, bytes, locksnap_size(&s)), 0);
	assert_int_equal(back.n_user_frames, 1);
	s.waiters[0].user_n_frames = 2;
	locksnap_encode(&s, bytes);
	assert_int_equal(locksnap_decode(&back, bytes, locksnap_size(&s)), -EBADMSG);
	s.waiters[0].user_n_frames = 1;
	s.user_frames[0].function = (uint32_t)s.n_strings;
	locksnap_encode(&s, bytes);
	assert_int_equal(locksnap_decode(&back, bytes, locksnap_size(&s)), -EBADMSG);
	s.user_frames[0].function = 0;
	add_sleepers(&s, LOCKSNAP_FUTEX_CLASSES, "", 1);
	locksnap_encode(&s, bytes);
	assert_int_equal(locksnap_decode(&back, bytes, locksnap_size(&s)), -EBADMSG);
	locksnap_deinit(&back);
	locksnap_deinit(&s);
}

static void types_follow_from_flags(void **state)
{
	(void)state;
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_MUTEX, 1)), LOCK_USER_MUTEX);
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_PI, 0)), LOCK_USER_PI);
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_SEM, 0)), LOCK_USER_SEM);
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_FUTEX, 1)), LOCK_USER_FUTEX);
	assert_true(locktype_is_user(LOCK_USER_FUTEX));
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_RWLOCK, 1)),
			 LOCK_USER_RWLOCK_R);
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_RWLOCK, 0)),
			 LOCK_USER_RWLOCK_W);
	assert_int_equal(locktype_twin(LOCK_USER_RWLOCK_W), LOCK_USER_RWLOCK_R);
	assert_int_equal(locktype_twin(LOCK_USER_MUTEX), LOCK_USER_MUTEX);
	assert_int_equal(locktype_from_flags(userlock_flags(USERLOCK_MUTEX, 1) | LCB_F_READ),
			 LOCK_UNKNOWN);
	assert_int_equal(locktype_from_flags((USERLOCK_KINDS + 1u) << USERLOCK_SHIFT),
			 LOCK_UNKNOWN);
}

#define IN_TREE(TEST) cmocka_unit_test_setup_teardown(TEST, tree_set_up, tree_tear_down)
#define ASKED(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_read),
		cmocka_unit_test(newer_calls_are_read),
		cmocka_unit_test(words_are_read),
		cmocka_unit_test(calls_of_32_bits_are_found),
		cmocka_unit_test(mutexes_have_owners),
		cmocka_unit_test(what_differs_is_no_mutex),
		cmocka_unit_test(rwlocks_have_writers_or_readers),
		cmocka_unit_test(conditions_are_no_locks),
		cmocka_unit_test(types_follow_from_flags),
		IN_TREE(a_queue_has_owner_waiters_and_place),
		IN_TREE(an_owner_that_does_not_exist_is_no_owner),
		IN_TREE(locks_are_by_process_unless_they_are_shared),
		IN_TREE(counted_sleepers_say_where),
		IN_TREE(sleepers_of_32_bits_are_counted),
		ASKED(a_circle_of_mutexes_is_a_deadlock),
		ASKED(allocated_locks_have_the_name_of_their_call),
		ASKED(what_cannot_be_known_is_there),
		ASKED(calls_and_other_sleepers_are_shown),
		cmocka_unit_test(damaged_calls_are_refused),
		ASKED(a_task_that_has_run_waits_again),
		ASKED(the_last_look_has_all_waits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
