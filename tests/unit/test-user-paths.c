// SPDX-License-Identifier: GPL-2.0-only
/* Paths of sleeps in futex(2), from stacks of threads of a child as a BPF program would copy them.
 */
#include "kontend/sleepstack.h"
#include "kontend/snapshot-users.h"
#include "locks/users-process.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PASSES = 200 };

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void waits_for_semaphore(void)
{
	sem_wait(&semaphore);
}

static void waits_for_condition(void)
{
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
}

static pid_t child;

/* A child whose only thread sleeps in @sleep. */
static void start(void (*sleep)(void))
{
	sem_init(&semaphore, 0, 0);
	child = fork();
	assert_true(child >= 0);
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sleep();
	_exit(1);
}

static int end(void **state)
{
	(void)state;
	if (child <= 0)
		return 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
	return 0;
}

/* As user.bpf.c hands it over. */
static struct usersite_stack copy_stack(void)
{
	struct usersite_stack ret = {.pid = child, .tid = child, .len = sizeof(ret.stack)};
	struct users_process p;
	struct users_thread t = {.sp = 0};

	users_process_open(&p, "/proc", child);
	for (int i = 0; i < 5000 && !users_process_thread(&p, child, &t); i++)
		usleep(1000);
	assert_true(t.sp != 0);
	ret.space = users_process_space(&p);
	ret.addr = t.call.addr;
	ret.op = t.call.op;
	ret.value = t.call.value;
	ret.sp = t.sp;
	ret.pc = t.ip;
	ret.key = usersite_key(ret.space, ret.addr, ret.pc);
	assert_true(users_process_read(&p, ret.sp, ret.stack, sizeof(ret.stack)));
	users_process_close(&p);
	return ret;
}

/* False: there is no path. */
static bool find_path(const struct usersite_stack *s, struct usersite_path *ret)
{
	struct snapshot_users *u = snapshot_users_new("/proc", false);
	struct locksnap snap = {0};
	bool found = false;

	assert_non_null(u);
	snapshot_users_ask(u, s, 1);
	for (int i = 0; !found && i < PASSES; i++) {
		size_t n;
		locksnap_clear(&snap);
		assert_int_equal(snapshot_users_add(u, NULL, &snap), 0);
		const struct snapshot_users_path *paths = snapshot_users_paths(u, &n);
		for (size_t k = 0; k < n; k++) {
			if (paths[k].key != s->key)
				continue;
			*ret = paths[k].path;
			found = true;
		}
	}
	locksnap_deinit(&snap);
	snapshot_users_free(u);
	return found;
}

/* The program finds the same words at the next sleep. */
static void check_returns(const struct usersite_stack *s, const struct usersite_path *p)
{
	assert_in_range(p->n_returns, 1, USERSITE_RETURNS);
	for (int i = 0; i < p->n_returns; i++) {
		uint64_t word = 0;
		assert_true(8ull * p->at[i] + sizeof(word) <= sizeof(s->stack));
		memcpy(&word, s->stack + 8ull * p->at[i], sizeof(word));
		assert_true(word == p->returns[i]);
		assert_true(!i || p->at[i] > p->at[i - 1]);
	}
}

static void a_semaphore_may_be_a_lock(void **state)
{
	struct usersite_path p;

	(void)state;
	start(waits_for_semaphore);
	const struct usersite_stack s = copy_stack();
	assert_true(find_path(&s, &p));
	check_returns(&s, &p);
	assert_int_equal(p.flags, USERSITE_COUNT);
	assert_int_equal(p.kind, USERLOCK_SEM);
	assert_true(p.lock == userlock_addr(s.space, (uintptr_t)&semaphore));
	assert_true(p.info.at == 0);
}

/* Most machines have no files for debugging: glibc exports no name for where it sleeps. */
static void a_semaphore_needs_no_debug_files(void **state)
{
	if (access("/usr/lib/debug", F_OK) == 0 &&
	    (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	     mount("none", "/usr/lib/debug", "tmpfs", 0, NULL) < 0))
		skip();
	a_semaphore_may_be_a_lock(state);
}

static void a_condition_is_none(void **state)
{
	struct usersite_path p;

	(void)state;
	start(waits_for_condition);
	const struct usersite_stack s = copy_stack();
	assert_true(find_path(&s, &p));
	check_returns(&s, &p);
	assert_int_equal(p.flags, USERSITE_KNOWN);
	assert_true(p.lock == 0);
}

/* Another program has the number by now, or there is none. */
static void others_have_no_path(void **state)
{
	struct usersite_path p;

	(void)state;
	start(waits_for_semaphore);
	struct usersite_stack s = copy_stack();
	s.space ^= 2;
	assert_false(find_path(&s, &p));
	s.space ^= 2;
	end(NULL);
	assert_false(find_path(&s, &p));
}

/* Stacks of strangers are anything: what is no stack has no calls, and no class. */
static void bytes_of_strangers_do_no_harm(void **state)
{
	struct usersite_path p;

	(void)state;
	start(waits_for_semaphore);
	struct usersite_stack s = copy_stack();
	memset(s.stack, 0xff, sizeof(s.stack));
	if (find_path(&s, &p))
		assert_false(p.flags & (USERSITE_LOCK | USERSITE_COUNT));
	s.pc = UINT64_MAX;
	s.sp = UINT64_MAX - 4;
	if (find_path(&s, &p))
		assert_int_equal(p.flags, 0);
}

static int can_unwind(void **state)
{
	struct sleepstack *s;
	int code = sleepstack_new(&s, "/proc", false);

	(void)state;
	if (code == 0)
		sleepstack_free(s);
	if (code == 0)
		return 0;
	printf("skipped: stacks cannot be unwound here\n");
	_exit(77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_semaphore_may_be_a_lock, end),
		cmocka_unit_test_teardown(a_condition_is_none, end),
		cmocka_unit_test_teardown(others_have_no_path, end),
		cmocka_unit_test_teardown(bytes_of_strangers_do_no_harm, end),
		cmocka_unit_test_teardown(a_semaphore_needs_no_debug_files, end),
	};

	return cmocka_run_group_tests(tests, can_unwind, NULL);
}
