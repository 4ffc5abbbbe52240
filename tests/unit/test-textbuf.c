// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text that is composed by hand, against snprintf() with the format that it stands for: the same
 * bytes for numbers of every length, and never a byte beyond the end. The short texts of durations
 * are held against printf()'s rounding here too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/oldest.h"
#include "kontend/taskid.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20000, ROOM = 96 };

static uint64_t seed;

static uint64_t next(void)
{
	seed += 0x9e3779b97f4a7c15u;
	uint64_t z = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
	return z ^ z >> 27;
}

/* As many short ones as long ones. */
static uint64_t number(void)
{
	static const uint64_t edges[] = {0, 9, 10, 99, 100, 999999999, 1000000000, UINT64_MAX};
	uint64_t v = next();

	return v % 8 ? next() >> v % 64 : edges[v / 8 % 8];
}

__attribute__((format(printf, 2, 3))) static void same(struct textbuf *b, const char *format, ...)
{
	char want[ROOM];
	va_list ap;

	va_start(ap, format);
	vsnprintf(want, sizeof(want), format, ap);
	va_end(ap);
	assert_string_equal(textbuf_end(b), want);
	b->at = b->from;
}

static void numbers_are_those_of_printf(void **state)
{
	char buf[ROOM];
	struct textbuf b = textbuf_make(buf, sizeof(buf));

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t v = number();
		int width = (int)(next() % 24);

		textbuf_u64(&b, v);
		same(&b, "%" PRIu64, v);
		textbuf_i64(&b, (int64_t)v);
		same(&b, "%" PRId64, (int64_t)v);
		textbuf_hex(&b, v);
		same(&b, "0x%" PRIx64, v);
		textbuf_u64_zeros(&b, v, (size_t)width);
		same(&b, "%0*" PRIu64, width, v);
		textbuf_u64_right(&b, v, (size_t)width);
		same(&b, "%*" PRIu64, width, v);
		textbuf_seconds(&b, v, (size_t)width);
		same(&b, "%*" PRIu64 ".%09" PRIu64, width, v / 1000000000, v % 1000000000);
	}
	textbuf_i64(&b, INT64_MIN);
	same(&b, "%" PRId64, INT64_MIN);
}

static void columns_are_those_of_printf(void **state)
{
	static const char text[] = "flock_lock_inode";
	char buf[ROOM];
	struct textbuf b = textbuf_make(buf, sizeof(buf));

	(void)state;
	for (int i = 0; i < (int)sizeof(text); i++)
		for (int width = 0; width < 24; width++) {
			textbuf_left(&b, text + i, (size_t)width);
			same(&b, "%-*s", width, text + i);
			textbuf_right(&b, text + i, (size_t)width);
			same(&b, "%*s", width, text + i);
		}
}

/* Whatever is put, in whatever room: a prefix of it, and nothing after. */
static void what_does_not_fit_is_cut(void **state)
{
	char whole[ROOM], buf[ROOM];

	(void)state;
	for (size_t size = 1; size < ROOM; size++) {
		struct textbuf all = textbuf_make(whole, sizeof(whole)),
			       b = textbuf_make(buf, size);
		struct textbuf *both[] = {&all, &b};

		memset(buf, '#', sizeof(buf));
		for (int i = 0; i < 2; i++) {
			textbuf_seconds(both[i], 40192932707900, 6);
			textbuf_char(both[i], '[');
			textbuf_u64_zeros(both[i], 7, 3);
			textbuf_left(both[i], "drown/2697", 20);
			textbuf_hex(both[i], 0xffff8881285f55e8);
			textbuf_right(both[i], "-", 7);
		}
		textbuf_end(&all);
		assert_string_equal(textbuf_end(&b), (whole[size - 1] = '\0', whole));
		for (size_t i = size; i < ROOM; i++)
			assert_int_equal(buf[i], '#');
	}
}

static void tasks_are_numbered(void **state)
{
	char buf[TASKID_TEXT];

	(void)state;
	assert_string_equal(taskid_text(buf, 812), "812");
	assert_string_equal(taskid_text(buf, -1), "-1");
	assert_string_equal(taskid_text(buf, taskid_outside(812)), "812@host");
}

/* As printf() rounds the number of them that a double has. */
static void check_ns(uint64_t ns)
{
	double v = (double)ns / (ns < 999500 ? 1e3 : ns < 999500000 ? 1e6 : 1e9);
	int digits = v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
	char buf[UNITS_BUF], want[UNITS_BUF];

	snprintf(want, sizeof(want), "%.*f%s", digits, v,
		 ns < 999500	  ? "us"
		 : ns < 999500000 ? "ms"
				  : "s");
	assert_string_equal(units_ns(buf, ns), want);
}

static void durations_are_rounded_as_printf_does(void **state)
{
	(void)state;
	for (uint64_t ns = 1000; ns < 100100; ns++)
		check_ns(ns);
	for (uint64_t step = 1000; step <= 10000000; step *= 10)
		for (uint64_t i = 1; i < 5990; i++)
			for (uint64_t near = 0; near < 3; near++)
				check_ns(i * step + step / 2 + near - 1);
	for (unsigned i = 0; i < ROUNDS; i++)
		check_ns(1000 + next() % 59949999000);
}

static uint64_t value(const void *ctx, const void *item)
{
	(void)ctx;
	return *(const uint64_t *)item;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void the_oldest_are_those_of_a_sort(void **state)
{
	uint64_t items[64], sorted[64];

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		size_t n = next() % 64, counted = 0, want = next() % 66;

		for (size_t i = 0; i < n; i++) {
			items[i] = next() % 4 ? number() : 0;
			if (items[i])
				sorted[counted++] = items[i];
		}
		qsort(sorted, counted, sizeof(*sorted), by_value);
		uint64_t until = !want ? 0 : want > counted ? UINT64_MAX : sorted[want - 1];
		assert_int_equal(oldest_until(items, n, sizeof(*items), value, NULL, want), until);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_printf),
		cmocka_unit_test(columns_are_those_of_printf),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(tasks_are_numbered),
		cmocka_unit_test(durations_are_rounded_as_printf_does),
		cmocka_unit_test(the_oldest_are_those_of_a_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
