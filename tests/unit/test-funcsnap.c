// SPDX-License-Identifier: GPL-2.0-only
/* Names and code of functions, and build ids, as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/buildids.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

static const uint8_t code[] = {0x90, 0xc3};

static void make_funcsnap(struct funcsnap *s)
{
	struct funcsnap_object o = {
		.pid = 7, .maj = 8, .min = 1, .ino = 9, .id_len = 2, .id = "ab"};
	struct funcsnap_func f = {.start = 0x2000, .size = 0x10, .object = 1};

	o.path = funcsnap_add_text(s, "/opt/prog");
	assert_int_equal(funcsnap_add_object(s, &o), 1);
	f.name = funcsnap_add_text(s, "later");
	assert_int_equal(funcsnap_add_func(s, &f), 0);
	f = (struct funcsnap_func){.start = 0x1000, .size = 0x20, .object = 1};
	f.name = funcsnap_add_text(s, "first");
	assert_int_equal(funcsnap_add_code(s, &f, code, sizeof(code)), 0);
	assert_int_equal(funcsnap_add_func(s, &f), 0);
	f = (struct funcsnap_func){.start = 0xffffffff81000000};
	assert_int_equal(funcsnap_add_code(s, &f, code, 1), 0);
	assert_int_equal(funcsnap_add_func(s, &f), 0);
	s->head.left_code = 3;
	funcsnap_sort(s);
}

static char *bytes_of(const struct funcsnap *s, size_t *ret_len)
{
	*ret_len = funcsnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	funcsnap_encode(s, p);
	return p;
}

static const char *name_at(const struct funcsnap *s, uint32_t object, uint64_t at)
{
	const struct funcsnap_func *f = funcsnap_find(s, object, at);

	return f ? funcsnap_text(s, f->name) : "-";
}

static void there_and_back(void **state)
{
	struct funcsnap s = {0}, t = {0};
	size_t len, again;

	(void)state;
	make_funcsnap(&s);
	char *p = bytes_of(&s, &len);
	assert_int_equal(funcsnap_decode(&t, p, len), 0);
	assert_int_equal(t.head.left_code, 3);
	assert_string_equal(funcsnap_text(&t, t.objects[0].path), "/opt/prog");
	assert_string_equal(name_at(&t, 1, 0x1000), "first");
	assert_string_equal(name_at(&t, 1, 0x101f), "first");
	assert_string_equal(name_at(&t, 1, 0x1020), "-");
	assert_string_equal(name_at(&t, 1, 0x200f), "later");
	assert_string_equal(name_at(&t, 1, 0xfff), "-");
	assert_string_equal(name_at(&t, 2, 0x1000), "-");
	/* One without a size is where it begins. */
	assert_non_null(funcsnap_find(&t, 0, 0xffffffff81000000));
	assert_null(funcsnap_find(&t, 0, 0xffffffff81000001));
	const struct funcsnap_func *f = funcsnap_find(&t, 1, 0x1000);
	assert_memory_equal(t.code + f->code, code, sizeof(code));
	char *q = bytes_of(&t, &again);
	assert_int_equal(again, len);
	assert_memory_equal(p, q, len);
	mem_free(p);
	mem_free(q);
	funcsnap_deinit(&s);
	funcsnap_deinit(&t);
}

static void merging_keeps_what_both_have(void **state)
{
	struct funcsnap s = {0}, t = {0}, empty = {0};
	struct funcsnap_object o = {.pid = 7};
	struct funcsnap_func f = {.start = 0x2000, .size = 0x10, .object = 1}, x = {.object = 2};

	(void)state;
	make_funcsnap(&s);
	make_funcsnap(&t);
	t.n_funcs = 0;
	f.name = funcsnap_add_text(&t, "later");
	funcsnap_add_code(&t, &f, code, 2);
	funcsnap_add_func(&t, &f);
	o.path = funcsnap_add_text(&t, "//anon");
	funcsnap_add_object(&t, &o);
	x.name = funcsnap_add_text(&t, "made");
	funcsnap_add_func(&t, &x);
	assert_int_equal(funcsnap_merge(&s, &t), 1);
	assert_int_equal(s.n_objects, 2);
	assert_int_equal(s.n_funcs, 4);
	assert_string_equal(name_at(&s, 1, 0x1000), "first");
	assert_string_equal(name_at(&s, 2, 0), "made");
	const struct funcsnap_func *found = funcsnap_find(&s, 1, 0x2000);
	assert_int_equal(found->code_len, 2);
	assert_memory_equal(s.code + found->code, code, 2);
	assert_int_equal(funcsnap_merge(&s, &t), 0);
	assert_int_equal(funcsnap_merge(&s, &empty), 0);
	/* Into none all of it goes at once. */
	assert_int_equal(funcsnap_merge(&empty, &s), 1);
	assert_int_equal(empty.n_funcs, 4);
	funcsnap_deinit(&empty);
	funcsnap_deinit(&s);
	funcsnap_deinit(&t);
}

