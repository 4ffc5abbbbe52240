// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured command. It is forked before the events are opened, since they are opened on its
 * pid, and blocks on a socket until then (a pipe would raise SIGPIPE if it was killed);
 * enable_on_exec makes them count from the exec on. A second pipe, closed by a successful exec,
 * returns the errno of a failed one. A pidfd reports its end to poll().
 */
#include "workload.h"
#include "kontend/fdio.h"
#include "kontend/live.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TERM_WAIT_MS = 2000, EXEC_WAIT_MS = 100 };

/*
 * The exit status of a shell for a command that does not exist, and for one that cannot be
 * executed.
 */
static int shell_status(int code)
{
	return code == ENOENT ? 127 : 126;
}

static _Noreturn void child(int go_fd, int err_fd, bool apart, char *const argv[])
{
	sigset_t none;
	char byte;

	/* The command must not inherit signals that a user interface blocks or ignores. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (fdio_read(go_fd, &byte, 1) != 1)
		_exit(0);
	/* If that fails its output would be in the middle of that of kontend. */
	if (!apart || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	int code = errno;
	int status = shell_status(code);
	if (write(err_fd, &code, sizeof(code)) != sizeof(code))
		status = 126;
	_exit(status);
}

static void close_pair(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

int workload_fork(struct workload *w, char *const argv[], bool apart, struct error *err)
{
	int go[2], fail[2], code;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return error_errno(err, -errno, "Cannot create a socket for the command '%s'",
				   argv[0]);
	if (pipe2(fail, O_CLOEXEC) < 0) {
		code = -errno;
		close_pair(go);
		return error_errno(err, code, "Cannot create a pipe for the command '%s'", argv[0]);
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(fail[0]);
		child(go[0], fail[1], apart, argv);
	}
	code = -errno;
	close(go[0]);
	close(fail[1]);
	if (pid < 0) {
		close(go[1]);
		close(fail[0]);
		return error_errno(err, code, "Cannot fork for the command '%s'", argv[0]);
	}
	*w = (struct workload){.pid = pid, .go_fd = go[1], .err_fd = fail[0]};
	w->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int exec_failed(const char *name, int code, struct error *err)
{
	switch (code) {
	case ENOENT:
		return error_set(err, LIVE_NO_COMMAND,
				 "Cannot run '%s': there is no such command: check its name and "
				 "PATH",
				 name);
	case EACCES:
		return error_set(err, LIVE_CANNOT_RUN,
				 "Cannot run '%s': it is not executable for this user: see 'ls -l'",
				 name);
	default:
		return error_set(err, LIVE_CANNOT_RUN, "Cannot run '%s': %s", name, strerror(code));
	}
}

/* A ^Z stops it, too: before it is executed, that would make us wait for as long. */
static void wait_exec(const struct workload *w)
{
	struct pollfd p = {.fd = w->err_fd, .events = POLLIN};
	int n;

	while ((n = poll(&p, 1, EXEC_WAIT_MS)) == 0 || (n < 0 && errno == EINTR))
		kill(w->pid, SIGCONT);
}

int workload_go(struct workload *w, char *const argv[], struct error *err)
{
	int code = 0;

	if (send(w->go_fd, "g", 1, MSG_NOSIGNAL) != 1)
		return error_errno(err, -errno, "The command '%s' ended before kontend let it run",
				   argv[0]);
	close_fd(&w->go_fd);
	wait_exec(w);
	ssize_t n = fdio_read(w->err_fd, &code, sizeof(code));
	close_fd(&w->err_fd);
	return n == sizeof(code) ? exec_failed(argv[0], code, err) : 0;
}

int workload_ended(struct workload *w, int *ret_status)
{
	int status;

	if (!w->pid)
		return -ECHILD;
	if (!w->reaped) {
		pid_t pid = waitpid(w->pid, &status, WNOHANG);
		if (pid == 0 || (pid < 0 && errno == EINTR))
			return 0;
		if (pid < 0)
			return -ECHILD;
		w->reaped = true;
		w->status = status;
	}
	*ret_status = w->status;
	return 1;
}

/* Waits for the end at most @ms; poll() without a pidfd just sleeps. */
static void wait_end(const struct workload *w, int ms)
{
	struct pollfd p = {.fd = w->pidfd, .events = POLLIN};

	poll(&p, 1, ms);
}

void workload_deinit(struct workload *w)
{
	int status;

	if (!w->pid)
		return;
	/* A child that waits reads the end of its pipe and exits. */
	bool held = w->go_fd >= 0;
	close_fd(&w->go_fd);
	close_fd(&w->err_fd);
	if (workload_ended(w, &status) == 0 && !held)
		kill(w->pid, SIGTERM);
	if (workload_ended(w, &status) == 0)
		wait_end(w, TERM_WAIT_MS);
	if (workload_ended(w, &status) == 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, &status, 0);
	}
	close_fd(&w->pidfd);
	*w = (struct workload){0};
}
