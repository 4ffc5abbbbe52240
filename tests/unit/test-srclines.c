// SPDX-License-Identifier: GPL-2.0-only
/* Lines and inlined functions of this program, which knows where it is. */
#include "elfmake.h"
#include "kontend/mem.h"
#include "kontend/srclines.h"
#include "selfplace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct usersyms *files;
static struct srclines *lines;

static int begin(void **state)
{
	struct usersyms_config c = {.same_machine = true};

	(void)state;
	assert_int_equal(usersyms_new(&files, &c, NULL), 0);
	return srclines_new(&lines, files, NULL);
}

static int end(void **state)
{
	(void)state;
	srclines_free(lines);
	usersyms_free(files);
	return mem_live() ? 1 : 0;
}

static enum srclines_answer find(const char *path, uint64_t offset,
				 const struct srclines_place **ret)
{
	uint32_t object;

	assert_int_equal(usersyms_object(files, path, NULL, 0, 0, &object), 0);
	enum srclines_answer a = srclines_find(lines, object, offset, ret);
	if (a != SRCLINES_PENDING)
		return a;
	srclines_wait(lines);
	assert_true(srclines_changed(lines));
	assert_false(srclines_changed(lines));
	return srclines_find(lines, object, offset, ret);
}

static const struct srclines_place *own_place(uintptr_t addr)
{
	const struct srclines_place *p = NULL;
	char path[512];
	enum srclines_answer a = find(selfplace_path(path, sizeof(path)), selfplace(addr) - 1, &p);

	if (a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT) {
		printf("%s\n", srclines_reason(a));
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

	return strcmp(slash ? slash + 1 : path, "test-srclines.c") == 0;
}

static void test_line(void **state)
{
	(void)state;
	uintptr_t addr = where();
	uint32_t line = __LINE__ - 1;
	const struct srclines_place *p = own_place(addr);
	assert_int_equal(p->n, 1);
	assert_string_equal(p->frames[0].function, "test_line");
	assert_true(is_this_file(p->frames[0].file));
	assert_int_equal(p->frames[0].line, line);
}

static void test_inlined(void **state)
{
	uint32_t at[3];

	(void)state;
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
}

static void test_nothing_there(void **state)
{
	const struct srclines_place *p;
	char path[64] = "/tmp/kontend-srclines-XXXXXX";
	struct elfmake m = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	elfmake_file(&m, path);
	enum srclines_answer a = find(path, ELFMAKE_TEXT, &p);
	unlink(path);
	assert_true(a == SRCLINES_NO_INFO || a == SRCLINES_NOT_BUILT);
	if (a == SRCLINES_NO_INFO)
		assert_int_equal(find("/nonexistent/file", 0, &p), SRCLINES_NO_FILE);
	assert_string_equal(srclines_reason(SRCLINES_NO_INFO), "no debug information");
}

/* More than one file at a time is open for, and asked in one go. */
static void test_many(void **state)
{
	char path[512], other[540];
	const struct srclines_place *p;

	(void)state;
	uintptr_t addr = where();
	const struct srclines_place *own = own_place(addr);
	selfplace_path(path, sizeof(path));
	for (int i = 0; i < 8; i++) {
		snprintf(other, sizeof(other), "%.*s/./%s", (int)(strrchr(path, '/') - path), path,
			 strrchr(path, '/') + 1);
		memmove(path, other, strlen(other) + 1 < sizeof(path) ? strlen(other) + 1 : 1);
		assert_int_equal(find(path, selfplace(addr) - 1, &p), SRCLINES_OK);
		assert_int_equal(p->frames[0].line, own->frames[0].line);
	}
	assert_ptr_equal(own_place(addr), own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
