// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pseudo terminal with a session: the shell of a few lines leads it, puts the program in a
 * process group of its own in the foreground, reports every stop and end of it through a pipe, and
 * continues it on command. Our own end of the slave stays open, so that modes can be read after
 * the program.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

enum { PATIENCE_MS = 60000 };

static void die(const struct session *s, const char *what, const char *detail)
{
	fprintf(stderr, "pty: %s %s; output was:\n%.*s\n", what, detail, (int)s->len,
		s->out ? s->out : "");
	abort();
}

static void run_program(char *const *argv, const char *const *env)
{
	signal(SIGTTOU, SIG_DFL);
	for (; *env; env++) {
		char *copy = strdup(*env);

		if (copy && strchr(copy, '='))
			putenv(copy);
		else if (copy)
			unsetenv(copy);
	}
	execv(argv[0], argv);
	_exit(127);
}

/* Never returns. */
static void run_shell(char *const *argv, const char *const *env, int status_fd, int control_fd)
{
	pid_t pid;
	int status;
	char go;

	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		close(status_fd);
		close(control_fd);
		run_program(argv, env);
	}
	setpgid(pid, pid);
	tcsetpgrp(STDIN_FILENO, pid);
	if (write(status_fd, &pid, sizeof(pid)) < 0)
		_exit(1);
	while (waitpid(pid, &status, WUNTRACED) == pid) {
		tcsetpgrp(STDIN_FILENO, getpgrp());
		if (write(status_fd, &status, sizeof(status)) < 0 || !WIFSTOPPED(status))
			break;
		if (read(control_fd, &go, 1) != 1)
			break;
		tcsetpgrp(STDIN_FILENO, pid);
		kill(-pid, SIGCONT);
	}
	/* The terminal stays open until the tests have looked at it. */
	if (read(control_fd, &go, 1) < 0)
		_exit(1);
	_exit(0);
}

/* In the child: a session of its own, on the terminal @name. */
static void lead_session(const char *name)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
	int fd;

	/* A job in the background, or under nohup, ignores some, and so would its children. */
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	setsid();
	fd = open(name, O_RDWR);
	if (fd < 0 || login_tty(fd) < 0)
		_exit(126);
}

/* Writes until the terminal is full. A descriptor opened in this way does not block. */
static void fill(const struct session *s, const char *name)
{
	char bytes[1024];
	int fd = open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	memset(bytes, '.', sizeof(bytes));
	if (fd < 0)
		die(s, name, strerror(errno));
	for (size_t n = sizeof(bytes); n; n /= 2)
		while (write(fd, bytes, n) > 0)
			continue;
	close(fd);
}

static void be_still(struct session *s, enum stillness how)
{
	char name[64];

	if (how == STILL_STOPPED && tcflow(s->slave, TCOOFF) < 0)
		die(s, "tcflow", strerror(errno));
	if (how != STILL_UNREAD)
		return;
	if (ptsname_r(s->master, name, sizeof(name)) != 0)
		die(s, "ptsname", strerror(errno));
	fill(s, name);
}

void session_freeze(struct session *s, enum stillness how)
{
	s->still = how;
	be_still(s, how);
}

void session_thaw(struct session *s)
{
	if (s->still == STILL_STOPPED && tcflow(s->slave, TCOON) < 0)
		die(s, "tcflow", strerror(errno));
	s->still = STILL_NOT;
}

/* The program on the terminal @name, whose other end is s->master. */
static void start_on(struct session *s, const char *name, char *const *argv, const char *const *env)
{
	struct winsize ws = {.ws_row = 24, .ws_col = 80};
	int status[2], control[2];
	char go;

	s->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (s->slave < 0 || ioctl(s->slave, TIOCSWINSZ, &ws) < 0 ||
	    tcgetattr(s->slave, &s->before) < 0)
		die(s, name, strerror(errno));
	be_still(s, s->still);
	if (pipe2(status, O_CLOEXEC) < 0 || pipe2(control, O_CLOEXEC) < 0)
		die(s, "pipe", strerror(errno));
	s->shell = fork();
	if (s->shell < 0)
		die(s, "fork", strerror(errno));
	if (s->shell == 0) {
		close(s->master);
		close(s->slave);
		close(status[0]);
		close(control[1]);
		lead_session(name);
		if (read(control[0], &go, 1) != 1)
			_exit(1);
		run_shell(argv, env, status[1], control[0]);
	}
	close(status[1]);
	close(control[0]);
	s->status_fd = status[0];
	s->control_fd = control[1];
	session_continue(s);
	if (read(s->status_fd, &s->program, sizeof(s->program)) != sizeof(s->program))
		die(s, "no program", argv[0]);
}

void session_start(struct session *s, char *const *argv, const char *const *env)
{
	session_start_still(s, STILL_NOT, argv, env);
}

void session_start_still(struct session *s, enum stillness how, char *const *argv,
			 const char *const *env)
{
	char name[64];

	*s = (struct session){.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), .still = how};
	if (s->master < 0 || grantpt(s->master) < 0 || unlockpt(s->master) < 0 ||
	    ptsname_r(s->master, name, sizeof(name)) != 0)
		die(s, "pseudo terminal", strerror(errno));
	start_on(s, name, argv, env);
}

