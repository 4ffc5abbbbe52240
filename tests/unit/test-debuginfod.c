// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files by the network: a server of this test's has that of this program, of which there is a
 * copy without. With arguments this program is one of the two other processes.
 */
#include "kontend/mem.h"
#include "kontend/srclines.h"
#include "loadall.h"
#include "selfplace.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum serving { SERVES_FILE, SERVES_NOTHING, SERVES_OTHER, SERVES_LATE };

static const uint64_t LONG_NS = 100ull * 1000000000;
static char dir[] = "/tmp/kontend-debuginfod-XXXXXX";
static pid_t server;
static struct usersyms *files;
static struct srclines *lines;

__attribute__((noinline)) static uintptr_t where(void)
{
	__asm__ volatile("");
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
	char command[2048];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	return system(command) == 0;
}

static void send_file(int to, const char *name)
{
	char path[64], bytes[4096];
	struct stat st;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "rb");
	if (!f || fstat(fileno(f), &st) < 0)
		_exit(1);
	dprintf(to, "HTTP/1.1 200 OK\r\nContent-Length: %lld\r\nConnection: close\r\n\r\n",
		(long long)st.st_size);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		if (send(to, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
			break;
	fclose(f);
}

/* Only "/buildid/HEX/debuginfo" is there. */
static void answer(int fd, enum serving what)
{
	char request[4096] = "", *end;
	size_t n = 0;
	ssize_t r;

	while (!strstr(request, "\r\n\r\n") && n < sizeof(request) - 1 &&
	       (r = recv(fd, request + n, sizeof(request) - 1 - n, 0)) > 0)
		request[n += (size_t)r] = '\0';
	end = strstr(request, "/debuginfo ");
	while (what == SERVES_LATE)
		pause();
	if (what == SERVES_NOTHING || strncmp(request, "GET /buildid/", 13) != 0 || !end)
		dprintf(fd,
			"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	else
		send_file(fd, what == SERVES_FILE ? "debug" : "stripped");
}

static void serve(int listening, enum serving what)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept(listening, NULL, NULL);
		if (fd < 0)
			_exit(1);
		answer(fd, what);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
}

static void start_server(enum serving what)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof(at);
	char url[64];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	server = fork();
	assert_true(server >= 0);
	if (server == 0)
		serve(fd, what);
	close(fd);
}

static void stop_server(void)
{
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	server = 0;
}

static void begin(const char *cache, const char *const *fetch_argv)
{
	struct usersyms_config c = {.same_machine = true};
	struct srclines_config how = {.argv = srclines_worker_argv, .fetch_argv = fetch_argv};
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, cache);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	assert_int_equal(usersyms_new(&files, &c, NULL), 0);
	assert_int_equal(srclines_new(&lines, files, &how, NULL), 0);
}

static void end(void)
{
	srclines_free(lines);
	usersyms_free(files);
	assert_int_equal(mem_live(), 0);
	stop_server();
}

static enum srclines_answer ask_line(uint64_t at, const struct srclines_place **ret,
				     uint32_t *ret_object)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/stripped", dir);
	assert_int_equal(usersyms_object(files, path, NULL, 0, 0, ret_object), 0);
	srclines_find(lines, *ret_object, at, ret);
	load_all(files);
	return srclines_find(lines, *ret_object, at, ret);
}

/* Waits, and compares why there is nothing; NULL: there is a place, in @line of this file. */
static void expect(uintptr_t addr, uint32_t line, const char *why)
{
	const struct srclines_place *p = NULL;
	uint64_t at = selfplace(addr) - 1;
	uint32_t object;

	if (ask_line(at, &p, &object) == SRCLINES_PENDING)
		srclines_wait(lines, LONG_NS);
	enum srclines_answer a = srclines_find(lines, object, at, &p);
	if (why) {
		assert_int_equal(a, SRCLINES_NO_INFO);
		assert_non_null(srclines_why(lines, object));
		assert_string_equal(srclines_why(lines, object), why);
		return;
	}
	if (a != SRCLINES_OK)
		printf("%s\n", srclines_why(lines, object));
	assert_int_equal(a, SRCLINES_OK);
	assert_int_equal(p->frames[0].line, line);
	assert_non_null(strstr(p->frames[0].file, "test-debuginfod.c"));
}

/* The name of the function at @addr is @want; NULL: another one, or none. */
static void expect_name(uintptr_t addr, const char *want)
{
	const struct srclines_place *p;
	uint64_t at = selfplace(addr) - 1;
	struct usersym s = {0};
	uint32_t object;

	ask_line(at, &p, &object);
	usersyms_lookup(files, object, at, &s);
	load_all(files);
	enum usersym_answer a = usersyms_lookup(files, object, at, &s);
	if (want) {
		assert_int_equal(a, USERSYM_OK);
		assert_string_equal(s.name, want);
	} else {
		assert_int_equal(a, USERSYM_NO_SYMBOL);
		assert_true(usersyms_is_poor(files, object));
	}
}

static void test_found_and_kept(void **state)
{
	(void)state;
	start_server(SERVES_FILE);
	begin("cache", srclines_fetch_argv);
	uintptr_t addr = where();
	uint32_t line = __LINE__ - 1;
	expect_name(addr, NULL);
	expect(addr, line, NULL);
	expect_name(addr, "test_found_and_kept");
	end();
	/* The server is gone. */
	begin("cache", srclines_fetch_argv);
	expect(addr, line, NULL);
	end();
}

static void test_not_there(void **state)
{
	(void)state;
	start_server(SERVES_NOTHING);
	begin("none", srclines_fetch_argv);
	expect(where(), 0, "no debug information (debuginfod: no such file)");
	end();
}

