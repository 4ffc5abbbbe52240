// SPDX-License-Identifier: GPL-2.0-only
/*
 * The member of a variable at an address, by debug information: of variables of this program, whose
 * layout the compiler knows, and of a program in C++ that says where its objects are. Another
 * process reads it, as for source lines: with an argument this program is that process.
 */
#include "../../src/sym/lines/internal.h"
#include "kontend/mem.h"
#include "loadall.h"
#include "selfplace.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const char __ehdr_start;

static const uint64_t LONG_NS = 300ull * 1000000000;

struct conn {
	int fd;
	pthread_mutex_t lock;
};

struct server {
	char name[24];
	struct conn conn;
	struct {
		long pad;
		pthread_rwlock_t rw;
	};
	union {
		char raw[64];
		pthread_mutex_t mutex;
	} u;
	union {
		uint32_t word;
		int32_t number;
	} both;
	struct {
		char byte;
		uint64_t aligned;
	} hole;
	struct conn rest[];
};

struct slot {
	long n;
	volatile pthread_mutex_t mutex;
};

/* In memory without bytes in the file, in memory with some, and for this file alone. */
struct server server;
struct slot pool[8] = {{.n = 1}};
static struct slot grid[3][4];
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static uint32_t word;

static struct usersyms *files;
static struct srclines *lines;

static void begin(void)
{
	struct usersyms_config c = {.same_machine = true};
	struct srclines_config how = {.argv = srclines_worker_argv};

	assert_int_equal(usersyms_new(&files, &c, NULL), 0);
	assert_int_equal(srclines_new(&lines, files, &how, NULL), 0);
}

static void end(void)
{
	srclines_free(lines);
	usersyms_free(files);
	assert_int_equal(mem_live(), 0);
}

static uint32_t object_of(const char *path)
{
	uint32_t object;
	struct usersym s;

	assert_int_equal(usersyms_object(files, path, NULL, 0, 0, &object), 0);
	usersyms_variable(files, object, 0, &s);
	load_all(files);
	return object;
}

static uint32_t own_object(void)
{
	char path[512];

	return object_of(selfplace_path(path, sizeof(path)));
}

static uint64_t at_of(const volatile void *p)
{
	return (uint64_t)((const volatile char *)p - &__ehdr_start);
}

static enum srclines_answer ask(uint32_t object, uint64_t at, struct srclines_member *ret)
{
	enum srclines_answer a = srclines_member(lines, object, at, ret);

	if (a != SRCLINES_PENDING)
		return a;
	srclines_wait(lines, LONG_NS);
	return srclines_member(lines, object, at, ret);
}

/* Leaves the test if there is nothing to test: the answer for a variable of this program. */
static void leave_for(enum srclines_answer a)
{
	printf("%s\n", srclines_reason(a));
	end();
	skip();
}

/* Without debug information, or libdw. */
static enum srclines_answer need_lines(void)
{
	struct srclines_member m;

	begin();
	enum srclines_answer a = ask(own_object(), at_of(&plain), &m);
	if (a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT)
		leave_for(a);
	return a;
}

/* This program may have been built with -g1, which has no variables. */
static void need_variables(void)
{
	enum srclines_answer a = need_lines();

	if (a == SRCLINES_NO_LINE)
		leave_for(a);
}

static const char *function = ""; /* that checked variables are within */

static void check(const void *variable, const volatile void *p, const char *expected)
{
	struct srclines_member m = {.way = "-"};
	enum srclines_answer a = ask(own_object(), at_of(p), &m);

	if (a != SRCLINES_OK || strcmp(m.way, expected) != 0)
		fail_msg("%s: answer %d, %s", expected, a, m.way);
	assert_int_equal(m.into, (uintptr_t)p - (uintptr_t)variable);
	assert_string_equal(m.function, function);
}

static void test_members(void **state)
{
	(void)state;
	need_variables();
	check(&plain, &plain, "");
	check(&word, &word, "");
	check(&server, &server.conn.lock, ".conn.lock");
	/* Within a lock it is that lock. */
	check(&server, (char *)&server.conn.lock + 8, ".conn.lock");
	check(&server, &server.rw, ".rw");
	check(&server, &server, ".name[0]");
	check(&server, &server.name[23], ".name[23]");
	check(&server, &server.conn.fd, ".conn.fd");
	check(&server, (char *)&server.conn.fd + 2, ".conn.fd+0x2");
	check(&pool, &pool[3].mutex, "[3].mutex");
	check(&pool, &pool[7].n, "[7].n");
	check(&grid, &grid[2][1].mutex, "[2][1].mutex");
	check(&grid, &grid[0][3].mutex, "[0][3].mutex");
	end();
}

