// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of children that wait, compared with the functions that they called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/locks/users.h"
#include "../../src/inspect/runtimes/internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/sleepstack.h"
#include "kontend/snapshot-stacks.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__clang__)
#define APART __attribute__((noinline, used))
#else
#define APART __attribute__((noinline, noclone, used))
#endif
/* Not the last call of a function, which might be a jump. */
#define STAY __asm__ volatile("")

enum { ROUNDS = 5000, LOCKS = 2 };
static const uint64_t LOCK = 0xffff888000001000;

static int files[LOCKS]; /* that this process has locked */

static APART void takes(int which)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", files[which]);
	flock(open(path, O_RDWR | O_CLOEXEC), LOCK_EX);
	STAY;
}

static APART void waits_once(void)
{
	takes(0);
	STAY;
}

static APART void waits_again(void)
{
	takes(1);
	STAY;
}

static void waits_twice(void)
{
	waits_once();
	waits_again();
}

/* For a page that never comes. */
static APART int waits_for_page(const volatile char *page)
{
	int byte = page[0];

	STAY;
	return byte;
}

static void faults(void)
{
	long size = sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = {.api = UFFD_API};
	char *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct uffdio_register area = {.range = {(uintptr_t)page, (uint64_t)size},
				       .mode = UFFDIO_REGISTER_MODE_MISSING};

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &area) < 0)
		_exit(77);
	_exit(waits_for_page(page));
}