/* It has no debug information, in spite of its name. */
static void test_other_file(void **state)
{
	(void)state;
	start_server(SERVES_OTHER);
	begin("other", srclines_fetch_argv);
	expect(where(), 0,
	       "no debug information (debuginfod: the downloaded file has another build id, or "
	       "none)");
	end();
}

/* The right debug information, of another program. */
static void test_other_id(void **state)
{
	(void)state;
	start_server(SERVES_FILE);
	begin("id", srclines_fetch_argv);
	assert_true(run("mv %s/debug %s/kept && objcopy --remove-section .note.gnu.build-id "
			"%s/kept %s/debug",
			dir, dir, dir, dir));
	expect(where(), 0,
	       "no debug information (debuginfod: the downloaded file has another build id, or "
	       "none)");
	expect_name(where(), NULL);
	end();
	assert_true(run("mv %s/kept %s/debug", dir, dir));
}

/* The part that the debug file shares with others has its own build id; here it is another one. */
static void test_shared_part(void **state)
{
	(void)state;
	start_server(SERVES_FILE);
	begin("shared", srclines_fetch_argv);
	assert_true(
		run("cd %s && cp debug kept && printf 'gone.debug\\0abcdefghijklmnopqrst' >alt && "
		    "objcopy --add-section .gnu_debugaltlink=alt kept debug",
		    dir));
	uintptr_t addr = where();
	uint32_t line = __LINE__ - 1;
	expect(addr, line, NULL);
	assert_true(
		run("test -s %s/shared/6162636465666768696a6b6c6d6e6f7071727374/debuginfo", dir));
	end();
	/* The one that is asked for is not there: the rest is of use without. */
	begin("shared", srclines_fetch_argv);
	assert_true(run("rm -r %s/shared/61*", dir));
	expect(addr, line, NULL);
	end();
	assert_true(run("mv %s/kept %s/debug", dir, dir));
}

/* Drawing continues, a caller that waits does so up to a bound, and ending does not wait for it. */
static void test_late(void **state)
{
	const struct srclines_place *p;
	uint64_t at = selfplace(where()) - 1;
	uint32_t object;
	bool changed = false;

	(void)state;
	start_server(SERVES_LATE);
	begin("late", srclines_fetch_argv);
	assert_int_equal(ask_line(at, &p, &object), SRCLINES_PENDING);
	while (srclines_pump(lines, 1000000, &changed))
		;
	for (int i = 0; i < 100; i++) {
		assert_false(srclines_pump(lines, 1000000, &changed));
		assert_int_equal(ask_line(at, &p, &object), SRCLINES_PENDING);
	}
	assert_true(srclines_fd(lines) >= 0);
	assert_true(srclines_wait(lines, 20000000));
	assert_int_equal(ask_line(at, &p, &object), SRCLINES_TOO_LONG);
	end();
}

static void test_no_servers(void **state)
{
	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	begin("unset", srclines_fetch_argv);
	expect(where(), 0,
	       "no debug information (DEBUGINFOD_URLS is not set: --debuginfod does nothing)");
	end();
}

/* The servers are set, but the user has not allowed to ask them. */
static void test_not_wanted(void **state)
{
	const struct srclines_place *p;
	uint64_t at = selfplace(where()) - 1;
	uint32_t object;

	(void)state;
	start_server(SERVES_FILE);
	begin("unwanted", NULL);
	if (ask_line(at, &p, &object) == SRCLINES_PENDING)
		srclines_wait(lines, LONG_NS);
	assert_int_equal(srclines_find(lines, object, at, &p), SRCLINES_NO_INFO);
	assert_null(srclines_why(lines, object));
	end();
}

/* A process that does not do as it should. */
static const char *const dies[] = {"worker", "--dies", NULL};
static const char *const mumbles[] = {"worker", "--mumbles", NULL};

static void test_dies(void **state)
{
	(void)state;
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	begin("dies", dies);
	expect(where(), 0, "no debug information (debuginfod: worker ended with status 7)");
	end();
}

static void test_mumbles(void **state)
{
	(void)state;
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	begin("mumbles", mumbles);
	expect(where(), 0, "no debug information (debuginfod: worker ended by signal 9)");
	end();
}

static int misbehave(const char *how)
{
	if (strcmp(how, "--mumbles") != 0)
		return 7;
	send(SRCLINES_FD, "file", 4, MSG_NOSIGNAL);
	for (;;)
		pause();
}

/* Why it cannot be tried here, or NULL. */
static const char *make_files(void)
{
	char own[512];

	if (!mkdtemp(dir))
		return "no folder";
	selfplace_path(own, sizeof(own));
	if (!run("command -v objcopy >/dev/null"))
		return "there is no objcopy";
	if (!run("objcopy --only-keep-debug '%s' %s/debug && objcopy --strip-all '%s' %s/stripped",
		 own, dir, own, dir))
		return "objcopy cannot take this program apart";
	return run("objdump -h %s/debug | grep -q debug_info", dir)
		       ? NULL
		       : "built without debug information";
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_and_kept), cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_other_file),     cmocka_unit_test(test_other_id),
		cmocka_unit_test(test_late),	       cmocka_unit_test(test_no_servers),
		cmocka_unit_test(test_not_wanted),     cmocka_unit_test(test_dies),
		cmocka_unit_test(test_mumbles),	       cmocka_unit_test(test_shared_part),
	};

	if (argc == 2 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	if (argc == 3 && !strcmp(argv[1], SRCLINES_FETCH_ARG))
		return srclines_fetch(argv[2]);
	if (argc == 3)
		return misbehave(argv[1]);
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	const char *why = make_files();
	int r = why ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
	if (why)
		printf("skipped: %s\n", why);
	run("rm -rf %s", dir);
	return r;
}
