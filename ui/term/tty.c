// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output to a terminal that may stop reading: Ctrl-S, a frozen connection, a window that nothing
 * reads. Curses only knows blocking writes, which would keep us from keys, signals and measuring.
 * So curses writes into a file in memory, and non-blocking writes pass its contents to the
 * terminal. Curses does not take that file for a terminal and leaves modes and size to us; it reads
 * keys from the terminal itself.
 *
 * Non-blocking is a property of an open file, which we share with the shell on standard output. So
 * tty_open() opens the terminal again. Where that is refused (the terminal belongs to another user,
 * as after su), each write makes the shared file non-blocking and blocking again.
 *
 * The clipboard: OSC 52 works wherever the terminal runs; its text is base64 and ends with BEL. A
 * terminal does not answer, so we do not know whether it took the text. The console of Linux and
 * GNU screen surely do not: screen passes on nothing that it does not know.
 */
#include "tty.h"
#include "kontend/clock.h"
#include "kontend/display.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEAVE_MS = 500, LEAST_FILE = 1 << 20 };

/* Opened through /dev/tty or /dev/console another one may come: they are compared. */
static bool is_same(int a, int b)
{
	unsigned int x = 0, y = 1;

	return ioctl(a, TIOCGDEV, &x) == 0 && ioctl(b, TIOCGDEV, &y) == 0 && x == y;
}

static int open_again(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again >= 0 && !is_same(fd, again)) {
		close(again);
		return -1;
	}
	return again;
}

static int open_stream(struct tty *t, struct error *err)
{
	struct rlimit most;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < LEAST_FILE)
		return error_set(err, -EFBIG,
				 "Cannot show the live screen: no file may be larger than %llu "
				 "bytes (ulimit -f), and frames are made in one",
				 (unsigned long long)most.rlim_cur);
	fd = memfd_create("kontend-frame", MFD_CLOEXEC);
	t->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (t->stream)
		return 0;
	int code = -errno;
	if (fd >= 0)
		close(fd);
	return error_errno(err, code, "Cannot make a file for frames");
}

int tty_open(struct tty *t, int keys_fd, int out_fd, struct error *err)
{
	*t = (struct tty){.fd = -1, .keys_fd = keys_fd};
	int r = open_stream(t, err);

	if (r < 0)
		return r;
	t->fd = open_again(out_fd);
	if (t->fd < 0) {
		t->fd = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
		t->is_shared = true;
	}
	if (t->fd < 0 || tcgetattr(keys_fd, &t->before) < 0) {
		int code = -errno;
		tty_close(t);
		return error_errno(err, code, "Cannot use the terminal");
	}
	return 0;
}

void tty_enter(struct tty *t)
{
	struct termios ours = t->before;

	ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
	ours.c_lflag |= ISIG;
	ours.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
	ours.c_oflag &= ~(tcflag_t)(ONLCR | TABDLY); /* curses moves by tabs */
	ours.c_cc[VMIN] = 1;
	ours.c_cc[VTIME] = 0;
	tcsetattr(t->keys_fd, TCSANOW, &ours);
}

static bool make_room(struct tty *t, size_t n)
{
	uint8_t *grown;

	if (t->at)
		memmove(t->bytes, t->bytes + t->at, t->end - t->at);
	t->end -= t->at;
	t->at = 0;
	if (t->cap - t->end >= n)
		return true;
	grown = mem_resize(t->bytes, t->end + n, 1);
	if (!grown)
		return false;
	t->bytes = grown;
	t->cap = t->end + n;
	return true;
}

/* Into the room that was made. */
static void add_text(struct tty *t, const char *text, size_t len)
{
	memcpy(t->bytes + t->end, text, len);
	t->end += len;
}

int tty_take(struct tty *t)
{
	static const char begin[] = TTY_FRAME_BEGIN, end[] = TTY_FRAME_END;
	const size_t around = t->has_frames ? sizeof(begin) - 1 : 0;
	int file = fileno(t->stream);
	off_t n = fflush(t->stream) == 0 ? lseek(file, 0, SEEK_CUR) : -1;
	ssize_t got;

	_Static_assert(sizeof(begin) == sizeof(end), "both sequences have one length");
	if (n <= 0)
		return n < 0 ? -errno : 0;
	size_t need = (size_t)n + 2 * around;
	if (lseek(file, 0, SEEK_SET) < 0 || (t->cap - t->end < need && !make_room(t, need)))
		return -ENOMEM;
	got = pread(file, t->bytes + t->end + around, (size_t)n, 0);
	if (got != n)
		return -EIO;
	add_text(t, begin, around);
	t->end += (size_t)n;
	add_text(t, end, around);
	return 0;
}

