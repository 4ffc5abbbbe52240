// SPDX-License-Identifier: GPL-2.0-only
/* Child processes of benchmarks: messages, a time limit, and processes that end early. */
#include "bench/child.h"
#include "kontend/clock.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct numbers {
	uint64_t v[40000]; /* more than the buffers of a socket take at once */
};

/* Answers @ctx, each number doubled. */
static int twice(void *ctx, int fd)
{
	struct numbers *n = ctx;

	if (bench_child_receive(fd, n, sizeof(*n), 0) < 0)
		return 1;
	for (size_t i = 0; i < 40000; i++)
		n->v[i] *= 2;
	return bench_child_send(fd, n, sizeof(*n));
}

static void messages_arrive_as_a_whole(void **state)
{
	static struct numbers sent, memory, received;
	struct bench_child c;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < 40000; i++)
		sent.v[i] = i;
	assert_int_equal(bench_child_start(&c, twice, &memory, &err), 0);
	assert_int_equal(bench_child_send(c.fd, &sent, sizeof(sent)), 0);
	assert_int_equal(bench_child_receive(c.fd, &received, sizeof(received), 0), 0);
	for (size_t i = 0; i < 40000; i++)
		assert_int_equal(received.v[i], 2 * i);
	assert_int_equal(bench_child_end(&c), 0);
	assert_int_equal(c.fd, -1);
}

static int answer_half(void *ctx, int fd)
{
	(void)ctx;
	return bench_child_send(fd, "ab", 2) < 0 ? 0 : -EIO;
}

/* Its bytes come, and then the end; nothing can be sent to it any more. */
static void one_that_ends_early(void **state)
{
	struct bench_child c;
	struct error err = {0};
	char text[4];

	(void)state;
	assert_int_equal(bench_child_start(&c, answer_half, NULL, &err), 0);
	assert_int_equal(bench_child_receive(c.fd, text, 2, 0), 0);
	assert_memory_equal(text, "ab", 2);
	assert_int_equal(bench_child_receive(c.fd, text, 2, 0), -ECHILD);
	assert_int_equal(bench_child_send(c.fd, "x", 1), -EPIPE);
	int status = bench_child_end(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

static int wait_for_end(void *ctx, int fd)
{
	char byte;

	(void)ctx;
	return bench_child_receive(fd, &byte, 1, 0) == -ECHILD ? 0 : 1;
}

/* One that answers nothing; it notices that its parent has closed the socket. */
static void one_that_takes_too_long(void **state)
{
	struct bench_child c;
	struct error err = {0};
	char byte;

	(void)state;
	assert_int_equal(bench_child_start(&c, wait_for_end, NULL, &err), 0);
	uint64_t until = clock_now_ns() + 20000000;
	assert_int_equal(bench_child_receive(c.fd, &byte, 1, until), -ETIMEDOUT);
	assert_true(clock_now_ns() >= until);
	assert_int_equal(bench_child_receive(c.fd, &byte, 1, 1), -ETIMEDOUT);
	assert_int_equal(bench_child_end(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_arrive_as_a_whole),
		cmocka_unit_test(one_that_ends_early),
		cmocka_unit_test(one_that_takes_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
