// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/queue.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct queue *make_queue(size_t max_bytes)
{
	struct queue *q = NULL;
	struct error err = {0};

	assert_int_equal(queue_new(&q, max_bytes, &err), 0);
	return q;
}

static bool readable(const struct queue *q)
{
	struct pollfd p = {.fd = queue_fd(q), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* A chunk of @len bytes that are all @byte; false when the queue is full. */
static bool push(struct queue *q, uint32_t ring, size_t len, int byte)
{
	void *data;
	size_t size = 0;
	struct queue_item *it = queue_alloc(q, len, &data, &size);

	if (!it)
		return false;
	assert_true(size >= len);
	assert_int_equal((uintptr_t)data % 8, 0);
	memset(data, byte, len);
	queue_push(q, it, RECORD_PERF, ring, len);
	return true;
}

static void test_order(void **state)
{
	struct queue *q = make_queue(1 << 20);
	uint64_t t = 42;
	struct record r;

	(void)state;
	assert_int_equal(queue_pop(q, &r), QUEUE_EMPTY);
	assert_true(push(q, 3, 100, 'a'));
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), 0);
	assert_int_equal(queue_put_always(q, RECORD_HOST, 0, "host", 5), 0);
	assert_int_equal(queue_pop(q, &r), 0);
	assert_int_equal(r.kind, RECORD_PERF);
	assert_int_equal(r.ring, 3);
	assert_int_equal(r.len, 100);
	assert_int_equal(((const char *)r.data)[99], 'a');
	queue_release(q, &r);
	assert_int_equal(queue_pop(q, &r), 0);
	assert_int_equal(r.kind, RECORD_ROUND);
	assert_memory_equal(r.data, &t, sizeof(t));
	queue_release(q, &r);
	assert_int_equal(queue_pop(q, &r), 0);
	assert_string_equal(r.data, "host");
	queue_release(q, &r);
	assert_int_equal(queue_pop(q, &r), QUEUE_EMPTY);
	queue_free(q);
}

static void test_fd_says_what_pop_says(void **state)
{
	struct queue *q = make_queue(1 << 20);
	struct record r;

	(void)state;
	assert_false(readable(q));
	for (int i = 0; i < 3; i++) {
		assert_true(push(q, 0, 8, 0));
		assert_true(push(q, 0, 8, 0));
		assert_true(readable(q));
		assert_int_equal(queue_pop(q, &r), 0);
		queue_release(q, &r);
		assert_true(readable(q));
		assert_int_equal(queue_pop(q, &r), 0);
		queue_release(q, &r);
		assert_false(readable(q));
	}
	assert_true(push(q, 0, 8, 0));
	queue_close(q);
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	assert_true(readable(q));
	assert_int_equal(queue_pop(q, &r), QUEUE_END);
	assert_int_equal(queue_pop(q, &r), QUEUE_END);
	queue_free(q);
}

/* A flood leaves a part of its chunks in the free lists: the rest of the memory is given back. */
static void test_a_flood_leaves_little(void **state)
{
	enum { CHUNK = 65536, CHUNKS = 256, KEPT = 4 << 20 };
	struct queue *q = make_queue((size_t)CHUNKS * CHUNK);
	struct record r;

	(void)state;
	for (int i = 0; i < CHUNKS; i++)
		assert_true(push(q, 0, CHUNK, 'a'));
	assert_false(push(q, 0, CHUNK, 'a'));
	while (queue_pop(q, &r) == 0)
		queue_release(q, &r);
	assert_in_range(queue_bytes(q), CHUNK, KEPT);
	for (int i = 0; i < CHUNKS; i++)
		assert_true(push(q, 0, CHUNK, 'a'));
	queue_free(q);
}

/* With a threshold the descriptor is readable when much room is taken, or at the end; the caller
 * can take records before. */
static void test_wake(void **state)
{
	struct queue *q = make_queue(1 << 20);
	struct record r;

	(void)state;
	queue_set_wake(q, 8000);
	assert_true(push(q, 0, 400, 'a'));
	assert_false(readable(q));
	assert_true(push(q, 0, 600, 'b'));
	assert_true(readable(q));
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	assert_false(readable(q));
	assert_int_equal(queue_pop(q, &r), 0);
	assert_int_equal(r.len, 600);
	queue_release(q, &r);
	assert_true(push(q, 0, 8, 'c'));
	queue_close(q);
	assert_true(readable(q));
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	assert_int_equal(queue_pop(q, &r), QUEUE_END);
	queue_free(q);
}

/* A listener to ticks is woken by each, and by nothing else. */
static void test_ticks_wake(void **state)
{
	struct queue *q = make_queue(1 << 20);
	struct record r;
	uint64_t t = 1;

	(void)state;
	queue_set_wake(q, 8000);
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), 0);
	assert_false(readable(q));
	assert_int_equal(queue_put(q, RECORD_TICK, 0, &t, sizeof(t)), 0);
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), 0);
	assert_true(readable(q));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(queue_pop(q, &r), 0);
		queue_release(q, &r);
	}
	assert_false(readable(q));
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	queue_free(q);
}

/* Both what waits and what was taken but not given back fill the queue; small records pass. */
static void test_bound(void **state)
{
	struct queue *q = make_queue(4 * 65536);
	struct record r[4];
	uint64_t t = 1;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_true(push(q, 0, 65536, i));
	assert_false(push(q, 0, 8, 0));
	assert_int_equal(queue_bytes(q), 4 * 65536);
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(queue_pop(q, &r[i]), 0);
	assert_false(push(q, 0, 65536, 0));
	queue_release(q, &r[2]);
	assert_true(push(q, 0, 65536, 0));
	assert_false(push(q, 0, 65536, 0));
	for (int i = 0; i < 4; i++)
		queue_release(q, &r[i]);
	queue_free(q);
}

