// SPDX-License-Identifier: GPL-2.0-only
/*
 * A write to a pipe that nobody reads lasts for ever, and signals that are read from a descriptor
 * are not seen meanwhile. Standard streams know no other way of writing; so a thread looks after
 * them, and does nothing as long as no signal waits. What it takes away is put in the place of the
 * descriptor before the write is interrupted: so nothing that is written later can block again, up
 * to the flush at exit. SIGURG is used to interrupt, which nobody else minds.
 */
#include "stall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { GRACE_MS = 200 };

static void interrupt(int sig)
{
	(void)sig;
}

static bool is_ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, 0) > 0;
}

static void give_up(struct stall *s, int fd)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	atomic_store(&s->cut, true);
	dup2(null, fd);
	close(null);
}

static void look(struct stall *s)
{
	if (!is_ready(s->signal_fd, POLLIN))
		return;
	for (int i = 0; i < 2; i++)
		if (!is_ready(s->fds[i], POLLOUT))
			give_up(s, s->fds[i]);
	/* It may have come to its write only now. */
	if (atomic_load(&s->cut))
		pthread_kill(s->writer, SIGURG);
}

static void *watch(void *arg)
{
	struct stall *s = arg;
	struct pollfd p[2] = {{.fd = s->stop_fd, .events = POLLIN},
			      {.fd = s->signal_fd, .events = POLLIN}};

	while (!p[0].revents) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		/* Who does not stand in a write reads it soon. */
		if (!p[0].revents && poll(p, 1, GRACE_MS) == 0)
			look(s);
	}
	return NULL;
}

int stall_start(struct stall *s, int signal_fd, int out_fd, struct error *err)
{
	struct sigaction sa = {.sa_handler = interrupt};

	*s = (struct stall){
		.writer = pthread_self(), .signal_fd = signal_fd, .fds = {out_fd, STDERR_FILENO}};
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (s->stop_fd < 0)
		return error_errno(err, -errno, "Cannot make a descriptor to watch the output");
	sigemptyset(&sa.sa_mask);
	sigaction(SIGURG, &sa, NULL);
	int r = pthread_create(&s->watcher, NULL, watch, s);
	if (r) {
		close(s->stop_fd);
		return error_errno(err, -r, "Cannot start a thread to watch the output");
	}
	s->runs = true;
	return 0;
}

bool stall_stop(struct stall *s)
{
	uint64_t one = 1;

	if (!s->runs)
		return false;
	while (write(s->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(s->watcher, NULL);
	close(s->stop_fd);
	s->runs = false;
	return atomic_load(&s->cut);
}
