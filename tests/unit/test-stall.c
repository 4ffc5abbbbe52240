// SPDX-License-Identifier: GPL-2.0-only
/* A writer that has been asked to end returns from a write to a pipe that is not read. */
#include "../../src/session/stall.h"
#include "kontend/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cmocka.h>

struct stage {
	struct stall stall;
	int pipe[2], signal_fd;
};

static void set_up(struct stage *st)
{
	struct error err = {0};
	static char block[4096];
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	st->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	assert_true(st->signal_fd >= 0);
	assert_int_equal(pipe2(st->pipe, O_CLOEXEC | O_NONBLOCK), 0);
	while (write(st->pipe[1], block, sizeof(block)) > 0)
		continue;
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(st->pipe[1], F_SETFL, 0), 0);
	assert_int_equal(stall_start(&st->stall, &err), 0);
	stall_watch(&st->stall, st->pipe[1]);
}

static void tear_down(struct stage *st)
{
	stall_stop(&st->stall);
	close(st->signal_fd);
	close(st->pipe[0]);
	close(st->pipe[1]);
}

/* The write is cut, or has gone to /dev/null. */
static void write_comes_back(struct stage *st)
{
	ssize_t n = write(st->pipe[1], "x", 1);

	assert_true(n == 1 || (n < 0 && errno == EINTR));
	assert_true(atomic_load(&st->stall.cut));
	assert_false(atomic_load(&st->stall.again)); /* one request was enough */
}

static void test_asked_while_it_writes(void **state)
{
	struct stage st;

	(void)state;
	set_up(&st);
	kill(getpid(), SIGTERM);
	write_comes_back(&st);
	tear_down(&st);
}

static void test_asked_before_it_writes(void **state)
{
	struct stage st;
	struct pollfd p;

	(void)state;
	set_up(&st);
	kill(getpid(), SIGTERM);
	p = (struct pollfd){.fd = st.signal_fd, .events = POLLIN};
	while (stall_next(&st.stall, st.signal_fd) != SIGTERM)
		assert_true(poll(&p, 1, 20000) > 0);
	write_comes_back(&st);
	tear_down(&st);
}

/* A slow reader gets all of it. */
static void test_a_slow_reader_is_none_that_keeps_it(void **state)
{
	static char block[4096];
	struct stage st;

	(void)state;
	set_up(&st);
	kill(getpid(), SIGTERM);
	while (stall_next(&st.stall, st.signal_fd) != SIGTERM)
		poll(NULL, 0, 1);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(read(st.pipe[0], block, sizeof(block)), sizeof(block));
		assert_int_equal(write(st.pipe[1], block, sizeof(block)), sizeof(block));
		poll(NULL, 0, 100);
	}
	assert_false(atomic_load(&st.stall.cut));
	tear_down(&st);
}

/* The event that ends the watcher cannot be written: it ends, whatever it does at that moment. */
static void test_it_ends_without_its_event(void **state)
{
	struct error err = {0};

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct stall s;
		int fds[2];

		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		assert_int_equal(stall_start(&s, &err), 0);
		assert_int_equal(dup2(fds[0], s.stop_fd), s.stop_fd); /* nothing is written there */
		assert_false(stall_stop(&s));
		close(fds[0]);
		close(fds[1]);
	}
}

static void *mask_of_this_thread(void *ret)
{
	pthread_sigmask(SIG_SETMASK, NULL, ret);
	return NULL;
}

static void a_thread_takes_no_signals(void **state)
{
	sigset_t before, after, of_thread;
	pthread_t thread;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(ending_thread(&thread, mask_of_this_thread, &of_thread), 0);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = SIGHUP; sig <= SIGTERM; sig++) {
		assert_int_equal(sigismember(&after, sig), sigismember(&before, sig));
		if (sig != SIGKILL)
			assert_true(sigismember(&of_thread, sig));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_takes_no_signals),
		cmocka_unit_test(test_asked_while_it_writes),
		cmocka_unit_test(test_asked_before_it_writes),
		cmocka_unit_test(test_a_slow_reader_is_none_that_keeps_it),
		cmocka_unit_test(test_it_ends_without_its_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
