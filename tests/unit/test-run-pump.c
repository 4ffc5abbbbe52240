// SPDX-License-Identifier: GPL-2.0-only
/* run_pump(): it ends with the stream, at a deadline, or when a descriptor has input. */
#include "kontend/clock.h"
#include "kontend/run.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

/* A source without records: idle so many times, then this result. */
struct quiet {
	struct source source;
	unsigned asked, idle;
	int last;
};

static int quiet_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct quiet *q = (struct quiet *)s;

	(void)timeout_ms, (void)ret;
	if (q->asked++ < q->idle)
		return SOURCE_IDLE;
	return q->last < 0 ? error_set(err, q->last, "Broken") : q->last;
}

static void quiet_free(struct source *s)
{
	(void)s;
}

static const struct source_ops quiet_ops = {.next = quiet_next, .free = quiet_free};

static void open_quiet(struct run *r, struct quiet *q)
{
	struct error err = {0};

	q->source.ops = &quiet_ops;
	assert_int_equal(engine_init(&r->engine, &q->source, NULL, &err), 0);
}

static void ends_with_the_stream(void **state)
{
	struct quiet q = {.idle = 2, .last = SOURCE_END};
	struct error err = {0};
	struct run r = {0};

	(void)state;
	open_quiet(&r, &q);
	assert_int_equal(run_pump(&r, -1, 0, &err), 0);
	assert_true(q.asked >= 3);
	engine_deinit(&r.engine);
}

static void ends_with_an_error(void **state)
{
	struct quiet q = {.last = -EIO};
	struct error err = {0};
	struct run r = {0};

	(void)state;
	open_quiet(&r, &q);
	assert_int_equal(run_pump(&r, -1, 0, &err), -EIO);
	assert_string_equal(err.text, "Broken");
	engine_deinit(&r.engine);
}

/* One that has passed lets nothing be read; one in the future ends it. */
static void ends_at_a_deadline(void **state)
{
	struct quiet q = {.idle = ~0u};
	struct error err = {0};
	struct run r = {0};

	(void)state;
	open_quiet(&r, &q);
	assert_int_equal(run_pump(&r, -1, 1, &err), 0);
	assert_int_equal(q.asked, 0);
	uint64_t until = clock_now_ns() + 20000000;
	assert_int_equal(run_pump(&r, -1, until, &err), 0);
	assert_true(clock_now_ns() >= until);
	assert_true(q.asked > 0);
	engine_deinit(&r.engine);
}

/* Input that is there is left there; the other end's close is input as well. */
static void ends_with_a_descriptor(void **state)
{
	struct quiet q = {.idle = ~0u};
	struct error err = {0};
	struct run r = {0};
	char byte = 0;
	int fds[2];

	(void)state;
	open_quiet(&r, &q);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(run_pump(&r, fds[0], 0, &err), 0);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fds[1]);
	assert_int_equal(run_pump(&r, fds[0], 0, &err), 0);
	close(fds[0]);
	engine_deinit(&r.engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_the_stream),
		cmocka_unit_test(ends_with_an_error),
		cmocka_unit_test(ends_at_a_deadline),
		cmocka_unit_test(ends_with_a_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
