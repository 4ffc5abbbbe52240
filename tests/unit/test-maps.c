// SPDX-License-Identifier: GPL-2.0-only
/* Address spaces: overlapping mappings and shared spaces, against a map of single pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/maps.h"
#include "kontend/mem.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64, BASE = 100 };

static int map(struct map_spaces *s, int pid, uint64_t page, uint64_t n, uint64_t pgoff,
	       const char *path)
{
	struct event ev = {.kind = EVENT_MMAP, .pid = pid, .tid = pid};

	ev.mmap.start = page * PAGE;
	ev.mmap.len = n * PAGE;
	ev.mmap.pgoff = pgoff * PAGE;
	ev.mmap.path = path;
	ev.mmap.ino = path[0] == '/' && path[1] != '/' ? 5 : 0;
	return map_spaces_add(s, &ev);
}

static uint64_t at(const struct map_spaces *s, int pid, uint64_t addr)
{
	return map_space_frame(map_spaces_of(s, pid), addr);
}

static const char *path_at(const struct map_spaces *s, int pid, uint64_t addr)
{
	const struct map_object *o = map_object_get(s->objects, map_frame_object(at(s, pid, addr)));

	return o ? o->path : NULL;
}

static void an_address_is_an_offset_in_its_file(void **state)
{
	struct map_spaces s;

	(void)state;
	assert_int_equal(map_spaces_init(&s), 0);
	assert_int_equal(map(&s, 1, 100, 4, 10, "/bin/a"), 0);
	assert_int_equal(map(&s, 1, 200, 1, 0, "[vdso]"), 0);
	assert_string_equal(path_at(&s, 1, 101 * PAGE + 7), "/bin/a");
	assert_int_equal(map_frame_offset(at(&s, 1, 101 * PAGE + 7)), 11 * PAGE + 7);
	assert_string_equal(path_at(&s, 1, 200 * PAGE), "[vdso]");
	assert_null(path_at(&s, 1, 104 * PAGE));
	assert_null(path_at(&s, 1, 99 * PAGE + 4095));
	assert_int_equal(at(&s, 1, 104 * PAGE), 104 * PAGE);
	assert_null(path_at(&s, 2, 101 * PAGE));
	map_spaces_deinit(&s);
}

static void memory_without_file_is_its_process_s(void **state)
{
	struct map_spaces s;

	(void)state;
	assert_int_equal(map_spaces_init(&s), 0);
	map(&s, 1, 100, 4, 3, "//anon");
	map(&s, 2, 100, 4, 3, "//anon");
	map(&s, 1, 300, 4, 0, "/bin/a");
	map(&s, 2, 500, 4, 0, "/bin/a");
	assert_int_not_equal(map_frame_object(at(&s, 1, 100 * PAGE)),
			     map_frame_object(at(&s, 2, 100 * PAGE)));
	assert_int_equal(map_frame_offset(at(&s, 1, 101 * PAGE)), 101 * PAGE);
	assert_int_equal(at(&s, 1, 300 * PAGE), at(&s, 2, 500 * PAGE));
	map_spaces_deinit(&s);
}

/* The same place among those that were found lately, and the same inode with another name. */
static void files_are_told_apart(void **state)
{
	static const struct {
		const char *path;
		uint64_t ino;
		uint32_t min;
	} files[] = {{"/a", 5, 0},
		     {"/b", 5, 0},
		     {"/a", 5, 1},
		     {"/a", 5 | 5 << 6 | 1 << 7, 0},
		     {"/mem", 5, 0}};
	enum { FILES = sizeof(files) / sizeof(files[0]) };
	uint32_t first[FILES];
	struct map_spaces s;

	(void)state;
	assert_int_equal(map_spaces_init(&s), 0);
	for (int i = 0; i < 3 * FILES; i++) {
		int k = i % FILES;
		struct event ev = {.kind = EVENT_MMAP, .pid = i + 1, .tid = i + 1};

		ev.mmap.start = PAGE;
		ev.mmap.len = PAGE;
		ev.mmap.path = files[k].path;
		ev.mmap.ino = files[k].ino;
		ev.mmap.min = files[k].min;
		assert_int_equal(map_spaces_add(&s, &ev), 0);
		uint32_t object = map_frame_object(at(&s, i + 1, PAGE));
		if (i == k)
			first[k] = object;
		assert_int_equal(object, first[k]);
		for (int j = 0; j < k; j++)
			assert_int_not_equal(object, first[j]);
	}
	assert_int_equal(s.objects->n, 1 + FILES);
	map_spaces_deinit(&s);
}

