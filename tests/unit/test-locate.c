// SPDX-License-Identifier: GPL-2.0-only
/* Looks for functions of its own in its own file. */
#include "kontend/binary.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

int locate_other(int x);
int locate_whole(int x);
extern int locate_number;
int locate_number = 5;

static __attribute__((noinline)) int locate_twice(int x)
{
	return x * 3 + locate_number;
}

__attribute__((noinline)) int locate_whole(int x)
{
	return locate_twice(x) + locate_other(x);
}

static struct binary *open_self(void)
{
	struct binary *b;

	assert_int_equal(binary_open(&b, "/proc/self/exe", NULL), 0);
	return b;
}

static void a_function(void **state)
{
	struct binary *b = open_self();
	uint64_t offset = 0, more = 0;
	uint8_t bytes[8];

	(void)state;
	assert_int_equal(binary_locate(b, "x", "locate_whole", 0, &offset, NULL), 0);
	assert_int_equal(binary_locate(b, "x", "locate_whole", 4, &more, NULL), 0);
	assert_int_equal(more, offset + 4);
	assert_true(binary_is_code(b, offset));
	assert_int_equal(binary_read(b, offset, bytes, sizeof(bytes)), sizeof(bytes));
	assert_memory_equal(bytes, (const void *)(uintptr_t)locate_whole, sizeof(bytes));
	binary_close(b);
}

static void refused(const char *name, uint64_t into, int code, const char *words)
{
	struct binary *b = open_self();
	struct error err = {0};
	uint64_t offset;

	assert_int_equal(binary_locate(b, "x", name, into, &offset, &err), code);
	if (!strstr(err.text, words))
		fail_msg("%s: %s", words, err.text);
	binary_close(b);
}

static void no_functions(void **state)
{
	(void)state;
	refused("locate_whale", 0, -ENOENT, "did you mean locate_whole");
	refused("quite_another", 0, -ENOENT, "no function 'quite_another'; or give");
	refused("locate_whole", 100000, -EINVAL, "outside of the function");
	refused("locate_number", 0, -EINVAL, "a variable");
	refused("locate_twice", 0, -EINVAL, "more than one function");
}

static void no_code(void **state)
{
	struct binary *b = open_self();

	(void)state;
	assert_false(binary_is_code(b, 0x10));
	assert_false(binary_is_code(b, UINT64_MAX));
	binary_close(b);
}

/* Each beginning of a file is refused, or read without what lies beyond its end. */
static void a_file_that_was_cut(void **state)
{
	static uint8_t whole[1 << 20];
	struct error err = {0};
	char path[64], name[64];
	uint64_t into;
	bool debug;
	FILE *self = fopen("/proc/self/exe", "re");
	int fd = memfd_create("cut", MFD_CLOEXEC);

	(void)state;
	assert_non_null(self);
	size_t n = fread(whole, 1, sizeof(whole), self);
	fclose(self);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t len = 0, opened = 0; len <= n; len += len < 256 ? 1 : 997) {
		struct binary *b = NULL;

		assert_int_equal(pwrite(fd, whole, len, 0), len);
		int code = binary_open(&b, path, &err);
		assert_true(code == 0 || code == -ENOTSUP);
		opened += code == 0;
		assert_true(len >= 64 || !opened);
		if (code == 0)
			binary_symbol(b, len / 2, name, sizeof(name), &into, &debug);
		binary_close(b);
	}
	assert_non_null(strstr(err.text, "is not an ELF file"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function),
		cmocka_unit_test(no_functions),
		cmocka_unit_test(no_code),
		cmocka_unit_test(a_file_that_was_cut),
	};

	if (locate_whole(1) == 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
