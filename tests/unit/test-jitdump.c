// SPDX-License-Identifier: GPL-2.0-only
/* Dumps of compilers, made here byte by byte: names, moves, what is not whole yet, damage. */
#include "kontend/usersyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { HEADER = 40, LOAD = 56, MOVE = 64 };

struct dump {
	char path[64];
	int fd;
	struct usersyms *u;
};

static void write_bytes(const struct dump *d, const void *p, size_t n)
{
	assert_int_equal(write(d->fd, p, n), n);
}

static void put_header(const struct dump *d, uint32_t magic, uint32_t version, uint32_t len)
{
	uint32_t h[HEADER / 4] = {magic, version, len, 62, 0, (uint32_t)getpid()};

	write_bytes(d, h, sizeof(h));
}

/* A function whose bytes are @code; @len of the record 0: as it has to be. */
static void put_load(const struct dump *d, uint64_t addr, uint64_t index, const char *name,
		     const char *code, uint32_t len)
{
	size_t n = strlen(name) + 1, size = strlen(code);
	uint64_t h[LOAD / 8] = {0, 1, 0, addr, addr, size, index};

	h[0] = (uint64_t)(len ? len : LOAD + n + size) << 32;
	write_bytes(d, h, sizeof(h));
	write_bytes(d, name, n);
	write_bytes(d, code, size);
}

static void put_move(const struct dump *d, uint64_t from, uint64_t to, uint64_t size,
		     uint64_t index)
{
	uint64_t h[MOVE / 8] = {1 | (uint64_t)MOVE << 32, 2, 0, from, from, to, size, index};

	write_bytes(d, h, sizeof(h));
}

static void put_other(const struct dump *d, uint32_t kind, uint32_t len)
{
	char bytes[256] = {0};

	memcpy(bytes, &kind, sizeof(kind));
	memcpy(bytes + 4, &len, sizeof(len));
	write_bytes(d, bytes, len < 16 ? 16 : len);
}

static int set_up(void **state)
{
	static struct dump d;
	struct usersyms_config c = {.same_machine = true, .jit_pause_ns = 1};

	strcpy(d.path, "/tmp/kontend-jit-XXXXXX");
	d.fd = mkstemp(d.path);
	assert_true(d.fd >= 0);
	assert_int_equal(usersyms_new(&d.u, &c, NULL), 0);
	assert_int_equal(usersyms_jitdump(d.u, getpid(), d.path), 0);
	*state = &d;
	return 0;
}

static int tear_down(void **state)
{
	struct dump *d = *state;

	usersyms_free(d->u);
	close(d->fd);
	unlink(d->path);
	return 0;
}

static void load(const struct dump *d)
{
	bool changed;

	while (usersyms_load_some(d->u, UINT64_MAX, &changed))
		;
}

/* The function at @addr after all has been read: its name, or the reason. */
static const char *name_at(const struct dump *d, uint64_t addr)
{
	struct usersym s;
	enum usersym_answer a = usersyms_lookup_jit(d->u, getpid(), addr, &s);

	load(d);
	a = usersyms_lookup_jit(d->u, getpid(), addr, &s);
	return a == USERSYM_OK ? s.name : usersym_reason(a);
}

static void test_names(void **state)
{
	struct dump *d = *state;
	const char *path = NULL;
	char bytes[32];
	struct usersym s;
	size_t n = 0;

	put_header(d, 0x4a695444, 1, HEADER);
	put_load(d, 0x10000, 1, "first", "0123456789", 0);
	put_other(d, 2, 64);
	put_load(d, 0x20000, 2, "second\n", "abcdefgh", 0);
	put_move(d, 0x20000, 0x30000, 8, 2);
	put_other(d, 3, 16);
	assert_string_equal(name_at(d, 0x10009), "first");
	assert_string_equal(name_at(d, 0x1000a), usersym_reason(USERSYM_NO_SYMBOL));
	assert_string_equal(name_at(d, 0x20000), "second?");
	assert_string_equal(name_at(d, 0x30007), "second?");
	assert_int_equal(usersyms_lookup_jit(d->u, getpid(), 0x30007, &s), USERSYM_OK);
	assert_int_equal(s.start, 0x30000);
	assert_int_equal(s.size, 8);
	assert_int_equal(
		usersyms_bytes_jit(d->u, getpid(), 0x10000, bytes, sizeof(bytes), &n, &path),
		USERSYM_OK);
	assert_int_equal(n, 10);
	assert_memory_equal(bytes, "0123456789", 10);
	assert_string_equal(path, d->path);
	assert_int_equal(usersyms_bytes_jit(d->u, getpid(), 0x30002, bytes, 3, &n, &path),
			 USERSYM_OK);
	assert_int_equal(n, 3);
	assert_memory_equal(bytes, "cde", 3);
	assert_int_equal(usersyms_bytes_jit(d->u, getpid(), 0x50000, bytes, 3, &n, &path),
			 USERSYM_MEMORY_GONE);
}