/* Kept chunks of one size make way for another. */
static void test_pools_share_the_bound(void **state)
{
	struct queue *q = make_queue(65536);
	struct record r;
	int n = 0;

	(void)state;
	assert_true(push(q, 0, 65536, 0));
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	while (push(q, 0, 4096, 0))
		n++;
	assert_int_equal(n, 16);
	assert_int_equal(queue_bytes(q), 65536);
	while (queue_pop(q, &r) == 0)
		queue_release(q, &r);
	assert_true(push(q, 0, 10000, 0));
	queue_free(q);
}

static void test_chunks_are_recycled(void **state)
{
	struct queue *q = make_queue(1 << 20);
	struct record r;

	(void)state;
	assert_true(push(q, 0, 5000, 0));
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	mem_fail_after(-1);
	for (int i = 0; i < 100; i++) {
		assert_true(push(q, 0, 5000, 0));
		assert_int_equal(queue_pop(q, &r), 0);
		queue_release(q, &r);
	}
	assert_int_equal(mem_count(), 0);
	queue_free(q);
}

static void test_small_ones_are_bounded_too(void **state)
{
	struct queue *q = make_queue(1 << 20);
	uint64_t t = 0, last = 0;
	struct record r;
	int n = 0;

	(void)state;
	while (queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)) == 0)
		t++, n++;
	assert_in_range(n, 1000, 10000);
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), -ENOBUFS);
	assert_int_equal(queue_put_always(q, RECORD_TICK, 0, &t, sizeof(t)), 0);
	while (queue_pop(q, &r) == 0) {
		memcpy(&last, r.data, sizeof(last));
		queue_release(q, &r);
	}
	assert_int_equal(last, t);
	assert_int_equal(queue_put(q, RECORD_ROUND, 0, &t, sizeof(t)), 0);
	queue_free(q);
}

static void test_given_and_cancelled(void **state)
{
	struct queue *q = make_queue(1 << 20);
	char *text = mem_strdup("a long text");
	struct record r;
	void *data;
	size_t size;

	(void)state;
	assert_non_null(text);
	assert_int_equal(queue_give(q, RECORD_KALLSYMS, 0, text, 11), 0);
	assert_int_equal(queue_pop(q, &r), 0);
	assert_ptr_equal(r.data, text);
	queue_release(q, &r);
	/* A record that is not taken is freed with the queue. */
	assert_int_equal(queue_give(q, RECORD_KALLSYMS, 0, mem_strdup("x"), 1), 0);
	assert_int_equal(queue_give(q, RECORD_KALLSYMS, 0, NULL, 0), 0);
	struct queue_item *it = queue_alloc(q, 100, &data, &size);
	assert_non_null(it);
	queue_cancel(q, it);
	assert_int_equal(queue_pop(q, &r), 0);
	queue_release(q, &r);
	queue_free(q);
}

static void test_no_memory(void **state)
{
	struct queue *q = NULL;
	struct error err = {0};
	char *given = mem_strdup("x");
	void *data;
	size_t size;

	(void)state;
	mem_fail_after(0);
	assert_int_equal(queue_new(&q, 1000, &err), -ENOMEM);
	assert_true(err.text[0]);
	q = make_queue(1 << 20);
	mem_fail_after(0);
	assert_null(queue_alloc(q, 10, &data, &size));
	assert_int_equal(queue_bytes(q), 0);
	mem_fail_after(0);
	assert_int_equal(queue_put(q, RECORD_TICK, 0, "12345678", 8), -ENOBUFS);
	mem_fail_after(0);
	assert_int_equal(queue_put_always(q, RECORD_TICK, 0, "12345678", 8), -ENOMEM);
	mem_fail_after(0);
	assert_int_equal(queue_give(q, RECORD_KALLSYMS, 0, given, 1), -ENOMEM);
	mem_fail_after(-1);
	mem_free(given);
	queue_free(q);
}

enum { MANY = 20000 };

static void *produce(void *arg)
{
	struct queue *q = arg;

	for (uint64_t i = 0; i < MANY; i++) {
		void *data;
		size_t size;
		struct queue_item *it = queue_alloc(q, 8, &data, &size);
		while (!it) {
			poll(NULL, 0, 1);
			it = queue_alloc(q, 8, &data, &size);
		}
		memcpy(data, &i, sizeof(i));
		queue_push(q, it, RECORD_PERF, 0, sizeof(i));
	}
	queue_close(q);
	return NULL;
}

static void test_two_threads(void **state)
{
	struct queue *q = make_queue(8 * 4096);
	struct pollfd p = {.fd = queue_fd(q), .events = POLLIN};
	pthread_t t;
	struct record r;
	uint64_t next = 0, v;
	int answer;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, produce, q), 0);
	while ((answer = queue_pop(q, &r)) != QUEUE_END) {
		if (answer == QUEUE_EMPTY) {
			assert_int_equal(poll(&p, 1, 10000), 1);
			continue;
		}
		memcpy(&v, r.data, sizeof(v));
		assert_int_equal(v, next++);
		queue_release(q, &r);
	}
	assert_int_equal(next, MANY);
	pthread_join(t, NULL);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_fd_says_what_pop_says),
		cmocka_unit_test(test_a_flood_leaves_little),
		cmocka_unit_test(test_wake),
		cmocka_unit_test(test_ticks_wake),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_pools_share_the_bound),
		cmocka_unit_test(test_chunks_are_recycled),
		cmocka_unit_test(test_small_ones_are_bounded_too),
		cmocka_unit_test(test_given_and_cancelled),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
