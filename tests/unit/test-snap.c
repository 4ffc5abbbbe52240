// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/perfsnap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(struct perfsnap *s)
{
	s->head = (struct snap_head){.time_ns = 5, .method = SNAP_BPF, .opened = 7};
	s->head.reason = perfsnap_add_text(s, "because");
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		perfsnap_add_slots(s,
				   &(struct snap_slots){.cpu = cpu, .slots = 4, .cpu_pinned = 1});
	perfsnap_add_context(s, &(struct snap_context){.addr = 64, .cpu = 1, .events = 2});
	perfsnap_add_event(s, &(struct snap_event){.id = 11,
						   .context = 1,
						   .owner_comm = perfsnap_add_text(s, "gdb"),
						   .name = perfsnap_add_text(s, "mem:w")});
	perfsnap_add_event(
		s, &(struct snap_event){.id = 12, .owner_comm = perfsnap_add_text(s, "gdb")});
	perfsnap_add_register(s, &(struct snap_register){.cpu = 1, .event = 2, .addr = 4096});
	perfsnap_add_holder(s, &(struct snap_holder){.event = 1, .pid = 9, .fd = 3});
	perfsnap_add_creator(
		s,
		&(struct snap_creator){.pid = 9, .comm = perfsnap_add_text(s, "gdb"), .opened = 4});
}

static void *bytes_of(const struct perfsnap *s, size_t *ret_len)
{
	*ret_len = perfsnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	perfsnap_encode(s, p);
	return p;
}

static void assert_same(const struct perfsnap *a, const struct perfsnap *b)
{
	size_t a_len, b_len;
	char *x = bytes_of(a, &a_len), *y = bytes_of(b, &b_len);

	assert_int_equal(a_len, b_len);
	assert_memory_equal(x, y, a_len);
	mem_free(x);
	mem_free(y);
}

static void test_there_and_back(void **state)
{
	struct perfsnap s = {0}, t = {0};
	size_t len;

	(void)state;
	fill(&s);
	assert_string_equal(perfsnap_text(&s, s.events[0].owner_comm), "gdb");
	assert_int_equal(s.events[0].owner_comm, s.events[1].owner_comm);
	char *p = bytes_of(&s, &len);
	assert_int_equal(len % 8, 0);
	assert_int_equal(perfsnap_decode(&t, p, len), 0);
	assert_same(&s, &t);
	assert_int_equal(t.head.opened, 7);
	assert_string_equal(perfsnap_text(&t, t.head.reason), "because");
	/* Into one that is in use: nothing of before is left. */
	perfsnap_clear(&s);
	char *q = bytes_of(&s, &len);
	assert_int_equal(perfsnap_decode(&t, q, len), 0);
	assert_int_equal(t.n_events, 0);
	assert_string_equal(perfsnap_text(&t, 1), "");
	mem_free(p);
	mem_free(q);
	perfsnap_deinit(&s);
	perfsnap_deinit(&t);
}

/* Cut anywhere it is refused or whole but for its last sections; nothing refers to what is not
 * there. */
static void test_cut(void **state)
{
	struct perfsnap s = {0}, t = {0};
	size_t len, whole = 0;

	(void)state;
	fill(&s);
	char *p = bytes_of(&s, &len);
	for (size_t n = 0; n < len; n++) {
		int code = perfsnap_decode(&t, p, n);
		assert_true(code == 0 || code == -EPROTO || code == -EBADMSG);
		whole += code == 0;
		if (code)
			assert_int_equal(t.n_events + t.n_slots + t.n_strings, 0);
	}
	/* Between sections, as long as nothing refers to texts: the magic and the head's refer.
	 * With the texts it is whole: the section of creators, which follows, came later. */
	assert_int_equal(whole, 2);
	mem_free(p);
	perfsnap_deinit(&s);
	perfsnap_deinit(&t);
}

/* @poke makes a good snapshot damaged. */
static void assert_damaged(void (*poke)(struct perfsnap *s), int code)
{
	struct perfsnap s = {0}, t = {0};
	size_t len;

	fill(&s);
	poke(&s);
	char *p = bytes_of(&s, &len);
	assert_int_equal(perfsnap_decode(&t, p, len), code);
	mem_free(p);
	perfsnap_deinit(&s);
	perfsnap_deinit(&t);
}

static void poke_nothing(struct perfsnap *s)
{
	(void)s;
}

static void poke_register(struct perfsnap *s)
{
	s->registers[0].event = 3;
}

