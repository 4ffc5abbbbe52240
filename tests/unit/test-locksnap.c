// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/lockhold.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void fill_stacks(struct locksnap *s)
{
	locksnap_add_call(s, &(struct locksnap_call){.ip = 0x401000});
	locksnap_add_call(s, &(struct locksnap_call){.function = locksnap_add_text(s, "commit"),
						     .file = locksnap_add_text(s, "db.py"),
						     .line = 412});
	locksnap_add_stack(s, &(struct locksnap_stack){.tid = 12, .call = 1, .n_calls = 1});
}

static void fill(struct locksnap *s)
{
	s->head = (struct locksnap_head){.time_ns = 5, .cost_ns = 7, .partial = 1};
	s->head.reason = locksnap_add_text(s, "because");
	locksnap_add_name(s, &(struct locksnap_name){.addr = 64,
						     .kind = LOCKSNAP_INODE,
						     .cpu = -1,
						     .pid = 9,
						     .comm = locksnap_add_text(s, "dd"),
						     .text = locksnap_add_text(s, "/var/x.img")});
	const uint64_t frames[] = {100, 200};
	locksnap_add_area(s, &(struct locksnap_area){.base = 4096, .cpu = 1});
	locksnap_add_var(s, &(struct locksnap_var){.offset = 64,
						   .size = 32,
						   .name = locksnap_add_text(s, "runqueues")});
	for (int i = 0; i < 2; i++)
		locksnap_add_frame(s, &frames[i]);
	locksnap_add_queue(s, &(struct locksnap_queue){.addr = 64,
						       .holder_state = LOCKSNAP_ASLEEP,
						       .holder_n_frames = 1,
						       .type = LOCKSNAP_RWSEM,
						       .certainty = LOCKSNAP_SURE,
						       .holder_tid = 11,
						       .holder_comm = locksnap_add_text(s, "dd"),
						       .writers_waiting = 1});
	locksnap_add_waiter(s, &(struct locksnap_waiter){.queue = 0,
							 .position = 1,
							 .tid = 12,
							 .frame = 1,
							 .n_frames = 1,
							 .comm = locksnap_add_text(s, "dd"),
							 .on = locksnap_add_text(s, "/x"),
							 .on_kind = LOCKSNAP_ON_FILE});
	locksnap_add_reader(s, &(struct locksnap_reader){.queue = 0,
							 .tid = 13,
							 .frame = 0,
							 .n_frames = 2,
							 .in = 1,
							 .comm = locksnap_add_text(s, "ps")});
	s->head.no_readers = locksnap_add_text(s, "withheld");
	s->head.no_names = locksnap_add_text(s, "refused");
	locksnap_add_sleep(s, &(struct locksnap_sleep){.tid = 11,
						       .doing = LOCKSNAP_WRITES,
						       .file = locksnap_add_text(s, "/var/x.img"),
						       .device = locksnap_add_text(s, "vda")});
	s->head.counts_sleepers = 1;
	locksnap_add_sleepers(s, &(struct locksnap_sleepers){.pid = 812,
							     .kind = LOCKSNAP_FUTEX,
							     .tasks = 31,
							     .idle = 4,
							     .comm = locksnap_add_text(s, "java")});
	s->head.knows_blocked = 1;
	locksnap_add_blocked(s,
			     &(struct locksnap_blocked){.pid = 70,
							.tid = 71,
							.comm = locksnap_add_text(s, "make"),
							.state = LOCKSNAP_BLOCKED_D,
							.frame = 1,
							.n_frames = 1,
							.by_tid = 72,
							.limit = locksnap_add_text(s, "/slice")});
	fill_stacks(s);
}

static void *bytes_of(const struct locksnap *s, size_t *ret_len)
{
	*ret_len = locksnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	locksnap_encode(s, p);
	return p;
}

