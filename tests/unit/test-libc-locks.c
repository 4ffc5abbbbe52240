// SPDX-License-Identifier: GPL-2.0-only
/* Locks of the C library in made-up memory: streams and arenas as they are, and as they are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/runtimes/internal.h"
#include "proc-tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4, PID = 700, NUMBER_AT = 720, LOCK_SIZE = 16, STREAM = 0xe0 };
/* Pages of the memory: the library, the heaps of two arenas, and a thread. */
static const uint64_t page_at[PAGES] = {0x7f0000000000, 0x7e0000000000, 0x7e0004000000,
					0x7d0000000000};
static const uint64_t heap_1 = 0x7e0000000000, heap_2 = 0x7e0004000000, thread = 0x7d0000000000;
static const uint64_t streams = 0x7f0000000000, locks = 0x7f0000000400, arena_0 = 0x7f0000000600;
static const uint64_t opened = 0x7e0000000a00; /* a stream of fopen() */
enum { STDIN, STDOUT, STDERR, NUMBER };

static uint8_t memory[PAGES][PAGE];

static uint8_t *find_byte(uint64_t addr, size_t n)
{
	for (size_t i = 0; i < PAGES; i++)
		if (addr >= page_at[i] && addr - page_at[i] < PAGE &&
		    n <= PAGE - (addr - page_at[i]))
			return &memory[i][addr - page_at[i]];
	return NULL;
}

static bool read_memory(void *arg, uint64_t addr, void *ret, size_t n)
{
	const uint8_t *at = find_byte(addr, n);

	(void)arg;
	if (at)
		memcpy(ret, at, n);
	return at;
}

static void put_u64(uint64_t addr, uint64_t v)
{
	uint8_t *at = find_byte(addr, sizeof(v));

	assert_non_null(at);
	if (at)
		memcpy(at, &v, sizeof(v));
}

static void put_u32(uint64_t addr, uint32_t v)
{
	uint8_t *at = find_byte(addr, sizeof(v));

	assert_non_null(at);
	if (at)
		memcpy(at, &v, sizeof(v));
}

static void put_stream(uint64_t at, uint32_t fd, uint64_t lock)
{
	put_u32(at, 0xfbad2a84);
	put_u32(at + 0x70, fd);
	put_u64(at + 0x88, lock);
}

/* The ring of arenas: that of the library, the newest, the oldest. */
static void make(void)
{
	memset(memory, 0, sizeof(memory));
	for (unsigned i = 0; i < 3; i++)
		put_stream(streams + i * STREAM, i, locks + i * LOCK_SIZE);
	put_stream(opened, 9, opened + STREAM);
	put_u64(arena_0 + 2160, heap_2 + 0x30);
	put_u64(heap_2 + 0x30 + 2160, heap_1 + 0x30);
	put_u64(heap_1 + 0x30 + 2160, arena_0);
	put_u64(heap_1, heap_1 + 0x30);
	put_u64(heap_2, heap_2 + 0x30);
	put_u32(streams + 0x380, 32);
	put_u32(streams + 0x384, 1);
	put_u32(streams + 0x388, NUMBER_AT);
	put_u32(thread + NUMBER_AT, 702);
}

static bool name(uint64_t addr, struct runtime_lock *ret)
{
	const struct runtime_process p = {.proc = tree_root, .pid = PID, .read = read_memory};
	struct runtime t = {
		.type = &runtime_libc,
		.symbols = {streams, streams + STREAM, streams + 2 * STREAM, streams + 0x380}};

	*ret = (struct runtime_lock){.class = FUTEXCLASS_LOCK};
	return runtime_libc.open(&p, &t) && runtime_libc.name(&p, &t, addr, ret);
}

static void check(uint64_t addr, const char *wanted, uint32_t owner)
{
	struct runtime_lock l;

	assert_true(name(addr, &l));
	assert_string_equal(l.name, wanted);
	assert_int_equal(l.owner, owner);
}

static void a_stream_has_the_name_of_its_file(void **state)
{
	char path[256];

	(void)state;
	make();
	check(locks, "FILE stdin", 0);
	check(locks + LOCK_SIZE, "FILE stdout", 0);
	check(locks + 2 * LOCK_SIZE, "FILE stderr", 0);
	check(opened + STREAM, "FILE 9", 0);
	snprintf(path, sizeof(path), "%d/fd/1", PID); /* makes the folder */
	tree_file(path, "");
	snprintf(path, sizeof(path), "%s/%d/fd/9", tree_root, PID);
	assert_int_equal(symlink("/srv/log", path), 0);
	check(opened + STREAM, "FILE /srv/log", 0);
	put_u32(opened + 0x70, UINT32_MAX);
	check(opened + STREAM, "FILE", 0);
}

static void the_owner_of_a_stream_has_its_number(void **state)
{
	(void)state;
	make();
	put_u32(locks + 4, 1);
	put_u64(locks + 8, thread);
	check(locks, "FILE stdin", 702);
	put_u64(locks + 8, thread + 1);
	check(locks, "FILE stdin", 0);
	put_u64(locks + 8, UINT64_MAX - 719);
	check(locks, "FILE stdin", 0);
	put_u64(locks + 8, thread);
	put_u32(locks + 4, 0); /* as newer versions have it */
	check(locks, "FILE stdin", 702);
	put_u64(locks + 8, 0); /* it was released */
	check(locks, "FILE stdin", 0);
	put_u64(locks + 8, thread);
	put_u32(streams + 0x384, 2); /* not a number, but several */
	check(locks, "FILE stdin", 0);
}

static void arenas_are_counted_from_the_oldest(void **state)
{
	(void)state;
	make();
	check(arena_0, "malloc main arena", 0);
	check(heap_1 + 0x30, "malloc arena 1", 0);
	check(heap_2 + 0x30, "malloc arena 2", 0);
}

static void what_is_no_such_lock_has_no_name(void **state)
{
	struct runtime_lock l;

	(void)state;
	make();
	assert_false(name(locks + 8, &l));
	assert_false(name(UINT64_MAX - 7, &l));
	assert_false(name(8, &l));
	assert_false(name(heap_1 + 0x38, &l));
	/* The heap is that of another arena; the ring leads elsewhere, or past its begin. */
	put_u64(heap_1, heap_2 + 0x30);
	assert_false(name(heap_1 + 0x30, &l));
	assert_false(name(heap_2 + 0x30, &l));
	make();
	put_u64(heap_1 + 0x30 + 2160, UINT64_MAX - 7);
	assert_false(name(heap_2 + 0x30, &l));
	make();
	put_u64(heap_1 + 0x30 + 2160, heap_1 + 0x30);
	assert_false(name(heap_2 + 0x30, &l));
	assert_false(name(heap_1 + 0x30, &l));
	/* No stream. */
	put_u32(streams, 0xfbac2a84);
	assert_false(name(locks, &l));
	put_u64(opened + 0x88, opened + STREAM + 8);
	assert_false(name(opened + STREAM, &l));
}

#define IN_TREE(TEST) cmocka_unit_test_setup_teardown(TEST, tree_set_up, tree_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_stream_has_the_name_of_its_file),
		IN_TREE(the_owner_of_a_stream_has_its_number),
		IN_TREE(arenas_are_counted_from_the_oldest),
		IN_TREE(what_is_no_such_lock_has_no_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
