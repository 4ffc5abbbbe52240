// SPDX-License-Identifier: GPL-2.0-only
/* Work that ends, and work in state D: a thread whose vfork(2) child has not ended. */
#include "kontend/patience.h"
#include <errno.h>
#include <linux/sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct job {
	int ends[2];
	unsigned ms;
	bool done;
	sem_t dropped;
};

static void sleep_ms(void *arg)
{
	struct job *j = arg;
	struct timespec t = {.tv_sec = j->ms / 1000, .tv_nsec = j->ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
	j->done = true;
}

/* The child has memory of its own, and ends with its pipe. */
static void wait_for_child(void *arg)
{
	struct job *j = arg;
	char c;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		close(j->ends[1]);
		_exit(read(j->ends[0], &c, 1) != 0);
	}
	waitpid(pid, NULL, 0);
	j->done = true;
}

static void drop(void *arg)
{
	struct job *j = arg;

	sem_post(&j->dropped);
}

static void test_done(void **state)
{
	struct job j = {.ms = 0};

	(void)state;
	assert_int_equal(patience_run(sleep_ms, drop, &j), 0);
	assert_true(j.done);
	/* Longer than kontend waits for state D: asleep in another state. */
	j = (struct job){.ms = 400};
	assert_int_equal(patience_run(sleep_ms, drop, &j), 0);
	assert_true(j.done);
}

static void test_left(void **state)
{
	struct job j = {.ms = 0};

	(void)state;
	assert_int_equal(pipe(j.ends), 0);
	assert_int_equal(sem_init(&j.dropped, 0, 0), 0);
	assert_int_equal(patience_run(wait_for_child, drop, &j), -ETIMEDOUT);
	assert_int_equal(sem_trywait(&j.dropped), -1);
	close(j.ends[1]);
	while (sem_wait(&j.dropped) < 0)
		assert_int_equal(errno, EINTR);
	assert_true(j.done);
	close(j.ends[0]);
	sem_destroy(&j.dropped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_done),
		cmocka_unit_test(test_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
