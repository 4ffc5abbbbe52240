// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines and inlined functions of this program, which knows where it is, as another process reads
 * them; and what is left of that when it does not do as it should. With an argument this program is
 * that process.
 */
#include "../../src/sym/lines/internal.h"
#include "elfmake.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"
#include "loadall.h"
#include "selfplace.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t LONG_NS = 300ull * 1000000000;

static const char *const dies[] = {"worker", "--dies", NULL};
static const char *const lies[] = {"worker", "--lies", NULL};
static const char *const mumbles[] = {"worker", "--mumbles", NULL};
static const char *const sleeps[] = {"worker", "--sleeps", NULL};

static struct usersyms *files;
static struct srclines *lines;

static void begin(const char *const *argv)
{
	struct usersyms_config c = {.same_machine = true};
	struct srclines_config how = {.argv = argv};

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

	assert_int_equal(usersyms_object(files, path, NULL, 0, 0, &object), 0);
	return object;
}

static enum srclines_answer ask_line(uint32_t object, uint64_t offset,
				     const struct srclines_place **ret)
{
	enum srclines_answer a = srclines_find(lines, object, offset, ret);

	load_all(files);
	return a == SRCLINES_PENDING ? srclines_find(lines, object, offset, ret) : a;
}

static enum srclines_answer find_line(const char *path, uint64_t offset,
				      const struct srclines_place **ret)
{
	uint32_t object = object_of(path);
	enum srclines_answer a = ask_line(object, offset, ret);

	if (a != SRCLINES_PENDING)
		return a;
	assert_true(srclines_wait(lines, LONG_NS));
	assert_false(srclines_wait(lines, LONG_NS));
	assert_int_equal(srclines_fd(lines), -1);
	return srclines_find(lines, object, offset, ret);
}

static const char *own_path(void)
{
	static char path[512];

	return selfplace_path(path, sizeof(path));
}

static const struct srclines_place *own_place(uintptr_t addr)
{
	const struct srclines_place *p = NULL;
	enum srclines_answer a = find_line(own_path(), selfplace(addr) - 1, &p);

	if (a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT) {
		printf("%s\n", srclines_reason(a));
		end();
		skip();
	}
	assert_int_equal(a, SRCLINES_OK);
	return p;
}

/* Where it was called from. */
__attribute__((noinline)) static uintptr_t where(void)
{
	__asm__ volatile("");
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static inline __attribute__((always_inline)) uintptr_t inner(uint32_t *ret_line)
{
	*ret_line = __LINE__ + 1;
	return where();
}

static inline __attribute__((always_inline)) uintptr_t middle(uint32_t *ret_lines)
{
	ret_lines[1] = __LINE__ + 1;
	return inner(ret_lines);
}

static bool is_this_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, "test-srclines.c") == 0;
}

static void test_line(void **state)
{
	(void)state;
	begin(srclines_worker_argv);
	uintptr_t addr = where();
	uint32_t line = __LINE__ - 1;
	const struct srclines_place *p = own_place(addr);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->frames[0].function, "test_line");
	assert_true(is_this_file(p->frames[0].file));
	assert_int_equal(p->frames[0].line, line);
	end();
}

static void test_inlined(void **state)
{
	uint32_t at[3];

	(void)state;
	begin(srclines_worker_argv);
	uintptr_t addr = middle(at);
	at[2] = __LINE__ - 1;
	const struct srclines_place *p = own_place(addr);
	static const char *const names[] = {"inner", "middle", "test_inlined"};
	assert_int_equal(p->n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(p->frames[i].function, names[i]);
		assert_true(is_this_file(p->frames[i].file));
		assert_int_equal(p->frames[i].line, at[i]);
	}
	assert_ptr_equal(own_place(addr), p);
	end();
}

/* Forgotten lines are requested again, with the same texts. */
static void test_places_are_bounded(void **state)
{
	const struct srclines_place *p;
	uintptr_t addr = where();

	(void)state;
	begin(srclines_worker_argv);
	p = own_place(addr);
	char file[512];
	snprintf(file, sizeof(file), "%s", p->frames[p->n - 1].file);
	long live = mem_live();
	srclines_tidy(lines);
	assert_int_equal(mem_live(), live);
	assert_ptr_equal(own_place(addr), p);
	srclines_free(lines);
	const struct srclines_config few = {.argv = srclines_worker_argv, .places_most = 1};
	assert_int_equal(srclines_new(&lines, files, &few, NULL), 0);
	own_place(addr);
	uint32_t object = object_of(own_path());
	ask_line(object, selfplace(addr) + 64, &p);
	srclines_wait(lines, LONG_NS);
	srclines_tidy(lines);
	assert_int_equal(ask_line(object, selfplace(addr) - 1, &p), SRCLINES_PENDING);
	p = own_place(addr);
	assert_string_equal(p->frames[p->n - 1].file, file);
	end();
}

