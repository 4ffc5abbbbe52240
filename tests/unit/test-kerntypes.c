// SPDX-License-Identifier: GPL-2.0-only
/*
 * The excerpt of the kernel's types gives programs the same answers as the whole: names, sizes and
 * places of members, and of their members.
 */
#include "btf/types.h"

#include <bpf/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct kerntypes *types;
static const struct btf *kernel;

/* Programs that know @name, parsed from what is written for them. NULL: it could not be made. */
static struct btf *excerpt_for(const char *name)
{
	struct btf *programs = btf__new_empty();
	char path[40];
	int fd = memfd_create("excerpt", MFD_CLOEXEC);

	assert_non_null(programs);
	assert_true(fd >= 0);
	assert_true(btf__add_struct(programs, name, 8) > 0);
	assert_int_equal(kerntypes_excerpt(types, programs, fd), 0);
	btf__free(programs);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct btf *btf = btf__parse(path, NULL);
	close(fd);
	return btf;
}

/* Both say the same of the type; pointers lead nowhere in the excerpt. */
static void compare(const struct btf *part, uint32_t a, uint32_t b, unsigned depth)
{
	const struct btf_type *x = btf__type_by_id(part, a), *y = btf__type_by_id(kernel, b);

	assert_int_equal(btf_kind(x), btf_kind(y));
	assert_string_equal(btf__name_by_offset(part, x->name_off),
			    btf__name_by_offset(kernel, y->name_off));
	if (btf_is_ptr(x))
		assert_int_equal(x->type, 0);
	if (btf_is_ptr(x) || !a || depth > 12)
		return;
	assert_true(btf__resolve_size(part, a) == btf__resolve_size(kernel, b));
	if (btf_is_mod(x) || btf_is_typedef(x))
		compare(part, x->type, y->type, depth + 1);
	if (btf_is_array(x)) {
		assert_int_equal(btf_array(x)->nelems, btf_array(y)->nelems);
		compare(part, btf_array(x)->type, btf_array(y)->type, depth + 1);
	}
	for (uint32_t i = 0; btf_is_composite(x) && i < btf_vlen(x); i++) {
		const struct btf_member *m = btf_members(x) + i, *n = btf_members(y) + i;
		assert_string_equal(btf__name_by_offset(part, m->name_off),
				    btf__name_by_offset(kernel, n->name_off));
		assert_int_equal(m->offset, n->offset);
		compare(part, m->type, n->type, depth + 1);
	}
}

static void test_same(void **state)
{
	struct btf *part = excerpt_for("task_struct___of_some_kernel");

	(void)state;
	assert_non_null(part);
	int id = btf__find_by_name_kind(part, "task_struct", BTF_KIND_STRUCT);
	int whole = btf__find_by_name_kind(kernel, "task_struct", BTF_KIND_STRUCT);
	assert_true(id > 0 && whole > 0);
	assert_true(btf_vlen(btf__type_by_id(part, (uint32_t)id)) > 50);
	assert_int_equal(btf_vlen(btf__type_by_id(part, (uint32_t)id)),
			 btf_vlen(btf__type_by_id(kernel, (uint32_t)whole)));
	compare(part, (uint32_t)id, (uint32_t)whole, 0);
	assert_true(btf__type_cnt(part) < btf__type_cnt(kernel) / 10);
	/* Members inside of it exist, the target of its pointer does not. */
	assert_true(btf__find_by_name_kind(part, "list_head", BTF_KIND_STRUCT) > 0);
	assert_true(btf__find_by_name_kind(part, "super_block", BTF_KIND_STRUCT) < 0);
	btf__free(part);
}

/* All types of a name are there, whatever they are. */
static void test_all(void **state)
{
	struct btf *part = excerpt_for("file");
	uint32_t here = 0, there = 0;

	(void)state;
	assert_non_null(part);
	for (uint32_t id = 1; id < btf__type_cnt(part); id++) {
		const struct btf_type *t = btf__type_by_id(part, id);
		here += btf_is_composite(t) &&
			!strcmp(btf__name_by_offset(part, t->name_off), "file");
	}
	for (uint32_t id = 1; id < btf__type_cnt(kernel); id++) {
		const struct btf_type *t = btf__type_by_id(kernel, id);
		there += btf_is_composite(t) &&
			 !strcmp(btf__name_by_offset(kernel, t->name_off), "file");
	}
	assert_true(here > 0);
	assert_int_equal(here, there);
	btf__free(part);
}

/* Members of a struct, and of one without a name inside it; a type alone. */
static void test_has(void **state)
{
	(void)state;
	assert_int_equal(kerntypes_has(types, "task_struct", NULL), 1);
	assert_int_equal(kerntypes_has(types, "task_struct", "comm"), 1);
	assert_int_equal(kerntypes_has(types, "task_struct", "no_such_member"), 0);
	assert_int_equal(kerntypes_has(types, "mm_struct", "mmap_lock"), 1); /* without a name */
	assert_int_equal(kerntypes_has(types, "no_such_structure_anywhere", NULL), 0);
	assert_int_equal(kerntypes_has(types, "no_such_structure_anywhere", "comm"), 0);
}

static void test_none(void **state)
{
	struct btf *part = excerpt_for("no_such_structure_anywhere");

	(void)state;
	assert_non_null(part);
	assert_int_equal(btf__type_cnt(part), 1);
	btf__free(part);
	assert_true(kerntypes_find(types, "bpf_no_such_function", BTF_KIND_FUNC) < 0);
}

/* By the index all is found that libbpf finds by going through everything. */
static void test_find(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} some[] = {{"bpf_iter_task", BTF_KIND_FUNC},
		    {".data..percpu", BTF_KIND_DATASEC},
		    {"task_struct", BTF_KIND_STRUCT},
		    {"task_struct", BTF_KIND_UNION},
		    {"int", BTF_KIND_INT},
		    {"u64", BTF_KIND_TYPEDEF},
		    {"bpf_no_such_function", BTF_KIND_FUNC}};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		assert_int_equal(kerntypes_find(types, some[i].name, some[i].kind),
				 btf__find_by_name_kind(kernel, some[i].name, some[i].kind));
	uint32_t n = 0;
	for (uint32_t id = 1; id < btf__type_cnt(kernel); id++) {
		const struct btf_type *t = btf__type_by_id(kernel, id);
		const char *name = btf__name_by_offset(kernel, t->name_off);
		/* Of several of one name the first one is found. */
		if (btf_is_struct(t) && *name) {
			int found = kerntypes_find(types, name, BTF_KIND_STRUCT);
			assert_true(found > 0 && (uint32_t)found <= id);
			n++;
		}
	}
	assert_true(n > 1000);
}

static void test_enumerators(void **state)
{
	(void)state;
	assert_int_equal(kerntypes_enumerator(types, "BPF_MAP_TYPE_ARRAY"), 2);
	assert_int_equal(kerntypes_enumerator(types, "NO_SUCH_ENUMERATOR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same), cmocka_unit_test(test_all),
		cmocka_unit_test(test_has),  cmocka_unit_test(test_none),
		cmocka_unit_test(test_find), cmocka_unit_test(test_enumerators),
	};
	struct error err = {0};

	if (kerntypes_new(&types, &err) == 0)
		kernel = kerntypes_btf(types, &err);
	if (!kernel) {
		printf("skipped: %s\n", err.text);
		kerntypes_free(types);
		return 77;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	kerntypes_free(types);
	return failed;
}