static void a_child_has_what_its_parent_had(void **state)
{
	struct map_spaces s, copy;

	(void)state;
	assert_int_equal(map_spaces_init(&s), 0);
	map(&s, 1, 100, 4, 0, "/bin/a");
	assert_int_equal(map_spaces_fork(&s, 2, 1), 0);
	assert_int_equal(map_spaces_copy(&copy, &s), 0);
	map(&s, 2, 100, 4, 0, "/bin/b");
	assert_string_equal(path_at(&s, 1, 100 * PAGE), "/bin/a");
	assert_string_equal(path_at(&s, 2, 100 * PAGE), "/bin/b");
	assert_string_equal(path_at(&copy, 2, 100 * PAGE), "/bin/a");
	map_spaces_clear(&s, 1);
	assert_null(path_at(&s, 1, 100 * PAGE));
	assert_string_equal(path_at(&copy, 1, 100 * PAGE), "/bin/a");
	assert_int_equal(map_spaces_fork(&s, 3, 2), 0);
	assert_int_equal(s.n, 2);
	map_spaces_deinit(&s);
	map_spaces_deinit(&copy);
}

static uint64_t below(uint32_t *seed, uint64_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

/* A mapping replaces what it overlaps, page by page; ranges stay sorted and do not overlap. */
static void the_latest_mapping_counts(void **state)
{
	uint64_t object[PAGES] = {0}, offset[PAGES] = {0};
	uint32_t seed = 20;
	struct map_spaces s;
	char path[16];

	(void)state;
	assert_int_equal(map_spaces_init(&s), 0);
	for (int i = 0; i < 2000; i++) {
		uint64_t from = below(&seed, PAGES), n = 1 + below(&seed, PAGES - from);
		uint64_t pgoff = below(&seed, 1000);
		snprintf(path, sizeof(path), "/lib/%d", (int)below(&seed, 5));
		assert_int_equal(map(&s, 9, BASE + from, n, pgoff, path), 0);
		for (uint64_t k = 0; k < n; k++) {
			object[from + k] = path[5];
			offset[from + k] = (pgoff + k) * PAGE;
		}
		for (uint64_t k = 0; k < PAGES; k++) {
			const char *name = path_at(&s, 9, (BASE + k) * PAGE);
			assert_int_equal(name ? name[5] : 0, object[k]);
			if (name)
				assert_int_equal(map_frame_offset(at(&s, 9, (BASE + k) * PAGE)),
						 offset[k]);
		}
		const struct map_space *space = map_spaces_of(&s, 9);
		for (size_t k = 1; k < space->n; k++)
			assert_true(space->ranges[k - 1].end <= space->ranges[k].start);
		assert_true(space->n <= PAGES);
	}
	map_spaces_deinit(&s);
}

static int use_all(struct map_spaces *s, struct map_spaces *copy)
{
	int r = map_spaces_init(s);

	r = r ? r : map(s, 1, 100, 10, 0, "/bin/a");
	r = r ? r : map(s, 1, 103, 2, 0, "/bin/b");
	r = r ? r : map_spaces_fork(s, 2, 1);
	r = r ? r : map(s, 2, 50, 2, 0, "//anon");
	return r ? r : map_spaces_copy(copy, s);
}

static void every_allocation_may_fail(void **state)
{
	long live = mem_live();

	(void)state;
	for (long n = 0;; n++) {
		struct map_spaces s = {0}, copy = {0};
		mem_fail_after(n);
		int r = use_all(&s, &copy);
		mem_fail_after(-1);
		map_spaces_deinit(&s);
		map_spaces_deinit(&copy);
		assert_int_equal(mem_live(), live);
		if (r == 0 && n > 20)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_an_offset_in_its_file),
		cmocka_unit_test(memory_without_file_is_its_process_s),
		cmocka_unit_test(files_are_told_apart),
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(the_latest_mapping_counts),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