static void poke_holder(struct perfsnap *s)
{
	s->holders[0].event = 3;
}

static void poke_context(struct perfsnap *s)
{
	s->events[1].context = 2;
}

static void poke_creator(struct perfsnap *s)
{
	s->creators[0].comm = 1 << 20;
}

static void poke_creations(struct perfsnap *s)
{
	s->head.creations_reason = 1 << 20;
}

static void poke_text(struct perfsnap *s)
{
	s->events[1].where = (uint32_t)s->n_strings;
}

static void poke_end(struct perfsnap *s)
{
	s->strings[s->n_strings - 1] = 'x';
}

static void test_damaged(void **state)
{
	(void)state;
	assert_damaged(poke_nothing, 0);
	assert_damaged(poke_register, -EBADMSG);
	assert_damaged(poke_holder, -EBADMSG);
	assert_damaged(poke_context, -EBADMSG);
	assert_damaged(poke_creator, -EBADMSG);
	assert_damaged(poke_creations, -EBADMSG);
	assert_damaged(poke_text, -EBADMSG);
	assert_damaged(poke_end, -EBADMSG);
}

/* Items of another length: of a longer one the front, after a shorter one zeros. */
static void test_other_lengths(void **state)
{
	struct {
		uint64_t magic;
		uint32_t number, size;
		uint64_t count;
		unsigned char items[2 * 40];
	} in = {.number = 2, .count = 2};
	struct perfsnap s = {0}, t = {0};
	size_t len;

	(void)state;
	char *p = bytes_of(&s, &len);
	memcpy(&in.magic, p, 8);
	mem_free(p);
	for (uint32_t size = 4; size <= 40; size += 4) {
		in.size = size;
		memset(in.items, 0xee, sizeof(in.items));
		memcpy(in.items, &(uint32_t){5}, 4);
		memcpy(in.items + size, &(uint32_t){6}, 4);
		size_t bytes = 24 + ((2 * size + 7) & ~7u);
		assert_int_equal(perfsnap_decode(&t, &in, bytes), 0);
		assert_int_equal(t.n_slots, 2);
		assert_int_equal(t.slots[0].cpu, 5);
		assert_int_equal(t.slots[1].cpu, 6);
		assert_int_equal((uint32_t)t.slots[1].cpu_pinned, size >= 16 ? 0xeeeeeeee : 0);
	}
	in.count = UINT64_MAX / 4;
	assert_int_equal(perfsnap_decode(&t, &in, sizeof(in)), -EBADMSG);
	in.size = 0;
	assert_int_equal(perfsnap_decode(&t, &in, sizeof(in)), -EBADMSG);
	perfsnap_deinit(&t);
}

static void test_no_memory(void **state)
{
	struct perfsnap s = {0};
	size_t len;

	(void)state;
	fill(&s);
	char *p = bytes_of(&s, &len);
	perfsnap_deinit(&s);
	long before = mem_live();
	for (long n = 0;; n++) {
		struct perfsnap t = {0};
		mem_fail_after(n);
		int code = perfsnap_decode(&t, p, len);
		mem_fail_after(-1);
		assert_true(code == 0 || code == -ENOMEM);
		perfsnap_deinit(&t);
		assert_int_equal(mem_live(), before);
		if (code == 0)
			break;
	}
	mem_free(p);
}

/* Events that our own have handed on to children of their tasks are ours, others' are not. */
static void test_inherited_are_own(void **state)
{
	static const uint32_t own = SNAP_OWN | SNAP_INHERIT;
	const struct snap_event events[] = {
		{.id = 1, .flags = own},
		{.id = 2, .parent = 1, .flags = SNAP_CHILD},
		{.id = 3, .flags = SNAP_INHERIT},
		{.id = 4, .parent = 3, .flags = SNAP_CHILD},
		{.id = 5, .parent = 9, .flags = SNAP_CHILD},
	};
	struct perfsnap s = {0}, t = {0};
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_int_equal(perfsnap_add_event(&s, &events[i]), 0);
	char *p = bytes_of(&s, &len);
	assert_int_equal(perfsnap_decode(&t, p, len), 0);
	for (size_t i = 0; i < t.n_events; i++)
		assert_int_equal((t.events[i].flags & SNAP_OWN) != 0, i < 2);
	mem_free(p);
	perfsnap_deinit(&s);
	perfsnap_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damaged),	       cmocka_unit_test(test_other_lengths),
		cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_inherited_are_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