static pid_t child(void (*run)(void))
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	run();
	_exit(0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool sleeps_in(pid_t pid, const char *call)
{
	char path[64], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool is_read = fgets(text, sizeof(text), f) != NULL;
	fclose(f);
	return is_read && !strncmp(text, call, strlen(call));
}

/* False: it has ended. */
static bool wait_for_sleep(pid_t pid, const char *call)
{
	int status;

	for (int i = 0; i < ROUNDS && !sleeps_in(pid, call); i++) {
		usleep(1000);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return false;
	}
	assert_true(sleeps_in(pid, call));
	return true;
}

/* A look in which the thread waits for LOCK since so long. */
static void look(struct snapshot_stacks *s, pid_t pid, uint64_t waited_ns, bool is_mmap_lock,
		 struct locksnap *ret)
{
	const struct locksnap_queue q = {.addr = LOCK, .type = LOCKSNAP_FLOCK};
	struct locksnap_waiter w = {.pid = pid, .tid = pid, .measured = 1};

	locksnap_clear(ret);
	ret->head.time_ns = clock_now_ns();
	w.ran_ns = ret->head.time_ns - waited_ns;
	assert_int_equal(locksnap_add_waiter(ret, &w), 0);
	assert_int_equal(locksnap_add_queue(ret, &q), 0);
	if (is_mmap_lock)
		assert_int_equal(
			locksnap_add_name(
				ret, &(struct locksnap_name){.addr = LOCK, .kind = LOCKSNAP_MMAP}),
			0);
	assert_int_equal(snapshot_stacks_add(s, NULL, ret), 0);
}

typedef void any_function(void);

/* The one of these that begins next before @ip. */
static any_function *function_at(uint64_t ip)
{
	static any_function *const all[] = {(any_function *)takes,
					    waits_once,
					    waits_again,
					    waits_twice,
					    (any_function *)waits_for_page,
					    faults,
					    (any_function *)child,
					    (any_function *)end};
	any_function *ret = NULL;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if ((uintptr_t)all[i] <= ip && (uintptr_t)all[i] > (uintptr_t)ret)
			ret = all[i];
	return ret;
}

static bool calls(const struct locksnap *snap, any_function *function)
{
	for (size_t i = 0; i < snap->n_calls; i++)
		if (function_at(snap->calls[i].ip) == function)
			return true;
	return false;
}

static struct snapshot_stacks *open_stacks(void)
{
	struct snapshot_stacks *s = snapshot_stacks_new("/proc", false);
	struct sleepstack *can;
	int code = sleepstack_new(&can, "/proc", false);

	if (code == 0)
		sleepstack_free(can);
	if (code < 0) {
		snapshot_stacks_free(s);
		skip();
	}
	assert_non_null(s);
	return s;
}

static void lock_files(void)
{
	for (int i = 0; i < LOCKS; i++) {
		files[i] = memfd_create("lock", MFD_CLOEXEC);
		assert_true(files[i] >= 0 && flock(files[i], LOCK_EX) == 0);
	}
}

static void close_files(void)
{
	for (int i = 0; i < LOCKS; i++)
		close(files[i]);
}

#define FLOCK_CALL_SIZE 16
static const char *flock_call(char text[FLOCK_CALL_SIZE])
{
	snprintf(text, FLOCK_CALL_SIZE, "%d ", SYS_flock);
	return text;
}

static void long_waits_have_their_calls(void **state)
{
	struct snapshot_stacks *s = open_stacks();
	struct locksnap snap = {0};
	char call[FLOCK_CALL_SIZE];

	(void)state;
	lock_files();
	pid_t pid = child(waits_twice);
	assert_true(wait_for_sleep(pid, flock_call(call)));
	/* Not yet, and not while it may wait for its mmap_lock. */
	look(s, pid, SNAPSHOT_STACKS_NS / 2, false, &snap);
	assert_int_equal(snap.n_stacks, 0);
	/* Its stack does not change while it sleeps. */
	for (int i = 0; i < 2; i++) {
		look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
		assert_int_equal(snap.n_stacks, 1);
		assert_int_equal(snap.stacks[0].tid, pid);
		assert_int_equal(snap.stacks[0].n_calls, snap.n_calls);
		assert_true(calls(&snap, waits_once));
		assert_false(calls(&snap, waits_again));
	}
	flock(files[0], LOCK_UN);
	for (int i = 0; i < ROUNDS && !calls(&snap, waits_again); i++) {
		usleep(1000);
		look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
	}
	assert_true(calls(&snap, waits_again));
	assert_false(calls(&snap, waits_once));
	end(pid);
	/* Nothing is left of it. */
	look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
	assert_int_equal(snap.n_stacks, 0);
	close_files();
	locksnap_deinit(&snap);
	snapshot_stacks_free(s);
	assert_int_equal(mem_live(), 0);
}

/* It has slept for a moment only, and another task waits for what it has. */
static void look_at_holder(struct snapshot_stacks *s, pid_t pid, uint32_t certainty,
			   struct locksnap *ret)
{
	const struct locksnap_queue q = {.addr = LOCK,
					 .type = LOCKSNAP_FLOCK,
					 .certainty = certainty,
					 .holder_pid = pid,
					 .holder_tid = pid};

	locksnap_clear(ret);
	ret->head.time_ns = clock_now_ns();
	assert_int_equal(locksnap_add_queue(ret, &q), 0);
	assert_int_equal(snapshot_stacks_add(s, NULL, ret), 0);
}

static void holders_have_their_calls_at_once(void **state)
{
	struct snapshot_stacks *s = open_stacks();
	struct locksnap snap = {0};
	char call[FLOCK_CALL_SIZE];

	(void)state;
	lock_files();
	pid_t pid = child(waits_once);
	assert_true(wait_for_sleep(pid, flock_call(call)));
	look_at_holder(s, pid, LOCKSNAP_NOBODY, &snap);
	assert_int_equal(snap.n_stacks, 0);
	look_at_holder(s, pid, LOCKSNAP_HINT, &snap);
	assert_int_equal(snap.n_stacks, 0);
	look_at_holder(s, pid, LOCKSNAP_SURE, &snap);
	assert_int_equal(snap.n_stacks, 1);
	assert_int_equal(snap.stacks[0].tid, pid);
	assert_true(calls(&snap, waits_once));
	end(pid);
	close_files();
	locksnap_deinit(&snap);
	snapshot_stacks_free(s);
	assert_int_equal(mem_live(), 0);
}

static void waits_for_mmap_locks_are_left_alone(void **state)
{
	struct snapshot_stacks *s = open_stacks();
	struct locksnap snap = {0};
	char call[FLOCK_CALL_SIZE];

	(void)state;
	lock_files();
	pid_t pid = child(waits_once);
	assert_true(wait_for_sleep(pid, flock_call(call)));
	look(s, pid, SNAPSHOT_STACKS_NS * 2, true, &snap);
	assert_int_equal(snap.n_stacks, 0);
	/* Names come once in a while only. */
	look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
	assert_int_equal(snap.n_stacks, 0);
	end(pid);
	close_files();
	locksnap_deinit(&snap);
	snapshot_stacks_free(s);
	assert_int_equal(mem_live(), 0);
}

static void page_faults_have_their_calls(void **state)
{
	struct snapshot_stacks *s = open_stacks();
	struct locksnap snap = {0};

	(void)state;
	pid_t pid = child(faults);
	if (wait_for_sleep(pid, "-1 ")) {
		look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
		assert_int_equal(snap.n_stacks, 1);
		assert_true(calls(&snap, (any_function *)waits_for_page));
		assert_true(calls(&snap, faults));
		end(pid);
	}
	locksnap_deinit(&snap);
	snapshot_stacks_free(s);
	assert_int_equal(mem_live(), 0);
}

static const char script[] = "import time\n"
			     "class Store:\n"
			     "    def commit(self):\n"
			     "        time.sleep(\n"
			     "            1000)\n"
			     "def work(store):\n"
			     "    x = [s.commit() for s in [store]]\n"
			     "work(Store())\n";

static const char *python;

static void run_script(void)
{
	execlp(python, python, "-c", script, (char *)NULL);
	_exit(77);
}

/* "Store.commit:4 ..." */
static void list_functions(const struct locksnap *snap, char *ret, size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < snap->n_calls && len < size; i++) {
		const struct locksnap_call *c = &snap->calls[i];
		if (c->function)
			len += (size_t)snprintf(ret + len, size - len, "%s:%u ",
						locksnap_text(snap, c->function), c->line);
	}
}

