// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "uprobe-snaps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *bytes_of(const struct upsnap *s, size_t *ret_len)
{
	*ret_len = upsnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	upsnap_encode(s, p);
	return p;
}

static void there_and_back(void **state)
{
	struct upsnap s = {0}, t = {0};
	size_t len, again;

	(void)state;
	uprobe_snap_make(&s, "busy", 20000000000);
	char *p = bytes_of(&s, &len);
	assert_int_equal(len % 8, 0);
	assert_int_equal(upsnap_decode(&t, p, len), 0);
	assert_int_equal(t.n_probes, s.n_probes);
	assert_int_equal(t.n_areas, 2);
	assert_int_equal(t.n_tasks, 4);
	assert_string_equal(upsnap_text(&t, t.probes[0].symbol), "malloc");
	char *q = bytes_of(&t, &again);
	assert_int_equal(again, len);
	assert_memory_equal(p, q, len);
	mem_free(p);
	mem_free(q);
	upsnap_deinit(&s);
	upsnap_deinit(&t);
}

/* A copy of the snapshot with something that is not there. */
static void refuse(void (*damage)(struct upsnap *s))
{
	struct upsnap s = {0}, t = {0};
	size_t len;

	uprobe_snap_make(&s, "busy", 20000000000);
	damage(&s);
	char *p = bytes_of(&s, &len);
	assert_int_equal(upsnap_decode(&t, p, len), -EBADMSG);
	assert_int_equal(t.n_probes + t.n_areas + t.n_tasks + t.n_hits, 0);
	mem_free(p);
	upsnap_deinit(&s);
	upsnap_deinit(&t);
}

static void no_such_area(struct upsnap *s)
{
	s->tasks[0].area = (uint32_t)s->n_areas + 1;
}

static void no_such_text(struct upsnap *s)
{
	s->probes[1].hint = (uint32_t)s->n_strings;
}

static void no_such_probe(struct upsnap *s)
{
	s->hits[0].probe = (uint32_t)s->n_probes + 1;
}

static void too_many_bytes(struct upsnap *s)
{
	s->probes[0].n_bytes = 17;
}

static void too_many_samples(struct upsnap *s)
{
	s->areas[0].n_recent = UPSNAP_RECENT + 1;
}

static void texts_without_end(struct upsnap *s)
{
	s->strings[s->n_strings - 1] = 'x';
}

static void what_is_not_there_is_damage(void **state)
{
	(void)state;
	refuse(no_such_area);
	refuse(no_such_text);
	refuse(no_such_probe);
	refuse(too_many_bytes);
	refuse(too_many_samples);
	refuse(texts_without_end);
}

static void cut_off_anywhere(void **state)
{
	struct upsnap s = {0}, t = {0};
	size_t len;

	(void)state;
	uprobe_snap_make(&s, "busy", 20000000000);
	char *p = bytes_of(&s, &len);
	for (size_t n = 0; n < len; n++) {
		int code = upsnap_decode(&t, p, n);
		/* Behind a whole section the rest is not missed, unless it is referred to. */
		assert_true(code == 0 || code == -EBADMSG || code == -EPROTO);
	}
	mem_free(p);
	upsnap_deinit(&s);
	upsnap_deinit(&t);
}

static void without_memory(void **state)
{
	struct upsnap s = {0}, t = {0};
	size_t len;
	int code = -ENOMEM;

	(void)state;
	uprobe_snap_make(&s, "busy", 20000000000);
	char *p = bytes_of(&s, &len);
	for (long n = 0; code == -ENOMEM; n++) {
		upsnap_deinit(&t);
		mem_fail_after(n);
		code = upsnap_decode(&t, p, len);
	}
	mem_fail_after(-1);
	assert_int_equal(code, 0);
	mem_free(p);
	upsnap_deinit(&s);
	upsnap_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(what_is_not_there_is_damage),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