/* Of members at the same place one with a lock counts; of two without one neither is certain. */
static void test_unions(void **state)
{
	(void)state;
	need_variables();
	check(&server, &server.u.mutex, ".u.mutex");
	check(&server, &server.u.raw[63], ".u.raw[63]");
	check(&server, &server.both, ".both");
	check(&server, (char *)&server.both + 1, ".both+0x1");
	check(&server, &server.hole.aligned, ".hole.aligned");
	/* Between two members. */
	check(&server, &server.hole.byte + 1, ".hole+0x1");
	end();
}

static void *lock_inside(void)
{
	static struct slot inside[2];

	return &inside[1];
}

static void test_in_functions(void **state)
{
	char *p = lock_inside();

	(void)state;
	need_variables();
	function = "lock_inside";
	check(p - sizeof(struct slot), p + offsetof(struct slot, mutex), "[1].mutex");
	function = "";
	/* And one outside of functions again. */
	check(&grid, &grid[1][0].mutex, "[1][0].mutex");
	end();
}

static void test_no_variable(void **state)
{
	struct srclines_member m;

	(void)state;
	need_lines();
	uint32_t object = own_object();
	assert_int_equal(ask(object, 0, &m), SRCLINES_NO_LINE);
	assert_int_equal(ask(object, at_of(&server) + (1ull << 40), &m), SRCLINES_NO_LINE);
	assert_int_equal(ask(object, 1ull << 62, &m), SRCLINES_NO_LINE);
	assert_int_equal(ask(object, UINT64_MAX, &m), SRCLINES_NO_LINE);
	assert_int_equal(ask(object_of("/nonexistent"), 0, &m), SRCLINES_NO_FILE);
	end();
}

static char program[] = "/tmp/kontend-members-XXXXXX";

/* Builds the program in C++. False: this machine has no such compiler. */
static bool compile(const char *compiler, const char *options)
{
	char command[1024];
	const char *folder = getenv("KONTEND_TEST_SOURCE");

	snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
	if (!folder || system(command) != 0) {
		printf("no compiler of C++ (%s), or no source\n", compiler);
		return false;
	}
	snprintf(command, sizeof(command), "%s %s -std=c++17 -O1 -o '%s' -x c++ '%s/members.cc'",
		 compiler, options, program, folder);
	assert_int_equal(system(command), 0);
	return true;
}

/* The program prints its objects: "name offset" on each line. */
static unsigned check_program(bool has_lines)
{
	uint32_t object = object_of(program);
	FILE *said = popen(program, "r");
	char name[128];
	uint64_t at;
	unsigned n = 0;

	assert_non_null(said);
	for (; fscanf(said, "%127s %lx", name, &at) == 2; n++) {
		char text[512];
		struct srclines_member m = {.way = ""};
		struct usersym s;
		enum srclines_answer a = ask(object, at, &m);
		assert_int_equal(usersyms_variable(files, object, at, &s), USERSYM_OK);
		assert_int_equal(a, has_lines ? SRCLINES_OK : SRCLINES_NO_INFO);
		if (!has_lines)
			continue;
		assert_int_equal(m.into, at - s.start);
		snprintf(text, sizeof(text), "%s%s", s.name, m.way);
		if (name[strlen(name) - 1] == '+')
			text[strlen(name)] = '\0';
		assert_string_equal(text, name);
	}
	assert_int_equal(pclose(said), 0);
	return n;
}

static void compiled(const char *compiler, const char *options, bool has_lines)
{
	need_lines();
	int fd = mkstemp(strcpy(program, "/tmp/kontend-members-XXXXXX"));
	assert_true(fd >= 0);
	close(fd);
	bool built = compile(compiler, options);
	if (built)
		assert_int_equal(check_program(has_lines), 13);
	unlink(program);
	end();
	if (!built)
		skip();
}

static void test_classes(void **state)
{
	(void)state;
	compiled("g++", "-g", true);
}

static void test_older_format(void **state)
{
	(void)state;
	compiled("g++", "-gdwarf-4 -fdebug-types-section", true);
}

static void test_other_compiler(void **state)
{
	(void)state;
	compiled("clang++", "-g", true);
}

static void test_no_information(void **state)
{
	(void)state;
	compiled("g++", "-g0", false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	       cmocka_unit_test(test_unions),
		cmocka_unit_test(test_in_functions),   cmocka_unit_test(test_no_variable),
		cmocka_unit_test(test_classes),	       cmocka_unit_test(test_older_format),
		cmocka_unit_test(test_other_compiler), cmocka_unit_test(test_no_information),
	};

	if (argc > 1 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
