// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmarks measure and work in processes of their own: a session gives up rights that the next
 * one needs, a benchmark binds threads and renames its process, and a process must not measure
 * itself. Parent and child are copies of one program, so messages are structs as they are in
 * memory.
 */
#include "child.h"
#include "kontend/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int bench_child_start(struct bench_child *c, int (*run)(void *ctx, int fd), void *ctx,
		      struct error *err)
{
	pid_t parent = getpid();
	int fds[2];

	*c = BENCH_CHILD_NONE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, -errno, "Cannot make a socket pair");
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		close(fds[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		_exit(run(ctx, fds[1]) != 0);
	}
	int code = c->pid < 0 ? -errno : 0;
	close(fds[1]);
	c->fd = fds[0];
	if (code == 0)
		return 0;
	close(c->fd);
	*c = BENCH_CHILD_NONE;
	return error_errno(err, code, "Cannot start a process");
}

int bench_child_send(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* False: @until_ns has come before there was input. */
static bool wait_for_input(int fd, uint64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t now = clock_now_ns();

	if (!until_ns)
		return true;
	return now < until_ns && poll(&p, 1, (int)((until_ns - now) / 1000000 + 1)) != 0;
}

int bench_child_receive(int fd, void *ret, size_t size, uint64_t until_ns)
{
	char *at = ret;

	while (size) {
		if (!wait_for_input(fd, until_ns))
			return -ETIMEDOUT;
		ssize_t n = recv(fd, at, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -ECHILD;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int bench_child_end(struct bench_child *c)
{
	int status = 0;

	if (c->fd >= 0)
		close(c->fd);
	while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	*c = BENCH_CHILD_NONE;
	return status;
}
