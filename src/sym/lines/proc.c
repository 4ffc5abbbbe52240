// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting, asking and ending the process. It is run anew and not only forked: there may be threads
 * here, and what kontend has in its memory is nothing for it. Standard streams lead nowhere, and
 * the signals of a terminal go to another group.
 */
#include "proc.h"
#include "fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int set_files(posix_spawn_file_actions_t *a, int fd)
{
	int r = posix_spawn_file_actions_init(a);

	for (int i = 0; r == 0 && i <= STDERR_FILENO; i++)
		r = posix_spawn_file_actions_addopen(a, i, "/dev/null", O_RDWR, 0);
	return r ? r : posix_spawn_file_actions_adddup2(a, fd, SRCLINES_FD);
}

static int set_signals(posix_spawnattr_t *a)
{
	sigset_t none, all;
	int r = posix_spawnattr_init(a);

	sigemptyset(&none);
	sigfillset(&all);
	r = r ? r : posix_spawnattr_setsigmask(a, &none);
	r = r ? r : posix_spawnattr_setsigdefault(a, &all);
	r = r ? r : posix_spawnattr_setpgroup(a, 0);
	return r ? r
		 : posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						       POSIX_SPAWN_SETPGROUP);
}

static int spawn(struct srclines_proc *p, int fd, const char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char *copy[8] = {NULL};

	for (size_t i = 0; argv[i] && i < sizeof(copy) / sizeof(copy[0]) - 1; i++)
		copy[i] = (char *)(uintptr_t)argv[i];
	int r = set_files(&files, fd);
	if (r)
		return -r;
	r = set_signals(&how);
	r = r ? r : posix_spawn(&p->pid, "/proc/self/exe", &files, &how, copy, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	p->pid = r ? 0 : p->pid;
	return -r;
}

int srclines_proc_start(struct srclines_proc *p, const char *const *argv)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* A copy onto the same number would be closed with the program that is run. */
	int fd = fcntl(pair[1], F_DUPFD_CLOEXEC, SRCLINES_FD + 1);
	int r = fd < 0 ? -errno : spawn(p, fd, argv);
	if (fd >= 0)
		close(fd);
	close(pair[1]);
	p->fd = pair[0];
	if (r < 0)
		close(pair[0]);
	return r;
}

static void say_end(struct srclines_proc *p, int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (sig == SIGPROF || sig == SIGALRM)
		snprintf(p->end, sizeof(p->end), "worker took too long");
	else if (sig)
		snprintf(p->end, sizeof(p->end), "worker ended by signal %d", sig);
	else
		snprintf(p->end, sizeof(p->end), "worker ended with status %d",
			 WEXITSTATUS(status));
}

void srclines_proc_stop(struct srclines_proc *p)
{
	int status = 0;

	if (!p->pid)
		return;
	close(p->fd);
	/* Whoever is ending already is not killed a second time. */
	kill(p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
	say_end(p, status);
}

int srclines_proc_send(struct srclines_proc *p, const struct srclines_msg *m, const int *fds,
		       size_t n)
{
	size_t len = srclines_msg_put(p->bytes, m);
	int r = fdpass_send(p->fd, p->bytes, len, fds, n, MSG_DONTWAIT);

	return r == -ENOBUFS ? -EAGAIN : r;
}

int srclines_proc_receive(struct srclines_proc *p, struct srclines_msg *ret)
{
	ssize_t n;

	do {
		n = recv(p->fd, p->bytes, sizeof(p->bytes), MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0 || !srclines_msg_get(p->bytes, (size_t)n, ret))
		return -EPIPE;
	return 1;
}