static void merging_has_bounds(void **state)
{
	static uint8_t much[9 << 20];
	struct funcsnap s = {0}, t = {0};
	struct funcsnap_func f = {.start = 1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct funcsnap *to = i ? &t : &s;
		f.start++;
		assert_int_equal(funcsnap_add_code(to, &f, much, sizeof(much)), 0);
		assert_int_equal(funcsnap_add_func(to, &f), 0);
	}
	assert_int_equal(funcsnap_merge(&s, &t), -ENOSPC);
	assert_int_equal(s.n_funcs, 1);
	funcsnap_deinit(&s);
	funcsnap_deinit(&t);
}

static void no_such_object(struct funcsnap *s)
{
	s->funcs[2].object = 2;
}

static void no_such_path(struct funcsnap *s)
{
	s->objects[0].path = (uint32_t)s->n_strings;
}

static void no_such_name(struct funcsnap *s)
{
	s->funcs[1].name = (uint32_t)s->n_strings;
}

static void no_such_code(struct funcsnap *s)
{
	s->funcs[1].code_len = (uint32_t)s->n_code + 1;
}

static void code_beyond(struct funcsnap *s)
{
	s->funcs[1].code = UINT32_MAX;
}

static void not_sorted(struct funcsnap *s)
{
	s->funcs[1].start = 0x3000;
}

static void id_too_long(struct funcsnap *s)
{
	s->objects[0].id_len = 21;
}

static void damage_is_refused(void **state)
{
	void (*const damages[])(struct funcsnap * s) = {no_such_object, no_such_path, no_such_name,
							no_such_code,	code_beyond,  not_sorted,
							id_too_long};

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		struct funcsnap s = {0}, t = {0};
		size_t len;
		make_funcsnap(&s);
		damages[i](&s);
		char *p = bytes_of(&s, &len);
		assert_int_equal(funcsnap_decode(&t, p, len), -EBADMSG);
		assert_int_equal(t.n_funcs + t.n_objects + t.n_code, 0);
		mem_free(p);
		funcsnap_deinit(&s);
	}
}

static void memory_runs_out(void **state)
{
	long live = mem_live();

	(void)state;
	for (long n = 0; n < 6; n++) {
		struct funcsnap s = {0};
		mem_fail_after(n);
		uint32_t text = funcsnap_add_text(&s, "x");
		struct funcsnap_func f = {.name = text};
		bool failed = !text || funcsnap_add_code(&s, &f, code, 2) < 0 ||
			      funcsnap_add_func(&s, &f) < 0;
		mem_fail_after(-1);
		assert_int_equal(failed, n < 3);
		funcsnap_deinit(&s);
		assert_int_equal(mem_live(), live);
	}
}

static size_t put_id(char *buf, size_t at, size_t room, const char *path, const char *id)
{
	return at + buildids_put(path, (const uint8_t *)id, strlen(id), buf + at, room - at);
}

static void build_ids_are_found(void **state)
{
	char buf[512];
	struct buildid one;
	size_t n = put_id(buf, 0, sizeof(buf), "/bin/a", "0123456789abcdefghij"), next;

	(void)state;
	n = put_id(buf, n, sizeof(buf), "[vdso]", "short");
	assert_int_equal(n % 8, 0);
	assert_true(buildids_find(buf, n, "[vdso]", &one));
	assert_int_equal(one.len, 5);
	assert_memory_equal(one.id, "short", 5);
	assert_false(buildids_find(buf, n, "/bin/b", &one));
	next = buildids_next(buf, n, 0, &one);
	assert_int_equal(one.len, 20);
	assert_string_equal(one.path, "/bin/a");
	/* Older writers do not say how long it is. */
	buf[32] = 0;
	assert_true(buildids_find(buf, n, "/bin/a", &one) && one.len == 20);
	/* A cut entry ends the list. */
	assert_int_equal(buildids_next(buf, n - 1, next, &one), 0);
	assert_false(buildids_find(buf, n - 8, "[vdso]", &one));
	/* No room: the length alone. */
	assert_int_equal(buildids_put("/bin/a", (const uint8_t *)"x", 1, NULL, 0), 48);
	assert_int_equal(buildids_put("/bin/a", (const uint8_t *)"x", 21, NULL, 0), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(merging_keeps_what_both_have),
		cmocka_unit_test(merging_has_bounds),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(build_ids_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
