// SPDX-License-Identifier: GPL-2.0-only
/* Notifications to a service manager, over a real socket of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static int manager = -1;

/* The manager's socket, by the name that it would put into the environment. */
static void listen_at(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = strlen(name);

	if (manager >= 0)
		close(manager);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(manager >= 0);
	memcpy(a.sun_path, name, len);
	if (*name == '@')
		a.sun_path[0] = '\0';
	assert_int_equal(bind(manager, (struct sockaddr *)&a,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
}

static void listen_in_folder(void)
{
	char name[96];

	snprintf(name, sizeof(name), "%s/notify", folder);
	unlink(name);
	listen_at(name);
}

static void assert_told(const char *want)
{
	char text[1024];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	if (n < 0)
		fail_msg("nothing came where '%s' should: %s", want, strerror(errno));
	text[n] = '\0';
	assert_string_equal(text, want);
}

static void assert_silent(void)
{
	char text[1024];

	assert_int_equal(recv(manager, text, sizeof(text), 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kontend-notify-XXXXXX");
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char name[96];

	(void)state;
	snprintf(name, sizeof(name), "%s/notify", folder);
	unlink(name);
	close(manager);
	manager = -1;
	return rmdir(folder);
}

static void open_one(struct notify *n)
{
	struct error err = {0};

	if (notify_open(n, &err) < 0)
		fail_msg("%s", err.text);
	assert_null(getenv("NOTIFY_SOCKET")); /* what we start is not the service */
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
}

static void says_all(struct notify *n)
{
	assert_int_equal(notify_ready(n), 0);
	assert_told("READY=1");
	assert_int_equal(notify_status(n, "All waits: 2 incidents"), 0);
	assert_told("STATUS=All waits: 2 incidents");
	assert_int_equal(notify_reloading(n, 1234567899), 0);
	assert_told("RELOADING=1\nMONOTONIC_USEC=1234567");
	assert_int_equal(notify_stopping(n), 0);
	assert_told("STOPPING=1");
	assert_silent();
}

static void by_a_path(void **state)
{
	struct notify n;

	(void)state;
	listen_in_folder();
	open_one(&n);
	says_all(&n);
	/* The manager is started again, and listens by the same name. */
	listen_in_folder();
	assert_int_equal(notify_ready(&n), 0);
	assert_told("READY=1");
	notify_close(&n);
	assert_int_equal(n.fd, -1);
}

static void by_an_abstract_name(void **state)
{
	char name[64];
	struct notify n;

	(void)state;
	snprintf(name, sizeof(name), "@kontend/test/%d", (int)getpid());
	listen_at(name);
	open_one(&n);
	says_all(&n);
	notify_close(&n);
}

static void nobody_asked(void **state)
{
	struct notify n;

	(void)state;
	setenv("WATCHDOG_USEC", "1000", 1); /* to whom? */
	open_one(&n);
	assert_int_equal(n.fd, -1);
	assert_int_equal(notify_ready(&n), 0);
	assert_int_equal(notify_alive(&n, UINT64_MAX / 2), 0);
	assert_true(notify_next(&n) == UINT64_MAX);
	notify_close(&n);
}

static void nobody_is_there(void **state)
{
	struct notify n;

	(void)state;
	setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
	open_one(&n);
	assert_int_equal(notify_ready(&n), -ENOENT);
	assert_int_equal(notify_status(&n, "x"), -ENOENT);
	assert_int_equal(n.failed, 2);
	notify_close(&n);
}

/* The sentence has names of others in it. */
static void a_status_is_one_line(void **state)
{
	char text[2000];
	struct notify n;

	(void)state;
	listen_in_folder();
	open_one(&n);
	notify_status(&n, "lock a\nMAINPID=1");
	assert_told("STATUS=lock a?MAINPID=1");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(notify_status(&n, text), 0);
	char got[1024];
	ssize_t len = recv(manager, got, sizeof(got), 0);
	assert_true(len > 100 && len < 512);
	notify_close(&n);
}

static void watchdog_at_half_of_the_time(void **state)
{
	char pid[16];
	struct notify n;

	(void)state;
	listen_in_folder();
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	open_one(&n);
	assert_int_equal(n.watchdog_ns, 2000000000);
	notify_alive(&n, 5000000000);
	assert_told("WATCHDOG=1");
	assert_int_equal(notify_next(&n), 6000000000);
	notify_alive(&n, 5999999999);
	assert_silent();
	notify_alive(&n, 6000000000);
	assert_told("WATCHDOG=1");
	assert_silent();
	notify_close(&n);
}

static void watchdog_of_another_process(void **state)
{
	struct notify n;

	(void)state;
	listen_in_folder();
	setenv("WATCHDOG_PID", "1", 1);
	setenv("WATCHDOG_USEC", "2000000", 1);
	open_one(&n);
	assert_int_equal(n.watchdog_ns, 0);
	notify_alive(&n, 5000000000);
	assert_silent();
	notify_close(&n);
}

static void assert_refused(const char *part)
{
	struct error err = {0};
	struct notify n;

	assert_int_equal(notify_open(&n, &err), -EINVAL);
	if (!strstr(err.text, part))
		fail_msg("'%s' has no '%s'", err.text, part);
	assert_null(getenv("NOTIFY_SOCKET"));
	notify_close(&n);
}

static void what_makes_no_sense(void **state)
{
	static const char *const times[] = {
		"", "0", "-1", "1s", "99999999999999999999", "18446744073709551615"};
	char name[200];

	(void)state;
	setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
	assert_refused("vsock:2:1234");
	setenv("NOTIFY_SOCKET", "@", 1);
	assert_refused("no socket has such a name");
	memset(name, 'n', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	assert_refused("no socket has such a name");
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		setenv("NOTIFY_SOCKET", "/run/n", 1);
		setenv("WATCHDOG_USEC", times[i], 1);
		assert_refused("WATCHDOG_USEC");
	}
	setenv("NOTIFY_SOCKET", "/run/n", 1);
	setenv("WATCHDOG_USEC", "1000", 1);
	setenv("WATCHDOG_PID", "me", 1);
	assert_refused("WATCHDOG_PID");
}

/* A manager that reads nothing does not block the program for a message of the moment. */
static void a_slow_manager(void **state)
{
	struct notify n;
	int r = 0;

	(void)state;
	listen_in_folder();
	setenv("WATCHDOG_USEC", "2000000", 1);
	open_one(&n);
	for (int i = 0; i < 100000 && r == 0; i++)
		r = notify_status(&n, "again");
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(notify_alive(&n, 5000000000), -EAGAIN);
	assert_told("STATUS=again");
	/* The sign of life was not sent, so the next one is sent as soon as possible. */
	assert_int_equal(notify_alive(&n, 5000000001), 0);
	notify_close(&n);
}

int main(void)
{
#define WITH_SOCKET(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_SOCKET(by_a_path),
		WITH_SOCKET(by_an_abstract_name),
		WITH_SOCKET(nobody_asked),
		WITH_SOCKET(nobody_is_there),
		WITH_SOCKET(a_status_is_one_line),
		WITH_SOCKET(watchdog_at_half_of_the_time),
		WITH_SOCKET(what_makes_no_sense),
		WITH_SOCKET(watchdog_of_another_process),
		WITH_SOCKET(a_slow_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
