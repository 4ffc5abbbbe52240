// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of the process from before it went into the sandbox, and a pair of sockets. The broker
 * ends when the other end is closed, so it never outlives its client; it ignores signals from the
 * terminal, as the client may need it while it ends. Its standard streams lead nowhere, so that no
 * reader of a pipe waits for it.
 *
 * There is one request at a time, and the client waits for the answer: so messages need no numbers.
 * Threads need no lock: one that reads ahead opens nothing.
 */
#include "kontend/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct question {
	uint32_t request;
	int64_t number;
	char text[BROKER_TEXT];
};

struct answer {
	int64_t number;
	char text[sizeof(((struct broker_answer *)0)->text)];
};

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int reply(int to, const struct broker_answer *a)
{
	struct answer m = {.number = a->number};

	memcpy(m.text, a->text, sizeof(m.text));
	int r = fdpass_send(to, &m, sizeof(m), &a->fd, a->fd >= 0, 0);
	close_all((int[]){a->fd}, 1);
	return r;
}

static int serve(int to, const struct broker_request *requests, size_t n_requests, void *ctx,
		 struct question *q, const int *fds)
{
	struct broker_ask ask = {.number = q->number, .text = q->text};
	struct broker_answer a = {.number = -EPERM, .fd = -1};

	q->text[sizeof(q->text) - 1] = '\0';
	memcpy(ask.fds, fds, sizeof(ask.fds));
	if (q->request < n_requests && requests[q->request].run)
		requests[q->request].run(ctx, &ask, &a);
	return reply(to, &a);
}

static bool is_kept(int fd, const int *keep, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

static int close_range_of(unsigned from, unsigned to)
{
	return from <= to && syscall(SYS_close_range, from, to, 0) < 0 && errno != ENOSYS ? -errno
											  : 0;
}

/*
 * Closes all after the standard streams but these; the least remaining one is searched each time.
 */
static int close_others(const int *keep, size_t n)
{
	unsigned from = STDERR_FILENO + 1;

	for (;;) {
		unsigned least = ~0u;
		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < least)
				least = (unsigned)keep[i];
		int r = close_range_of(from, least == ~0u ? least : least - 1);
		if (r < 0 || least == ~0u)
			return r;
		from = least + 1;
	}
}

/* Redirects standard streams to nowhere, and closes all other descriptors but those to keep. */
static int settle(const int *keep, size_t n)
{
	sigset_t all;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "kontend-broker");
	/* The process in the sandbox has the same user: it must not trace this one. */
	prctl(PR_SET_DUMPABLE, 0);
	for (int i = 0; i <= STDERR_FILENO; i++)
		if (!is_kept(i, keep, n) && (null < 0 || dup2(null, i) < 0))
			return -errno;
	return close_others(keep, n);
}

static _Noreturn void work(int fd, const struct broker_request *requests, size_t n_requests,
			   void *ctx)
{
	struct question q;
	int fds[FDPASS_MOST];

	while (fdpass_receive(fd, &q, sizeof(q), fds, 0) == (long)sizeof(q)) {
		int r = serve(fd, requests, n_requests, ctx, &q, fds);
		close_all(fds, FDPASS_MOST);
		if (r < 0)
			break;
	}
	_exit(0);
}

static _Noreturn void begin(int fd, const struct broker_request *requests, size_t n_requests,
			    void *ctx, const int *keep, size_t n_keep)
{
	int all[BROKER_KEEPS + 1] = {fd};

	for (size_t i = 0; i < n_keep && i < BROKER_KEEPS; i++)
		all[i + 1] = keep[i];
	if (n_keep > BROKER_KEEPS || settle(all, n_keep + 1) < 0)
		_exit(1);
	work(fd, requests, n_requests, ctx);
}

int broker_start(struct broker *p, const struct broker_request *requests, size_t n_requests,
		 void *ctx, const int *keep, size_t n_keep, struct error *err)
{
	int pair[2];

	*p = (struct broker){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "Cannot make a socket for the sandbox");
	pid_t pid = fork();
	if (pid == 0)
		begin(pair[1], requests, n_requests, ctx, keep, n_keep);
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

int broker_do(const struct broker *p, unsigned request, const struct broker_ask *ask,
	      struct broker_answer *ret)
{
	struct question q = {.request = request, .number = ask->number};
	struct answer m;
	int fds[FDPASS_MOST];
	size_t n = 0;

	*ret = (struct broker_answer){.number = -ENOLINK, .fd = -1};
	if (strlen(ask->text) >= sizeof(q.text))
		return ret->number = -ENAMETOOLONG, 0;
	memcpy(q.text, ask->text, strlen(ask->text));
	while (n < FDPASS_MOST && ask->fds[n] >= 0)
		n++;
	int r = fdpass_send(p->fd, &q, sizeof(q), ask->fds, n, 0);
	if (r == -EPIPE || r == -ECONNRESET)
		return -ENOLINK;
	if (r < 0)
		return r;
	if (fdpass_receive(p->fd, &m, sizeof(m), fds, 0) != (long)sizeof(m))
		return -ENOLINK;
	ret->number = m.number;
	memcpy(ret->text, m.text, sizeof(m.text));
	ret->text[sizeof(ret->text) - 1] = '\0';
	ret->fd = fds[0];
	close_all(fds + 1, FDPASS_MOST - 1);
	return 0;
}

/*
 * There is no wait for the broker's end: its exit status has no meaning, and the filter has no such
 * call.
 */
void broker_stop(struct broker *p)
{
	if (p->pid)
		close(p->fd);
	*p = (struct broker){.fd = -1};
}
