// SPDX-License-Identifier: GPL-2.0-only
/* A terminal that takes nothing, slowly or all: all output comes out, and the program never waits.
 */
#include "term/tty.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

enum { MUCH = 300000 };

/* Output to the terminal passes through here: see test_frame_is_one_write(). */
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
static int counted_fd = -1;
static size_t n_writes;

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	n_writes += fd == counted_fd;
	return __real_write(fd, p, n);
}

struct pair {
	int far, near;
	struct tty tty;
};

static void open_tty(struct pair *p)
{
	struct error err = {0};

	assert_int_equal(tty_open(&p->tty, p->near, p->near, &err), 0);
	tty_enter(&p->tty);
}

static void open_pair(struct pair *p)
{
	char name[64];

	p->far = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(p->far >= 0 && grantpt(p->far) == 0 && unlockpt(p->far) == 0);
	assert_int_equal(ptsname_r(p->far, name, sizeof(name)), 0);
	p->near = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(p->near >= 0);
}

static void close_pair(struct pair *p)
{
	tty_close(&p->tty);
	close(p->near);
	close(p->far);
}

static char byte_at(size_t i)
{
	return (char)('a' + i % 23);
}

static void type_bytes(struct pair *p, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		assert_int_not_equal(putc(byte_at(i), p->tty.stream), EOF);
	assert_int_equal(tty_take(&p->tty), 0);
}

static size_t get(struct pair *p, size_t from)
{
	struct pollfd f = {.fd = p->far, .events = POLLIN};
	char bytes[4096];
	ssize_t n = 0;

	if (poll(&f, 1, 1000) > 0)
		n = read(p->far, bytes, sizeof(bytes));
	assert_true(n > 0);
	for (size_t i = 0; i < (size_t)n; i++)
		assert_int_equal(bytes[i], byte_at(from + i));
	return (size_t)n;
}

static bool blocks(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* More than it holds, from two frames, is read in its order. */
static void pass_much(struct pair *p)
{
	size_t got = 0;

	type_bytes(p, 0, MUCH / 2);
	assert_false(tty_send(&p->tty));
	type_bytes(p, MUCH / 2, MUCH / 2);
	while (got < MUCH) {
		got += get(p, got);
		tty_send(&p->tty);
	}
	assert_int_equal(got, MUCH);
	assert_true(tty_send(&p->tty));
	assert_true(blocks(p->near)); /* for programs that share it nothing has changed */
}

static void test_passes_all(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p);
	open_tty(&p);
	assert_false(p.tty.is_shared);
	pass_much(&p);
	close_pair(&p);
}

