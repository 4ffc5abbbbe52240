// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other processes: starting and ending them, and the message format.
 * They run this program again instead of only forking: kontend may have threads, and its memory
 * must not reach them. Their standard streams go to /dev/null, and they have a process group of
 * their own, so terminal signals do not reach them.
 * Messages: a head of four words (mark, kind, file, number), then the data of the kind. A text is
 * its length with NUL, and its bytes. The parts of a message must fill it exactly.
 */
#include "internal.h"
#include "kontend/cursor.h"
#include "kontend/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MARK = 0x4b4c4e31 };

struct writer {
	uint8_t *at, *end;
};

static void put_bytes(struct writer *w, const void *p, size_t n)
{
	if ((size_t)(w->end - w->at) < n)
		return;
	memcpy(w->at, p, n);
	w->at += n;
}

static void put_u32(struct writer *w, uint32_t v)
{
	put_bytes(w, &v, sizeof(v));
}

static void put_text(struct writer *w, const char *s)
{
	uint32_t n = (uint32_t)strnlen(s ? s : "", SRCLINES_MSG_TEXT - 1);

	put_u32(w, n + 1);
	put_bytes(w, s ? s : "", n);
	put_bytes(w, "", 1);
}

/* All frames fit: two texts for each of SRCLINES_FRAMES take less than a message. */
static void put_place(struct writer *w, const struct srclines_msg *m)
{
	size_t n = m->answer == SRCLINES_OK ? m->place.n : 0;

	put_bytes(w, &m->addr, sizeof(m->addr));
	put_u32(w, (uint32_t)m->answer);
	for (size_t i = 0; i < n; i++) {
		put_u32(w, m->place.frames[i].line);
		put_text(w, m->place.frames[i].function);
		put_text(w, m->place.frames[i].file);
	}
}

_Static_assert(SRCLINES_FRAMES * 2 * (SRCLINES_MSG_TEXT + 8) + 64 < SRCLINES_MSG_MOST,
	       "a place fits into a message");

static uint32_t number_of(const struct srclines_msg *m)
{
	if (m->kind == SRCLINES_MSG_FIND)
		return (uint32_t)m->n;
	return m->kind == SRCLINES_MSG_PLACE && m->answer == SRCLINES_OK ? (uint32_t)m->place.n : 0;
}

size_t srclines_msg_put(uint8_t *buf, const struct srclines_msg *m)
{
	struct writer w = {.at = buf, .end = buf + SRCLINES_MSG_MOST};

	put_u32(&w, MARK);
	put_u32(&w, (uint32_t)m->kind);
	put_u32(&w, m->file);
	put_u32(&w, number_of(m));
	if (m->kind == SRCLINES_MSG_FIND)
		put_bytes(&w, m->addrs, m->n * sizeof(m->addrs[0]));
	if (m->kind == SRCLINES_MSG_OPENED) {
		put_u32(&w, (uint32_t)m->answer);
		put_text(&w, m->why);
	}
	if (m->kind == SRCLINES_MSG_PLACE)
		put_place(&w, m);
	return (size_t)(w.at - buf);
}

/* "" if the text is invalid. */
static const char *get_text(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const char *p = n && n <= SRCLINES_MSG_TEXT ? cursor_bytes(c, n) : NULL;

	if (p && memchr(p, '\0', n) == p + n - 1)
		return p;
	c->bad = true;
	return "";
}

static enum srclines_answer get_answer(struct cursor *c)
{
	uint32_t a = cursor_u32(c);

	if (a >= SRCLINES_ANSWERS || a == SRCLINES_PENDING)
		c->bad = true;
	return c->bad ? SRCLINES_DAMAGED : (enum srclines_answer)a;
}

static void get_place(struct cursor *c, size_t n, struct srclines_msg *ret)
{
	ret->addr = cursor_u64(c);
	ret->answer = get_answer(c);
	if (n > SRCLINES_FRAMES || (n != 0) != (ret->answer == SRCLINES_OK)) {
		c->bad = true;
		return;
	}
	ret->place.n = n;
	for (size_t i = 0; i < n; i++) {
		ret->place.frames[i].line = cursor_u32(c);
		ret->place.frames[i].function = get_text(c);
		ret->place.frames[i].file = get_text(c);
	}
}

static void get_body(struct cursor *c, uint32_t n, struct srclines_msg *ret)
{
	const void *addrs;

	switch (ret->kind) {
	case SRCLINES_MSG_FIND:
		c->bad |= !n || n > SRCLINES_MSG_PLACES;
		addrs = cursor_bytes(c, c->bad ? 0 : n * sizeof(ret->addrs[0]));
		ret->n = addrs ? n : 0;
		if (addrs)
			memcpy(ret->addrs, addrs, n * sizeof(ret->addrs[0]));
		break;
	case SRCLINES_MSG_OPENED:
		ret->answer = get_answer(c);
		ret->why = get_text(c);
		break;
	case SRCLINES_MSG_PLACE:
		get_place(c, n, ret);
		break;
	default:
		break;
	}
}

bool srclines_msg_get(const uint8_t *buf, size_t n, struct srclines_msg *ret)
{
	struct cursor c = cursor_make(buf, n);

	uint32_t mark = cursor_u32(&c), kind = cursor_u32(&c);
	ret->file = cursor_u32(&c);
	uint32_t number = cursor_u32(&c);
	if (c.bad || mark != MARK || kind < SRCLINES_MSG_OPEN || kind >= SRCLINES_MSG_KINDS)
		return false;
	ret->kind = (enum srclines_msg_kind)kind;
	get_body(&c, number, ret);
	return !c.bad && !cursor_left(&c);
}

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

static int spawn(int fd, const char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char *copy[8] = {NULL};
	pid_t pid;

	for (size_t i = 0; argv[i] && i < sizeof(copy) / sizeof(copy[0]) - 1; i++)
		copy[i] = (char *)(uintptr_t)argv[i];
	int r = set_files(&files, fd);
	if (r)
		return -r;
	r = set_signals(&how);
	r = r ? r : posix_spawn(&pid, "/proc/self/exe", &files, &how, copy, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return r ? -r : pid;
}

int file_access_start(const struct file_access *d, int fd, const char *const *argv)
{
	if (d)
		return d->start(d->ctx, fd, argv);
	/* Without a copy, close-on-exec would close a descriptor that already has that number. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, SRCLINES_FD + 1);
	int r = copy < 0 ? -errno : spawn(copy, argv);
	if (copy >= 0)
		close(copy);
	return r;
}

int file_access_stop(const struct file_access *d, int number)
{
	int status = 0;

	if (d)
		return d->stop(d->ctx, number);
	kill(number, SIGKILL);
	while (waitpid(number, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int srclines_proc_start(struct srclines_proc *p, const struct file_access *door,
			const char *const *argv)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	int r = file_access_start(door, pair[1], argv);
	close(pair[1]);
	p->door = door;
	p->fd = pair[0];
	p->pid = r < 0 ? 0 : r;
	if (r < 0)
		close(pair[0]);
	return r < 0 ? r : 0;
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
	int status;

	if (!p->pid)
		return;
	close(p->fd);
	/* If it is ending already, it is not killed a second time. */
	status = file_access_stop(p->door, p->pid);
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