/* More places than one question has. */
static void test_many_places(void **state)
{
	const struct srclines_place *p;
	uintptr_t addr = where();
	uint64_t at = selfplace(addr) - 1;

	(void)state;
	begin(srclines_worker_argv);
	own_place(addr);
	uint32_t object = object_of(own_path());
	for (uint64_t i = 0; i < 3 * SRCLINES_MSG_PLACES; i++)
		assert_int_not_equal(ask_line(object, at + i, &p), SRCLINES_NO_MEMORY);
	srclines_wait(lines, LONG_NS);
	for (uint64_t i = 0; i < 3 * SRCLINES_MSG_PLACES; i++)
		assert_int_not_equal(ask_line(object, at + i, &p), SRCLINES_PENDING);
	end();
}

/* More files than are open at a time, round and round. */
static void test_many_files(void **state)
{
	char path[512], other[1024];
	const struct srclines_place *p;

	(void)state;
	begin(srclines_worker_argv);
	uintptr_t addr = where();
	uint32_t line = own_place(addr)->frames[0].line;
	snprintf(path, sizeof(path), "%s", own_path());
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 12; i++) {
			snprintf(other, sizeof(other), "%.*s%.*s%s",
				 (int)(strrchr(path, '/') - path), path, 2 * i,
				 "/././././././././././././", strrchr(path, '/'));
			assert_int_equal(find_line(other, selfplace(addr) - 1, &p), SRCLINES_OK);
			assert_int_equal(p->frames[0].line, line);
			ask_line(object_of(other), selfplace(addr) + (uint64_t)round, &p);
		}
	end();
}

static void test_nothing_there(void **state)
{
	const struct srclines_place *p;
	char path[64] = "/tmp/kontend-srclines-XXXXXX";
	struct elfmake m = {0};
	int fd = mkstemp(path);

	(void)state;
	begin(srclines_worker_argv);
	assert_true(fd >= 0);
	close(fd);
	elfmake_file(&m, path);
	enum srclines_answer a = find_line(path, ELFMAKE_TEXT, &p);
	unlink(path);
	assert_true(a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT);
	assert_int_equal(find_line("/nonexistent/file", 0, &p), SRCLINES_NO_FILE);
	assert_string_equal(srclines_reason(SRCLINES_NO_INFO), "no debug information");
	end();
}

static void copy_with(const char *path, uint64_t offset, uint8_t byte)
{
	FILE *from = fopen(own_path(), "rb"), *to = fopen(path, "wb");

	assert_true(from && to);
	for (int c; (c = getc(from)) != EOF;)
		putc(c, to);
	assert_int_equal(fseek(to, (long)offset, SEEK_SET), 0);
	putc(byte, to);
	fclose(from);
	fclose(to);
}

/* A text without an end is found before any byte after it is read. */
static void test_unterminated(void **state)
{
	static const char why[] =
		"debug information damaged: a section is truncated or lacks its end";
	const struct srclines_place *p;
	char path[64] = "/tmp/kontend-srclines-XXXXXX";
	uintptr_t addr = where();
	struct elfimg e;

	(void)state;
	begin(srclines_worker_argv);
	own_place(addr);
	assert_int_equal(elfimg_open_fd(&e, open(own_path(), O_RDONLY | O_CLOEXEC)), 0);
	const struct elfimg_section *s = elfimg_find(&e, ".debug_str");
	assert_true(s && s->size);
	uint64_t last = s->offset + s->size - 1;
	elfimg_close(&e);
	close(mkstemp(path));
	copy_with(path, last, 'x');
	assert_int_equal(find_line(path, selfplace(addr) - 1, &p), SRCLINES_DAMAGED);
	assert_string_equal(srclines_why(lines, object_of(path)), why);
	unlink(path);
	/* The process lives, and has other files. */
	own_place(addr - 1);
	end();
}

/* A process that does not do as it should: only what it was asked about suffers. */
static void check_bad(const char *const *argv, const char *why)
{
	const struct srclines_place *p;
	uintptr_t addr = where();
	uint64_t at = selfplace(addr) - 1;

	begin(argv);
	uint32_t object = object_of(own_path());
	enum srclines_answer a = find_line(own_path(), at, &p);
	if (a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT) {
		end();
		skip();
	}
	assert_int_equal(a, SRCLINES_DAMAGED);
	assert_string_equal(srclines_why(lines, object), why);
	/* It is not asked again. */
	assert_int_equal(ask_line(object, at + 1, &p), SRCLINES_DAMAGED);
	end();
}

static void test_dies(void **state)
{
	(void)state;
	check_bad(dies, "debug information damaged (worker ended by signal 11)");
}

static void test_lies(void **state)
{
	(void)state;
	check_bad(lies, "debug information damaged (worker sent an unexpected answer)");
}

static void test_mumbles(void **state)
{
	(void)state;
	check_bad(mumbles, "debug information damaged (worker ended by signal 9)");
}