static void test_there_and_back(void **state)
{
	struct locksnap s = {0}, t = {0};
	size_t len, again;

	(void)state;
	fill(&s);
	char *p = bytes_of(&s, &len);
	assert_int_equal(locksnap_decode(&t, p, len), 0);
	char *q = bytes_of(&t, &again);
	assert_int_equal(again, len);
	assert_memory_equal(p, q, len);
	assert_string_equal(locksnap_text(&t, t.names[0].text), "/var/x.img");
	assert_string_equal(locksnap_text(&t, t.queues[0].holder_comm), "dd");
	assert_int_equal(t.waiters[0].tid, 12);
	assert_string_equal(locksnap_text(&t, t.waiters[0].on), "/x");
	assert_int_equal(t.areas[0].cpu, 1);
	assert_string_equal(locksnap_text(&t, t.vars[0].name), "runqueues");
	assert_int_equal(t.frames[t.waiters[0].frame], 200);
	assert_int_equal(t.queues[0].holder_state, LOCKSNAP_ASLEEP);
	assert_int_equal(t.sleeps[0].tid, 11);
	assert_string_equal(locksnap_text(&t, t.sleeps[0].device), "vda");
	assert_int_equal(t.readers[0].tid, 13);
	assert_int_equal(t.readers[0].in, 1);
	assert_string_equal(locksnap_text(&t, t.readers[0].comm), "ps");
	assert_string_equal(locksnap_text(&t, t.head.no_readers), "withheld");
	assert_string_equal(locksnap_text(&t, t.head.no_names), "refused");
	assert_int_equal(t.head.counts_sleepers, 1);
	assert_int_equal(t.sleepers[0].tasks, 31);
	assert_int_equal(t.sleepers[0].idle, 4);
	assert_string_equal(locksnap_text(&t, t.sleepers[0].comm), "java");
	assert_int_equal(t.head.knows_blocked, 1);
	assert_string_equal(locksnap_text(&t, t.blocked[0].comm), "make");
	assert_int_equal(t.frames[t.blocked[0].frame], 200);
	assert_int_equal(t.blocked[0].by_tid, 72);
	assert_string_equal(locksnap_text(&t, t.blocked[0].limit), "/slice");
	mem_free(p);
	mem_free(q);
	locksnap_deinit(&s);
	locksnap_deinit(&t);
}

static void damage_readers(struct locksnap *s, int what)
{
	if (what == 9)
		s->readers[0].queue = 1;
	if (what == 10)
		s->readers[0].state = LOCKSNAP_STATES;
	if (what == 11)
		s->readers[0].n_frames = 3;
	if (what == 12)
		s->readers[0].in = 2;
	if (what == 13)
		s->readers[0].comm = UINT32_MAX;
	if (what == 14)
		s->head.no_readers = (uint32_t)s->n_strings;
	if (what == 15)
		s->sleeps[0].doing = LOCKSNAP_DOINGS;
	if (what == 16)
		s->sleeps[0].file = UINT32_MAX;
	if (what == 17)
		s->sleeps[0].device = (uint32_t)s->n_strings;
	if (what == 18)
		s->sleepers[0].kind = LOCKSNAP_SLEEPS;
	if (what == 19)
		s->sleepers[0].comm = UINT32_MAX;
	if (what == 20)
		s->head.no_sleepers = (uint32_t)s->n_strings;
}

static void damage_blocked(struct locksnap *s, int what)
{
	if (what == 21)
		s->blocked[0].state = LOCKSNAP_BLOCKED_STATES;
	if (what == 22)
		s->blocked[0].state = 0;
	if (what == 23)
		s->blocked[0].n_frames = 9;
	if (what == 24)
		s->blocked[0].comm = (uint32_t)s->n_strings;
	if (what == 25)
		s->blocked[0].process = UINT32_MAX;
	if (what == 26)
		s->blocked[0].device = UINT32_MAX;
	if (what == 27)
		s->blocked[0].by_comm = UINT32_MAX;
	if (what == 28)
		s->blocked[0].fs = UINT32_MAX;
	if (what == 29)
		s->blocked[0].by_state = LOCKSNAP_STATES;
	if (what == 30)
		s->blocked[0].cgroup = UINT32_MAX;
	if (what == 31)
		s->blocked[0].source = UINT32_MAX;
	if (what == 32)
		s->head.no_objects = UINT32_MAX;
}

/* A reference to a missing entry is refused, and so is every cut. */
static void damage_stacks(struct locksnap *s, int what)
{
	if (what == 33)
		s->stacks[0].call = 3;
	if (what == 34)
		s->stacks[0].n_calls = 2;
	if (what == 35)
		s->stacks[0].end = LOCKSNAP_STACK_ENDS;
	if (what == 36)
		s->calls[1].function = UINT32_MAX;
	if (what == 37)
		s->calls[1].file = (uint32_t)s->n_strings;
}