/* It cannot be opened once more: it is exclusive, or belongs to another user. */
static void test_passes_all_by_a_shared_one(void **state)
{
	bool is_root = geteuid() == 0;
	struct pair p;

	(void)state;
	open_pair(&p);
	assert_int_equal(ioctl(p.near, TIOCEXCL), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	open_tty(&p);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_true(p.tty.is_shared);
	pass_much(&p);
	close_pair(&p);
}

/* All of a frame: the kernel hands over what has come so far, in as many parts as it likes. */
static size_t read_frame(int fd, char *bytes, size_t size)
{
	static const char end[] = TTY_FRAME_END;
	size_t n = 0, n_end = sizeof(end) - 1;

	while (n < n_end || memcmp(bytes + n - n_end, end, n_end) != 0) {
		ssize_t got = read(fd, bytes + n, size - n);
		assert_true(got > 0);
		n += (size_t)got;
	}
	return n;
}

/* Output that must be shown at once arrives at once, an empty one sends nothing. */
static void test_frames(void **state)
{
	enum { FRAME = 3000 };
	static const char begin[] = TTY_FRAME_BEGIN, end[] = TTY_FRAME_END;
	char bytes[2 * FRAME];
	struct pair p;

	(void)state;
	open_pair(&p);
	open_tty(&p);
	p.tty.has_frames = true;
	for (int i = 0; i < 3; i++) {
		type_bytes(&p, 0, FRAME);
		assert_true(tty_send(&p.tty));
		size_t n = read_frame(p.far, bytes, sizeof(bytes));
		assert_int_equal(n, FRAME + 2 * (sizeof(begin) - 1));
		assert_memory_equal(bytes, begin, sizeof(begin) - 1);
		assert_int_equal(bytes[sizeof(begin) - 1], byte_at(0));
		assert_memory_equal(bytes + n - (sizeof(end) - 1), end, sizeof(end) - 1);
		type_bytes(&p, 0, 0);
		assert_int_equal(p.tty.end, 0);
	}
	close_pair(&p);
}

/* So does one that the terminal takes in pieces. */
static void test_large_frame(void **state)
{
	static char held[2 * MUCH];
	struct pair p;
	size_t n = 0;

	(void)state;
	open_pair(&p);
	open_tty(&p);
	p.tty.has_frames = true;
	type_bytes(&p, 0, MUCH);
	while (!tty_send(&p.tty)) {
		ssize_t got = read(p.far, held + n, sizeof(held) - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	while (n < MUCH + 2 * strlen(TTY_FRAME_END))
		n += (size_t)read(p.far, held + n, sizeof(held) - n);
	assert_memory_equal(held, TTY_FRAME_BEGIN, strlen(TTY_FRAME_BEGIN));
	assert_string_equal(held + n - strlen(TTY_FRAME_END), TTY_FRAME_END);
	assert_null(strstr(held + 1, TTY_FRAME_BEGIN));
	close_pair(&p);
}

static void assert_modes(const struct pair *p, const struct termios *expected)
{
	struct termios now;

	assert_int_equal(tcgetattr(p->near, &now), 0);
	assert_int_equal(now.c_lflag, expected->c_lflag);
	assert_int_equal(now.c_iflag, expected->c_iflag);
	assert_int_equal(now.c_oflag, expected->c_oflag);
	assert_memory_equal(now.c_cc, expected->c_cc, sizeof(now.c_cc));
}

/* All that the terminal holds: "" when that is nothing. */
static size_t drain(const struct pair *p, char *ret, size_t size)
{
	struct pollfd f = {.fd = p->far, .events = POLLIN};
	size_t n = 0;

	while (n + 1 < size && poll(&f, 1, 100) > 0) {
		ssize_t got = read(p->far, ret + n, size - 1 - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	ret[n] = '\0';
	return n;
}

static void leave(size_t bytes, bool stopped)
{
	static char held[2 * MUCH];
	struct termios before;
	struct pair p;

	open_pair(&p);
	assert_int_equal(tcgetattr(p.near, &before), 0);
	open_tty(&p);
	if (stopped)
		assert_int_equal(tcflow(p.near, TCOOFF), 0);
	type_bytes(&p, 0, bytes);
	assert_int_equal(tty_leave(&p.tty, "LEAVE"), !stopped);
	assert_modes(&p, &before);
	if (stopped)
		assert_int_equal(tcflow(p.near, TCOON), 0);
	size_t n = drain(&p, held, sizeof(held));
	if (stopped)
		assert_int_equal(n, 0);
	else if (bytes == MUCH)
		assert_string_equal(held + n - 5, "LEAVE");
	else
		assert_int_equal(n, bytes);
	close_pair(&p);
}

static void test_leaves(void **state)
{
	(void)state;
	leave(100, false);
	leave(MUCH, false);
	leave(100, true);
}

/* As Ctrl-S, typed at the other end. */
static void test_leaves_after_ctrl_s(void **state)
{
	struct termios before;
	char held[256];
	struct pair p;

	(void)state;
	open_pair(&p);
	assert_int_equal(tcgetattr(p.near, &before), 0);
	assert_true(before.c_iflag & IXON);
	open_tty(&p);
	assert_int_equal(write(p.far, "\023", 1), 1);
	type_bytes(&p, 0, 1);
	for (int i = 0; i < 6000 && tty_send(&p.tty); i++) {
		usleep(10000); /* the kernel hears of the key later */
		type_bytes(&p, 0, 1);
	}
	type_bytes(&p, 0, 100);
	assert_true(tty_leave(&p.tty, "LEAVE"));
	assert_modes(&p, &before);
	assert_true(drain(&p, held, sizeof(held)) >= 100);
	assert_null(strstr(held, "LEAVE"));
	close_pair(&p);
}

static void test_the_other_end_is_gone(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p);
	open_tty(&p);
	close(p.far);
	type_bytes(&p, 0, MUCH);
	assert_true(tty_send(&p.tty)); /* nothing is left to be sent */
	tty_leave(&p.tty, "LEAVE");
	tty_close(&p.tty);
	close(p.near);
}

static void test_appends_without_padding(void **state)
{
	char buf[8] = "";

	(void)state;
	tty_append(buf, sizeof(buf), "a$<20/>b");
	tty_append(buf, sizeof(buf), NULL);
	tty_append(buf, sizeof(buf), "cdefghij");
	assert_string_equal(buf, "abcdefg");
}

/* However often curses writes for it; with other queued output, as text for the clipboard. */
static void test_frame_is_one_write(void **state)
{
	struct pair p;
	char bytes[8192];

	(void)state;
	open_pair(&p);
	open_tty(&p);
	p.tty.has_frames = true;
	counted_fd = p.tty.fd;
	for (size_t frame = 1; frame <= 20; frame++) {
		for (int part = 0; part < 10; part++) {
			fprintf(p.tty.stream, "%60d", part);
			fflush(p.tty.stream);
		}
		n_writes = 0;
		assert_int_equal(tty_take(&p.tty), 0);
		assert_true(tty_send(&p.tty));
		assert_int_equal(n_writes, 1);
		size_t n = 10 * 60 + 2 * strlen(TTY_FRAME_BEGIN);
		for (size_t got = 0; got < n;) {
			ssize_t more = read(p.far, bytes + got, n - got);
			assert_true(more > 0);
			got += (size_t)more;
		}
		assert_memory_equal(bytes, TTY_FRAME_BEGIN, strlen(TTY_FRAME_BEGIN));
		assert_memory_equal(bytes + n - strlen(TTY_FRAME_END), TTY_FRAME_END,
				    strlen(TTY_FRAME_END));
	}
	counted_fd = -1;
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_is_one_write),
		cmocka_unit_test(test_passes_all),
		cmocka_unit_test(test_passes_all_by_a_shared_one),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_large_frame),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_leaves_after_ctrl_s),
		cmocka_unit_test(test_the_other_end_is_gone),
		cmocka_unit_test(test_appends_without_padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