/* A function is compiled again at its place; what is half written is read when it is whole. */
static void test_growing(void **state)
{
	struct dump *d = *state;
	char bytes[8];
	const char *path;
	size_t n = 0;

	put_header(d, 0x4a695444, 1, HEADER);
	put_load(d, 0x10000, 1, "first", "0123", 0);
	put_load(d, 0x20000, 2, "half", "", LOAD + 5 + 4);
	assert_string_equal(name_at(d, 0x10000), "first");
	assert_string_equal(name_at(d, 0x20000), usersym_reason(USERSYM_NO_SYMBOL));
	write_bytes(d, "abcd", 4);
	put_load(d, 0x10000, 3, "again", "4567", 0);
	/* Its size is 0, so it is no function; the next record is read. */
	assert_string_equal(name_at(d, 0x20000), usersym_reason(USERSYM_NO_SYMBOL));
	assert_string_equal(name_at(d, 0x10001), "again");
	assert_int_equal(usersyms_bytes_jit(d->u, getpid(), 0x10000, bytes, 4, &n, &path),
			 USERSYM_OK);
	assert_memory_equal(bytes, "4567", 4);
}

/* The same process begins another dump. */
static void test_another(void **state)
{
	struct dump *d = *state;

	put_header(d, 0x4a695444, 1, HEADER);
	put_load(d, 0x10000, 1, "old", "0123", 0);
	assert_string_equal(name_at(d, 0x10000), "old");
	assert_int_equal(ftruncate(d->fd, 0), 0);
	assert_int_equal(lseek(d->fd, 0, SEEK_SET), 0);
	put_header(d, 0x4a695444, 1, HEADER);
	assert_string_equal(name_at(d, 0x20000), usersym_reason(USERSYM_NO_SYMBOL));
	put_load(d, 0x20000, 1, "new", "0123", 0);
	assert_string_equal(name_at(d, 0x20000), "new");
	assert_string_equal(name_at(d, 0x10000), usersym_reason(USERSYM_NO_SYMBOL));
}

static void test_no_dump(void **state)
{
	struct dump *d = *state;

	put_header(d, 0x4454694a, 1, HEADER);
	put_load(d, 0x10000, 1, "other endian", "0123", 0);
	assert_string_equal(name_at(d, 0x10000), usersym_reason(USERSYM_NOT_ELF));
}

static void test_other_version(void **state)
{
	struct dump *d = *state;

	put_header(d, 0x4a695444, 2, HEADER);
	put_load(d, 0x10000, 1, "newer", "0123", 0);
	assert_string_equal(name_at(d, 0x10000), usersym_reason(USERSYM_NOT_ELF));
}

/* Names read before the damage are kept; records after it are not read. */
static void test_damage(void **state)
{
	struct dump *d = *state;
	uint64_t endless[LOAD / 8] = {
		(uint64_t)(LOAD + 8) << 32, 1, 0, 0x20000, 0x20000, UINT64_MAX, 7};

	put_header(d, 0x4a695444, 1, HEADER);
	put_load(d, 0x10000, 1, "first", "0123", 0);
	/* Longer than an address space, and a name that does not end: both are passed over. */
	write_bytes(d, endless, sizeof(endless));
	write_bytes(d, "endless", 8);
	put_load(d, UINT64_MAX - 1, 2, "wraps", "0123", 0);
	put_move(d, 0x77777, 0x88888, 4, 9);
	put_load(d, 0x30000, 3, "third", "0123", 0);
	put_other(d, 0, 15);
	put_load(d, 0x40000, 4, "after", "0123", 0);
	assert_string_equal(name_at(d, 0x30000), "third");
	assert_string_equal(name_at(d, 0x10000), "first");
	assert_string_equal(name_at(d, 0x20000), usersym_reason(USERSYM_NOT_ELF));
	assert_string_equal(name_at(d, 0x40000), usersym_reason(USERSYM_NOT_ELF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_dump, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
