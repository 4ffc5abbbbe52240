// SPDX-License-Identifier: GPL-2.0-only
/* Tables for unwinding as bytes and back, and the set of all of them in a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cfiset.h"
#include "kontend/cfisnap.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint8_t bytes[64];
static char strings[16];
static struct elfimg_segment segment = {
	.type = 1, .offset = 0x1000, .addr = 0x2000, .file_size = 99};

/* 64 bytes of tables, of which the header begins at 12 and has 5 entries. */
static struct cfisnap make_cfisnap(const char *path, uint64_t ino)
{
	struct cfisnap s = {
		.head = {.path = 1, .ino = ino, .addr = 0x3000, .header = 0x300c, .entries = 5},
		.segments = &segment,
		.n_segments = 1,
		.bytes = bytes,
		.n_bytes = sizeof(bytes),
		.strings = strings,
	};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	s.n_strings = (size_t)snprintf(strings + 1, sizeof(strings) - 1, "%s", path) + 2;
	return s;
}

static char *encoded(const struct cfisnap *s, size_t *ret_len)
{
	*ret_len = cfisnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	cfisnap_encode(s, p);
	return p;
}

static void there_and_back(void **state)
{
	struct cfisnap s = make_cfisnap("/opt/x", 7), t = {0};
	size_t len;

	(void)state;
	char *p = encoded(&s, &len);
	assert_int_equal(cfisnap_decode(&t, p, len), 0);
	assert_string_equal(cfisnap_path(&t), "/opt/x");
	assert_int_equal(t.head.ino, 7);
	assert_memory_equal(t.bytes, bytes, sizeof(bytes));
	assert_memory_equal(t.segments, &segment, sizeof(segment));
	cfisnap_deinit(&t);
	mem_free(p);
}

static void damage_is_refused(void **state)
{
	struct cfisnap t = {0};
	size_t len;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct cfisnap s = make_cfisnap("/opt/x", 7);

		switch (i) {
		case 0:
			s.head.entries = 6;
			break;
		case 1:
			s.head.entries = UINT64_MAX / 8;
			break;
		case 2:
			s.head.header = 0x2fff;
			break;
		case 3:
			s.head.header = 0x3000 + 64 - 11;
			break;
		case 4:
			s.head.path = 99;
			break;
		default:
			s.head.id_len = 21;
		}
		char *p = encoded(&s, &len);
		assert_int_equal(cfisnap_decode(&t, p, len), -EBADMSG);
		assert_int_equal(t.n_bytes, 0);
		mem_free(p);
	}
}

static void a_set_has_each_once(void **state)
{
	struct cfiset *set = cfiset_new();
	struct map_object o = {.path = "/opt/1", .ino = 1};
	size_t len;

	(void)state;
	assert_non_null(set);
	for (int i = 0; i < 6; i++) {
		char path[8];

		snprintf(path, sizeof(path), "/opt/%d", i % 3);
		struct cfisnap s = make_cfisnap(path, (uint64_t)i % 3);
		char *p = encoded(&s, &len);
		assert_int_equal(cfiset_take(set, p, len), 0);
		assert_true(cfiset_take(set, p, len - 1) < 0);
		mem_free(p);
	}
	assert_int_equal(cfiset_count(set), 3);
	assert_string_equal(cfisnap_path(cfiset_find(set, &o)), "/opt/1");
	o.ino = 2;
	assert_null(cfiset_find(set, &o));
	cfiset_unref(cfiset_ref(set));
	cfiset_unref(set);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(a_set_has_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