static ssize_t write_now(const struct tty *t, const void *p, size_t n)
{
	int flags, code;
	ssize_t r;

	if (!t->is_shared)
		return write(t->fd, p, n);
	flags = fcntl(t->fd, F_GETFL);
	if (flags < 0 || fcntl(t->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -1;
	r = write(t->fd, p, n);
	code = errno;
	fcntl(t->fd, F_SETFL, flags);
	errno = code;
	return r;
}

bool tty_send(struct tty *t)
{
	while (t->at < t->end) {
		ssize_t n = write_now(t, t->bytes + t->at, t->end - t->at);

		if (n > 0)
			t->at += (size_t)n;
		else if (n == 0 || errno == EAGAIN)
			return false;
		else if (errno != EINTR)
			break; /* it has gone */
	}
	t->at = t->end = 0;
	return true;
}

static bool is_ready(const struct tty *t, int timeout_ms)
{
	struct pollfd p = {.fd = t->fd, .events = POLLOUT};

	return poll(&p, 1, timeout_ms) > 0;
}

static bool send_for(struct tty *t, int ms)
{
	uint64_t until = clock_now_ns() + (uint64_t)ms * 1000000;

	while (!tty_send(t)) {
		uint64_t now = clock_now_ns();

		if (now >= until)
			return false;
		is_ready(t, (int)((until - now) / 1000000) + 1);
	}
	return true;
}

/* As after Ctrl-Q: the kernel resumes output that Ctrl-S has stopped when that key means nothing.
 */
static void go_on(const struct tty *t)
{
	struct termios modes = t->before;

	modes.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(t->keys_fd, TCSANOW, &modes);
}

bool tty_leave(struct tty *t, const char *leave)
{
	bool is_taken = tty_send(t);

	if (!is_taken) {
		go_on(t);
		is_taken = send_for(t, LEAVE_MS);
	}
	if (!is_taken) {
		t->at = t->end = 0;
		tcflush(t->fd, TCOFLUSH);
		is_taken = write_now(t, leave, strlen(leave)) == (ssize_t)strlen(leave);
	}
	tcsetattr(t->keys_fd, TCSANOW, &t->before);
	return is_taken && is_ready(t, 0);
}

void tty_mute(const struct tty *t)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (is_same(fd, t->fd))
			dup2(fileno(t->stream), fd);
}

void tty_append(char *buf, size_t size, const char *capability)
{
	size_t len = strlen(buf);

	if (!capability || capability == (const char *)-1)
		return;
	for (const char *p = capability; *p && len + 1 < size; p++) {
		if (p[0] == '$' && p[1] == '<' && strchr(p, '>'))
			p = strchr(p, '>');
		else
			buf[len++] = *p;
	}
	buf[len] = '\0';
}

void tty_close(struct tty *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->stream)
		fclose(t->stream);
	mem_free(t->bytes);
	*t = (struct tty){.fd = -1};
}

#define CLIPBOARD_BEGIN "\033]52;c;"
#define CLIPBOARD_END "\a"

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Writes four digits for up to three bytes. */
static void put_base64(char *to, const uint8_t *from, size_t n)
{
	uint32_t bits = (uint32_t)from[0] << 16;

	if (n > 1)
		bits |= (uint32_t)from[1] << 8;
	if (n > 2)
		bits |= from[2];
	for (size_t i = 0; i < 4; i++)
		to[i] = i <= n ? base64_digits[bits >> (18 - 6 * i) & 63] : '=';
}

int tty_clipboard(const char *text, char **ret)
{
	const size_t len = strlen(text), begin = strlen(CLIPBOARD_BEGIN), groups = (len + 2) / 3;

	if (len > DISPLAY_COPY_MAX)
		return -E2BIG;
	char *to = mem_calloc(begin + 4 * groups + sizeof(CLIPBOARD_END), 1);
	if (!to)
		return -ENOMEM;
	memcpy(to, CLIPBOARD_BEGIN, begin);
	for (size_t i = 0; i < groups; i++)
		put_base64(to + begin + 4 * i, (const uint8_t *)text + 3 * i, len - 3 * i);
	memcpy(to + begin + 4 * groups, CLIPBOARD_END, sizeof(CLIPBOARD_END));
	*ret = to;
	return 0;
}

bool tty_has_clipboard(const char *term, const char *screen, const char *tmux)
{
	static const char console[] = "linux";
	bool in_screen = screen && *screen && !(tmux && *tmux);

	return term && !in_screen && strncmp(term, console, sizeof(console) - 1) != 0;
}
