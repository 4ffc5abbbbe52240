// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of the process from before it went into the cage, and a pair of sockets. He ends when the
 * other end is closed, so he outlives nobody; signals from the terminal are for the other one, who
 * may still want something done on his way out. His standard streams lead nowhere, so that no
 * reader of a pipe waits for him.
 *
 * One asks at a time, and waits for the answer: so messages need no numbers. Threads take turns by
 * themselves: whoever reads ahead opens nothing.
 */
#include "kontend/porter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* His end, which is the first number behind the standard streams. */
enum { PORTER_FD = 3 };

struct question {
	uint32_t deed;
	int64_t number;
	char text[PORTER_TEXT];
};

struct answer {
	int64_t number;
	char text[sizeof(((struct porter_answer *)0)->text)];
};

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int reply(const struct porter_answer *a)
{
	struct answer m = {.number = a->number};

	memcpy(m.text, a->text, sizeof(m.text));
	int r = fdpass_send(PORTER_FD, &m, sizeof(m), &a->fd, a->fd >= 0, 0);
	close_all((int[]){a->fd}, 1);
	return r;
}

static int serve(const struct porter_deed *deeds, size_t n_deeds, void *ctx, struct question *q,
		 const int *fds)
{
	struct porter_ask ask = {.number = q->number, .text = q->text};
	struct porter_answer a = {.number = -EPERM, .fd = -1};

	q->text[sizeof(q->text) - 1] = '\0';
	memcpy(ask.fds, fds, sizeof(ask.fds));
	if (q->deed < n_deeds && deeds[q->deed].run)
		deeds[q->deed].run(ctx, &ask, &a);
	return reply(&a);
}

/* Standard streams to nowhere, the socket to its number, all else away. */
static int settle(int fd)
{
	sigset_t all;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "kontend-porter");
	/* Whoever is in the cage has the same user: he must not look into this one. */
	prctl(PR_SET_DUMPABLE, 0);
	for (int i = 0; i < PORTER_FD; i++)
		if (null < 0 || dup2(null, i) < 0)
			return -errno;
	if (fd != PORTER_FD && dup3(fd, PORTER_FD, O_CLOEXEC) < 0)
		return -errno;
	return syscall(SYS_close_range, PORTER_FD + 1, ~0u, 0) < 0 && errno != ENOSYS ? -errno : 0;
}

static _Noreturn void work(int fd, const struct porter_deed *deeds, size_t n_deeds, void *ctx)
{
	struct question q;
	int fds[FDPASS_MOST];

	if (settle(fd) < 0)
		_exit(1);
	while (fdpass_receive(PORTER_FD, &q, sizeof(q), fds, 0) == (long)sizeof(q)) {
		int r = serve(deeds, n_deeds, ctx, &q, fds);
		close_all(fds, FDPASS_MOST);
		if (r < 0)
			break;
	}
	_exit(0);
}

int porter_start(struct porter *p, const struct porter_deed *deeds, size_t n_deeds, void *ctx,
		 struct error *err)
{
	int pair[2];

	*p = (struct porter){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "Cannot make a socket for the sandbox");
	/* His end may have to move to its number: it must not be what lies in the way. */
	pid_t pid = fork();
	if (pid == 0)
		work(pair[1], deeds, n_deeds, ctx);
	int code = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return error_errno(err, -code, "Cannot fork for the sandbox");
	}
	p->pid = pid;
	p->fd = pair[0];
	return 0;
}

int porter_do(const struct porter *p, unsigned deed, const struct porter_ask *ask,
	      struct porter_answer *ret)
{
	struct question q = {.deed = deed, .number = ask->number};
	struct answer m;
	int fds[FDPASS_MOST];
	size_t n = 0;

	*ret = (struct porter_answer){.number = -EPIPE, .fd = -1};
	if (strlen(ask->text) >= sizeof(q.text))
		return ret->number = -ENAMETOOLONG, 0;
	memcpy(q.text, ask->text, strlen(ask->text));
	while (n < FDPASS_MOST && ask->fds[n] >= 0)
		n++;
	int r = fdpass_send(p->fd, &q, sizeof(q), ask->fds, n, 0);
	if (r < 0 || fdpass_receive(p->fd, &m, sizeof(m), fds, 0) != (long)sizeof(m))
		return r < 0 ? r : -EPIPE;
	ret->number = m.number;
	memcpy(ret->text, m.text, sizeof(m.text));
	ret->text[sizeof(ret->text) - 1] = '\0';
	ret->fd = fds[0];
	close_all(fds + 1, FDPASS_MOST - 1);
	return 0;
}

/* He is not waited for: there is nothing that his end could tell, and no call for it. */
void porter_stop(struct porter *p)
{
	if (p->pid)
		close(p->fd);
	*p = (struct porter){.fd = -1};
}