/* File by file, until there have been too many. */
static void test_restarts(void **state)
{
	char path[512], other[1024];
	const struct srclines_place *p;
	enum srclines_answer a = SRCLINES_DAMAGED;
	unsigned n = 0;

	(void)state;
	begin(dies);
	snprintf(path, sizeof(path), "%s", own_path());
	for (int i = 0; i < 12 && a == SRCLINES_DAMAGED; i++, n++) {
		snprintf(other, sizeof(other), "%.*s%.*s%s", (int)(strrchr(path, '/') - path), path,
			 2 * i, "/././././././././././././", strrchr(path, '/'));
		a = find_line(other, selfplace((uintptr_t)where), &p);
	}
	if (a != SRCLINES_NO_INFO && a != SRCLINES_NOT_BUILT) {
		assert_int_equal(a, SRCLINES_GIVEN_UP);
		assert_int_equal(n, 6);
	}
	end();
}

/* Nor does a process that gets a signal to end which it has blocked. */
static void test_signals_end_waiting(void **state)
{
	const struct timespec none = {0, 0};
	const struct srclines_place *p;
	uint64_t at = selfplace((uintptr_t)where);
	sigset_t term, before;

	(void)state;
	begin(sleeps);
	uint32_t object = object_of(own_path());
	ask_line(object, at, &p);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
	raise(SIGTERM);
	/* Without the signal it would take five minutes. */
	srclines_wait(lines, LONG_NS);
	assert_int_equal(sigtimedwait(&term, NULL, &none), SIGTERM);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	enum srclines_answer a = ask_line(object, at, &p);
	assert_true(a == SRCLINES_TOO_LONG || a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT);
	end();
}

/* Drawing continues, a caller that waits does so up to a bound, and ending does not wait for it. */
static void test_sleeps(void **state)
{
	const struct srclines_place *p;
	uint32_t object;
	bool changed = false;

	(void)state;
	begin(sleeps);
	object = object_of(own_path());
	uint64_t at = selfplace((uintptr_t)where);
	enum srclines_answer a = ask_line(object, at, &p);
	while (a == SRCLINES_PENDING && srclines_pump(lines, 1000000, &changed))
		;
	a = ask_line(object, at, &p);
	if (a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT) {
		end();
		skip();
	}
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(ask_line(object, at + (uint64_t)i, &p), SRCLINES_PENDING);
		assert_false(srclines_pump(lines, 1000000, &changed));
	}
	assert_true(srclines_fd(lines) >= 0);
	assert_true(srclines_wait(lines, 20000000));
	assert_int_equal(ask_line(object, at, &p), SRCLINES_TOO_LONG);
	end();
}

static void test_nobody(void **state)
{
	const struct srclines_place *p;

	(void)state;
	begin(NULL);
	enum srclines_answer a = find_line(own_path(), selfplace((uintptr_t)where), &p);
	assert_true(a == SRCLINES_GIVEN_UP || a == SRCLINES_NOT_BUILT);
	end();
}

/* Actions of the other process when it does not behave. */
static int misbehave(const char *how)
{
	static uint8_t bytes[SRCLINES_MSG_MOST];
	static struct srclines_msg m = {
		.kind = SRCLINES_MSG_PLACE, .answer = SRCLINES_NO_LINE, .addr = 1};
	ssize_t n = recv(SRCLINES_FD, bytes, sizeof(bytes), 0);

	if (n <= 0)
		return 1;
	if (!strcmp(how, "--dies")) {
		prctl(PR_SET_DUMPABLE, 0);
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	while (!strcmp(how, "--sleeps"))
		sleep(1000);
	size_t len = !strcmp(how, "--lies") ? srclines_msg_put(bytes, &m) : 7;
	send(SRCLINES_FD, bytes, len, MSG_NOSIGNAL);
	sleep(1000);
	return 0;
}

static const struct srclines_place *place_of_directive(uint32_t *ret_line);

static void test_directive(void **state)
{
	uint32_t line = 0;

	(void)state;
	begin(srclines_worker_argv);
	const struct srclines_place *p = place_of_directive(&line);
	assert_string_equal(p->frames[0].function, "place_of_directive");
	assert_string_equal(p->frames[0].file, "/made/up/source.c");
	assert_int_equal(p->frames[0].line, line);
	assert_int_equal(line, 40000);
	end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_places_are_bounded),
		cmocka_unit_test(test_many_places),
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_unterminated),
		cmocka_unit_test(test_directive),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_mumbles),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_signals_end_waiting),
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_nobody),
	};

	if (argc > 1 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	return argc > 1 ? misbehave(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}

/* The lines that follow are marked as from elsewhere. */
__attribute__((noinline)) static const struct srclines_place *place_of_directive(uint32_t *ret_line)
{
	*ret_line = 40000;
#line 40000 "/made/up/source.c"
	uintptr_t addr = where();
	return own_place(addr);
}