/* @listed: a list comprehension is a function of its own, until 3.12. */
static void has_functions(const char *program, bool listed)
{
	struct snapshot_stacks *s = open_stacks();
	struct locksnap snap = {0};
	char call[FLOCK_CALL_SIZE], text[512], expected[512];

	python = program;
	snprintf(expected, sizeof(expected), "Store.commit:4 %swork:7 <module>:8 ",
		 listed ? "work.<locals>.<listcomp>:7 " : "");
	pid_t pid = child(run_script);
	snprintf(call, sizeof(call), "%d ", SYS_clock_nanosleep);
	if (wait_for_sleep(pid, call)) {
		look(s, pid, SNAPSHOT_STACKS_NS * 2, false, &snap);
		list_functions(&snap, text, sizeof(text));
		assert_string_equal(text, expected);
		for (size_t i = 0; i < snap.n_calls; i++)
			assert_true(!snap.calls[i].function ||
				    !strcmp(locksnap_text(&snap, snap.calls[i].file), "<string>"));
		end(pid);
	}
	locksnap_deinit(&snap);
	snapshot_stacks_free(s);
	assert_int_equal(mem_live(), 0);
}

/* Of the versions that are here. */
static void python_has_its_functions(void **state)
{
	(void)state;
	has_functions("python3.11", true);
	has_functions("python3.12", false);
	has_functions("python3.13", false);
}

/* Entries: forms 0 and 10 have columns, 13 has a number, 15 nothing. */
static void lines_come_from_the_table(void **state)
{
	static const uint8_t table[] = {
		0x80 | 0 << 3 | 1,  0x11,		    /* two units in line 40 */
		0x80 | 11 << 3 | 0, 0x01, 0x02,		    /* one in line 41 */
		0x80 | 13 << 3 | 2, 0x41, 0x01,		    /* three in line 41 - 32 */
		0x80 | 15 << 3 | 0,			    /* one without a line */
		0x80 | 14 << 3 | 7, 0x04, 0x00, 0x01, 0x02, /* eight two lines on */
	};

	(void)state;
	assert_int_equal(python_line(table, sizeof(table), 40, 0), 40);
	assert_int_equal(python_line(table, sizeof(table), 40, 1), 40);
	assert_int_equal(python_line(table, sizeof(table), 40, 2), 41);
	assert_int_equal(python_line(table, sizeof(table), 40, 5), 9);
	assert_int_equal(python_line(table, sizeof(table), 40, 6), 0);
	assert_int_equal(python_line(table, sizeof(table), 40, 7), 11);
	assert_int_equal(python_line(table, sizeof(table), 40, 15), 0);
	/* Before the first line of all there is none. */
	assert_int_equal(python_line(table, sizeof(table), 2, 5), 0);
	for (size_t n = 0; n < sizeof(table); n++)
		(void)python_line(table, n, 40, UINT64_MAX);
	static const uint8_t endless[] = {0x80 | 13 << 3, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40};
	assert_int_equal(python_line(endless, sizeof(endless), 40, 0), 0);
}

static void a_line_has_a_place(void **state)
{
	uint64_t sp = 0, ip = 0;

	(void)state;
	assert_true(users_line_place("73 0x3 0x2 0x0 0x0 0x0 0x0 0x7ffd10 0x7f20\n", &sp, &ip));
	assert_int_equal(sp, 0x7ffd10);
	assert_int_equal(ip, 0x7f20);
	assert_true(users_line_place("-1 0x7ffd18 0x7f28\n", &sp, &ip));
	assert_int_equal(sp, 0x7ffd18);
	assert_int_equal(ip, 0x7f28);
	assert_false(users_line_place("running\n", &sp, &ip));
	assert_false(users_line_place("-1 0x7ffd18\n", &sp, &ip));
	assert_false(users_line_place("-1", &sp, &ip));
	assert_false(users_line_place("73 0x3 0x2\n", &sp, &ip));
	assert_false(users_line_place("", &sp, &ip));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_waits_have_their_calls),
		cmocka_unit_test(holders_have_their_calls_at_once),
		cmocka_unit_test(waits_for_mmap_locks_are_left_alone),
		cmocka_unit_test(page_faults_have_their_calls),
		cmocka_unit_test(python_has_its_functions),
		cmocka_unit_test(lines_come_from_the_table),
		cmocka_unit_test(a_line_has_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