static void test_damage(void **state)
{
	struct locksnap s = {0}, t = {0};
	size_t len;

	(void)state;
	for (int what = 0; what < 40; what++) {
		locksnap_clear(&s);
		fill(&s);
		if (what == 0)
			s.waiters[0].queue = 1;
		if (what == 1)
			s.names[0].kind = LOCKSNAP_KINDS;
		if (what == 2)
			s.names[0].text = (uint32_t)s.n_strings;
		if (what == 3)
			s.queues[0].type = LOCKSNAP_TYPES;
		if (what == 4)
			s.queues[0].holder_state = LOCKSNAP_STATES;
		if (what == 5)
			s.queues[0].holder_n_frames = 3;
		if (what == 6)
			s.waiters[0].frame = UINT32_MAX;
		if (what == 7)
			s.vars[0].name = UINT32_MAX;
		if (what == 38)
			s.waiters[0].on = (uint32_t)s.n_strings;
		if (what == 39)
			s.waiters[0].on_kind = LOCKSNAP_ONS;
		damage_readers(&s, what);
		damage_blocked(&s, what);
		damage_stacks(&s, what);
		char *p = bytes_of(&s, &len);
		if (what == 8)
			p[0] ^= 1;
		assert_int_equal(locksnap_decode(&t, p, len), what == 8 ? -EPROTO : -EBADMSG);
		assert_int_equal(t.n_names + t.n_queues + t.n_waiters + t.n_readers + t.n_frames,
				 0);
		mem_free(p);
	}
	locksnap_clear(&s);
	fill(&s);
	char *p = bytes_of(&s, &len);
	for (size_t n = 0; n < len; n++) {
		char *cut = mem_dup(p, n + 1, 1); /* its end is the end of memory */
		int code = locksnap_decode(&t, cut, n);
		assert_true(code == 0 || code == -EBADMSG || code == -EPROTO);
		mem_free(cut);
	}
	mem_free(p);
	locksnap_deinit(&s);
	locksnap_deinit(&t);
}

static void test_out_of_memory(void **state)
{
	struct locksnap s = {0}, t = {0};
	size_t len;
	int code;

	(void)state;
	fill(&s);
	char *p = bytes_of(&s, &len);
	for (long n = 0; n < 64; n++) {
		mem_fail_after(n);
		code = locksnap_decode(&t, p, len);
		mem_fail_after(-1);
		locksnap_deinit(&t);
		if (!code)
			break;
		assert_int_equal(code, -ENOMEM);
	}
	assert_int_equal(code, 0);
	mem_free(p);
	locksnap_deinit(&s);
}

static void hold(struct lockholds *h, uint64_t time, int32_t tid, enum locksnap_certainty sure)
{
	struct locksnap s = {.head.time_ns = time};
	const struct locksnap_queue other = {
		.addr = 32, .certainty = LOCKSNAP_SURE, .holder_tid = 1};
	const struct locksnap_queue q = {.addr = 64, .certainty = sure, .holder_tid = tid};

	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	assert_int_equal(locksnap_add_queue(&s, &other), 0);
	assert_int_equal(lockhold_take(h, &s), 0);
	locksnap_deinit(&s);
}

/* As long as it is the same one, who is sure, and time goes on. */
static void test_holders_are_remembered(void **state)
{
	struct lockholds h = {0};

	(void)state;
	assert_int_equal(lockhold_ns(&h, 64, 11), 0);
	hold(&h, 1000, 11, LOCKSNAP_SURE);
	assert_int_equal(lockhold_ns(&h, 64, 11), 0);
	hold(&h, 3000, 11, LOCKSNAP_SURE);
	assert_int_equal(lockhold_ns(&h, 64, 11), 2000);
	assert_int_equal(lockhold_ns(&h, 64, 12), 0);
	assert_int_equal(lockhold_ns(&h, 32, 1), 2000);
	hold(&h, 4000, 12, LOCKSNAP_SURE);
	assert_int_equal(lockhold_ns(&h, 64, 12), 0);
	hold(&h, 5000, 12, LOCKSNAP_HINT);
	hold(&h, 6000, 12, LOCKSNAP_SURE);
	assert_int_equal(lockhold_ns(&h, 64, 12), 0);
	hold(&h, 2000, 12, LOCKSNAP_SURE);
	assert_int_equal(lockhold_ns(&h, 64, 12), 0);
	assert_int_equal(lockhold_ns(&h, 32, 1), 0);
	lockhold_deinit(&h);
}

static void test_holders_without_memory(void **state)
{
	struct lockholds h = {0};
	struct locksnap s = {.head.time_ns = 2000};

	(void)state;
	hold(&h, 1000, 11, LOCKSNAP_SURE);
	mem_fail_after(0);
	assert_int_equal(lockhold_take(&h, &s), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(h.n, 2);
	lockhold_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_holders_are_remembered),
		cmocka_unit_test(test_holders_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