void session_start_on(struct session *s, const char *far, const char *near, char *const *argv,
		      const char *const *env)
{
	struct termios raw;

	*s = (struct session){.master = open(far, O_RDWR | O_NOCTTY | O_CLOEXEC)};
	if (s->master < 0 || tcgetattr(s->master, &raw) < 0)
		die(s, far, strerror(errno));
	cfmakeraw(&raw);
	if (tcsetattr(s->master, TCSANOW, &raw) < 0)
		die(s, far, strerror(errno));
	start_on(s, near, argv, env);
}

void session_continue(struct session *s)
{
	if (write(s->control_fd, "c", 1) != 1)
		die(s, "write", strerror(errno));
}

void session_send(struct session *s, const char *keys)
{
	size_t len = strlen(keys);

	if (write(s->master, keys, len) != (ssize_t)len)
		die(s, "cannot send", keys);
}

static void make_room(struct session *s)
{
	if (s->len + 4096 + 1 <= s->cap)
		return;
	s->cap = s->cap * 2 + 8192;
	s->out = realloc(s->out, s->cap);
	if (!s->out)
		abort();
}

static void take_output(struct session *s)
{
	ssize_t n;

	make_room(s);
	n = read(s->master, s->out + s->len, 4096);
	if (n > 0)
		s->len += (size_t)n;
	s->out[s->len] = '\0';
}

/* True when the shell has something to say. */
static bool wait_any(struct session *s, const char *why)
{
	struct pollfd p[2] = {{.fd = s->master, .events = POLLIN},
			      {.fd = s->status_fd, .events = POLLIN}};

	if (s->still)
		p[0].fd = -1;
	if (poll(p, 2, PATIENCE_MS) <= 0)
		die(s, "waited in vain for", why);
	if (p[0].revents & POLLIN)
		take_output(s);
	return p[1].revents && !(p[0].revents & POLLIN);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void session_drain(struct session *s)
{
	struct pollfd p = {.fd = s->master, .events = POLLIN};

	while (poll(&p, 1, 0) > 0 && p.revents & POLLIN)
		take_output(s);
}

void session_expect(struct session *s, const char *text)
{
	long until = now_ms() + PATIENCE_MS;

	/* A program that writes now and then may do so without end. */
	while (!session_has(s, text)) {
		if (now_ms() > until)
			die(s, "waited in vain for", text);
		if (wait_any(s, text))
			die(s, "the program ended or stopped before it wrote", text);
	}
}

bool session_has(const struct session *s, const char *text)
{
	return s->out && memmem(s->out, s->len, text, strlen(text));
}

void session_forget(struct session *s)
{
	s->len = 0;
}

void session_wait_taken(struct session *s)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	long until = now_ms() + PATIENCE_MS;
	int waiting = 1;

	nanosleep(&nap, NULL); /* they come to it by way of a thread of the kernel */
	while (ioctl(s->slave, FIONREAD, &waiting) == 0 && waiting) {
		if (now_ms() > until)
			die(s, "waited in vain for", "a reader of the keys");
		nanosleep(&nap, NULL);
	}
}

/* Is @sig caught by the program? */
static bool catches(const struct session *s, int sig)
{
	char path[64], line[256];
	unsigned long long caught = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)s->program);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	if (f)
		fclose(f);
	return caught >> (sig - 1) & 1;
}

void session_wait_catches(struct session *s, int sig)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	long until = now_ms() + PATIENCE_MS;

	while (!catches(s, sig)) {
		if (now_ms() > until)
			die(s, "waited in vain for", "a handler");
		nanosleep(&nap, NULL);
	}
}

void session_wait_modes(struct session *s)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	long until = now_ms() + PATIENCE_MS;

	while (session_restored(s)) {
		if (now_ms() > until)
			die(s, "waited in vain for", "modes");
		nanosleep(&nap, NULL);
	}
}

size_t session_read_some(struct session *s, size_t most)
{
	size_t before = s->len;

	if (most > 4096)
		most = 4096;
	make_room(s);
	struct pollfd p = {.fd = s->master, .events = POLLIN};
	ssize_t n = poll(&p, 1, 0) > 0 ? read(s->master, s->out + s->len, most) : 0;
	if (n > 0)
		s->len += (size_t)n;
	s->out[s->len] = '\0';
	return s->len - before;
}

void session_resize(struct session *s, int rows, int columns)
{
	struct winsize ws = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	if (ioctl(s->master, TIOCSWINSZ, &ws) < 0)
		die(s, "resize", strerror(errno));
}

int session_wait(struct session *s)
{
	int status;

	while (!wait_any(s, "the end of the program"))
		continue;
	if (read(s->status_fd, &status, sizeof(status)) != sizeof(status))
		die(s, "the shell", "ended");
	return status;
}

bool session_restored(const struct session *s)
{
	struct termios now;

	if (tcgetattr(s->slave, &now) < 0)
		return false;
	return now.c_iflag == s->before.c_iflag && now.c_oflag == s->before.c_oflag &&
	       now.c_cflag == s->before.c_cflag && now.c_lflag == s->before.c_lflag &&
	       !memcmp(now.c_cc, s->before.c_cc, sizeof(now.c_cc));
}

void session_end(struct session *s)
{
	close(s->control_fd);
	close(s->status_fd);
	close(s->slave);
	close(s->master);
	waitpid(s->shell, NULL, 0);
	free(s->out);
}
