// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retries by samples at the second cmpxchg, of code whose truth is known; and the message on a
 * machine without such a counter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/bench-retry.h"

#include <errno.h>
#include <string.h>

/* As it was before Linux 5.17: one try, and a loop after it. */
static const uint8_t two[] = {
	0x31, 0xc0,		      /* xor %eax,%eax */
	0xba, 0x00, 0x01, 0x00, 0x00, /* mov $0x100,%edx */
	0xf0, 0x48, 0x0f, 0xb1, 0x17, /* lock cmpxchg %rdx,(%rdi) */
	0x75, 0x01,		      /* jne */
	0xc3,			      /* ret */
	0xf0, 0x48, 0x0f, 0xb1, 0x17, /* lock cmpxchg %rdx,(%rdi) */
	0x75, 0xf9,		      /* jne */
	0xc3,
};
enum { FIRST = 7, SECOND = 15 };

static struct bench_retry *make_retry(uint32_t first, uint32_t second)
{
	struct error err = {0};
	struct bench_retry *r;

	assert_int_equal(bench_retry_new(&r, NULL, 0, &err), 0);
	for (uint32_t i = 0; i < first; i++)
		bench_retry_count(r, FIRST);
	for (uint32_t i = 0; i < second; i++)
		bench_retry_count(r, SECOND);
	for (int i = 0; i < 5; i++)
		bench_retry_count(r, 0);
	return r;
}

static void tries_again_are_in_proportion(void **state)
{
	const uint32_t at[2] = {FIRST, SECOND};
	struct bench_retry *r = make_retry(80, 60);
	struct bench_retry_sum s;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_retry_sum(r, at, &s, &err), 0);
	assert_int_equal(s.samples, 145);
	assert_int_equal(s.first, 80);
	assert_int_equal(s.second, 60);
	assert_true(s.per_try > 0.749 && s.per_try < 0.751);
	bench_retry_free(r);
}

static void few_samples_tell_nothing(void **state)
{
	const uint32_t at[2] = {FIRST, SECOND}, none[2] = {3, SECOND};
	struct bench_retry *few = make_retry(10, 2), *many = make_retry(100, 0);
	struct bench_retry_sum s;
	struct error err = {0};

	(void)state;
	assert_int_equal(bench_retry_sum(few, at, &s, &err), -ENODATA);
	assert_non_null(strstr(err.text, "Too few samples"));
	assert_int_equal(bench_retry_sum(many, at, &s, &err), 0);
	assert_true(s.per_try < 1e-9);
	assert_int_equal(bench_retry_sum(many, none, &s, &err), -ENODATA);
	bench_retry_free(few);
	bench_retry_free(many);
}

static void instructions_are_found(void **state)
{
#if defined(__x86_64__)
	struct error err = {0};
	uint32_t at[2];

	(void)state;
	int code = bench_retry_places(two, sizeof(two), at, &err);
	if (code == -ENOTSUP)
		skip(); /* built without capstone */
	assert_int_equal(code, 0);
	assert_int_equal(at[0], FIRST);
	assert_int_equal(at[1], SECOND);
	/* One in a loop, as since Linux 5.17. */
	assert_int_equal(bench_retry_places(two + SECOND, sizeof(two) - SECOND, at, &err),
			 -ENODATA);
	assert_non_null(strstr(err.text, "1 cmpxchg"));
	assert_int_equal(bench_retry_places(two, 0, at, &err), -ENODATA);
#else
	(void)state;
	(void)two;
	skip();
#endif
}

static void a_machine_without_such_a_counter_says_so(void **state)
{
	const uint32_t cpu = 0;
	struct error err = {0};
	struct bench_retry *r = NULL;

	(void)state;
	if (bench_retry_new(&r, &cpu, 1, &err) == 0)
		bench_retry_take(r, 0, 1);
	else
		assert_true(*err.text);
	bench_retry_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tries_again_are_in_proportion),
		cmocka_unit_test(few_samples_tell_nothing),
		cmocka_unit_test(instructions_are_found),
		cmocka_unit_test(a_machine_without_such_a_counter_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
