// SPDX-License-Identifier: GPL-2.0-only
/* Merging: events leave by time, none before its round, and every record is given back once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/order.h"
#include "synth.h"

static struct synth *s;
static struct decode d;
static struct order o;
static unsigned given_back;

static void count_release(struct source *src, struct record *r)
{
	(void)src;
	assert_non_null(r->data);
	given_back++;
}

static const struct source_ops counting_ops = {.release = count_release};
static struct source counting = {.ops = &counting_ops};

static int setup(void **state)
{
	(void)state;
	s = synth_new(8);
	synth_prologue(s, NULL);
	given_back = 0;
	return decode_init(&d, NULL);
}

static int teardown(void **state)
{
	(void)state;
	decode_deinit(&d);
	synth_free(s);
	return 0;
}

static void event(uint32_t cpu, uint64_t t)
{
	synth_end(s, cpu, t, 1, (int)t, 0x1000, 0);
}

/* Feeds attrs and formats to the decoder and runs of records to the merge; rounds only if wanted.
 */
static unsigned feed(bool rounds)
{
	unsigned pushed = 0;

	order_init(&o, &d, &counting);
	for (size_t i = 0; i < synth_count(s); i++) {
		struct record *r = synth_at(s, i);
		if (r->kind == RECORD_ATTR)
			assert_int_equal(decode_add_attr(&d, r->data, r->len, NULL), 0);
		else if (r->kind == RECORD_FORMAT)
			assert_int_equal(decode_add_format(&d, r->data, r->len, NULL), 0);
		else if (r->kind == RECORD_PERF)
			assert_int_equal((pushed++, order_push(&o, r)), 0);
		else if (r->kind == RECORD_ROUND && rounds)
			order_flush(&o, *(const uint64_t *)r->data);
	}
	return pushed;
}

static unsigned pop_all(uint64_t *ret_last)
{
	const struct event *ev;
	uint64_t last = 0;
	unsigned n = 0;

	while (!order_pop(&o, &ev)) {
		assert_true(ev->time >= last);
		assert_int_equal((uint64_t)ev->tid, ev->time); /* the bytes are still there */
		last = ev->time;
		n++;
	}
	*ret_last = last;
	return n;
}

static void rings_merge_by_time(void **state)
{
	uint32_t seed = 7;
	uint64_t t[8] = {0}, last;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		seed = seed * 1664525 + 1013904223;
		unsigned cpu = seed >> 20 & 7;
		t[cpu] += 1 + (seed >> 8) % 100;
		event(cpu, t[cpu]);
		if (i % 97 == 0)
			synth_round(s, 1);
	}
	synth_round(s, UINT64_MAX);
	unsigned pushed = feed(true);
	assert_int_equal(pop_all(&last), 5000);
	assert_int_equal(o.n_late, 0);
	assert_int_equal(given_back, pushed);
	order_deinit(&o);
}

static void nothing_leaves_before_its_round(void **state)
{
	const struct event *ev;
	uint64_t last;

	(void)state;
	event(0, 10);
	event(1, 20);
	event(0, 30);
	synth_round(s, 20);
	feed(false);
	assert_int_equal(order_pop(&o, &ev), ORDER_EMPTY);
	order_flush(&o, 20);
	assert_int_equal(pop_all(&last), 2);
	assert_int_equal(last, 20);
	order_flush(&o, 30);
	assert_int_equal(pop_all(&last), 1);
	order_deinit(&o);
}

static void a_late_event_is_counted_and_not_lost(void **state)
{
	const struct event *ev;

	(void)state;
	event(0, 100);
	synth_round(s, 100);
	event(1, 50);
	synth_round(s, 200);
	order_init(&o, &d, &counting);
	feed(false);
	/* Ring 1's run comes after ring 0's event has left. */
	struct order fresh;
	order_deinit(&o);
	order_init(&fresh, &d, &counting);
	size_t n = synth_count(s);
	assert_int_equal(order_push(&fresh, synth_at(s, n - 4)), 0);
	order_flush(&fresh, 100);
	assert_int_equal(order_pop(&fresh, &ev), 0);
	assert_int_equal(ev->time, 100);
	assert_int_equal(order_push(&fresh, synth_at(s, n - 2)), 0);
	assert_int_equal(order_pop(&fresh, &ev), 0);
	assert_int_equal(ev->time, 50);
	assert_int_equal(fresh.n_late, 1);
	order_deinit(&fresh);
}

static void a_push_between_pops_keeps_the_order(void **state)
{
	const struct event *ev;
	unsigned n = 0;
	uint64_t last = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		event(0, 10 + i * 10);
	synth_round(s, 1);
	for (unsigned i = 0; i < 100; i++)
		event(1, 505 + i);
	synth_round(s, 1);
	order_init(&o, &d, &counting);
	feed(false);
	order_deinit(&o);
	order_init(&o, &d, &counting);
	size_t k = synth_count(s);
	order_push(&o, synth_at(s, k - 4));
	order_flush(&o, UINT64_MAX);
	while (!order_pop(&o, &ev)) {
		assert_true(ev->time >= last);
		last = ev->time;
		if (++n == 50)
			order_push(&o, synth_at(s, k - 2));
	}
	assert_int_equal(n, 200);
	assert_int_equal(o.n_late, 0);
	order_deinit(&o);
}

static void garbage_in_a_ring_costs_the_rest_of_its_run_only(void **state)
{
	static const uint64_t zero[4] = {0};
	uint64_t last;

	(void)state;
	event(0, 10);
	synth_raw(s, 0, zero, sizeof(zero)); /* a header of size 0 */
	event(0, 20);
	synth_round(s, 1);
	event(0, 30);
	event(1, 15);
	synth_round(s, 100);
	unsigned pushed = feed(true);
	assert_int_equal(pop_all(&last), 3);
	assert_int_equal(last, 30);
	assert_int_equal(d.n_bad, 1);
	assert_int_equal(given_back, pushed);
	order_deinit(&o);
}

static void deinit_gives_back_what_is_left(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 50; i++) {
		event(i % 8, i);
		synth_round(s, i);
	}
	unsigned pushed = feed(false);
	order_deinit(&o);
	assert_int_equal(given_back, pushed);
}

static void lack_of_memory_leaves_the_record_with_the_caller(void **state)
{
	unsigned failures = 0;

	(void)state;
	event(5, 1);
	synth_round(s, 1);
	feed(false);
	order_deinit(&o);
	for (long k = 0; k < 4; k++) {
		given_back = 0;
		order_init(&o, &d, &counting);
		mem_fail_after(k);
		int r = order_push(&o, synth_at(s, synth_count(s) - 2));
		mem_fail_after(-1);
		failures += r != 0;
		order_deinit(&o);
		assert_int_equal(given_back, r ? 0 : 1);
	}
	assert_true(failures >= 3);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rings_merge_by_time),
		T(nothing_leaves_before_its_round),
		T(a_late_event_is_counted_and_not_lost),
		T(a_push_between_pops_keeps_the_order),
		T(garbage_in_a_ring_costs_the_rest_of_its_run_only),
		T(deinit_gives_back_what_is_left),
		T(lack_of_memory_leaves_the_record_with_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
