// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many callers: the table of functions grows while rows are grouped by caller, and may move. Every
 * row must have the id and the waits of its own function.
 */
#include "kontend/lock.h"
#include "kontend/query.h"
#include "rig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CALLERS = 3000 };

/* In no function of the synthetic kallsyms: each address stands for itself. */
static uint64_t caller(uint32_t k)
{
	return 0xffffffffc8000000 + k * 0x1000;
}

static void state_waits(struct synth *s)
{
	for (uint32_t k = 0; k < CALLERS; k++) {
		uint64_t t = 1000000 + k * 1000, frame = caller(k);

		synth_begin(s, 0, t, 7, 7, 0xffff888000001000, LCB_F_WRITE, &frame, 1);
		synth_end(s, 0, t + 100 + k % 800, 7, 7, 0xffff888000001000, 0);
	}
	synth_tick(s, 100000000);
}

static void test_many_callers(void **state)
{
	struct query_spec spec = {.by = BY_CALLER, .sort = "last_ns"};
	struct error err = {0};
	struct table t = {0};
	struct rig r;
	struct query q;

	(void)state;
	rig_init(&r, 1);
	state_waits(r.synth);
	rig_play(&r, NULL);
	assert_int_equal(query_init(&q, &r.engine), 0);
	query_begin(&q);
	if (query_locks(&q, &spec, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(t.n_rows, CALLERS);
	size_t total = table_column(&t, "total_ns");
	/* The latest wait has the highest address: ids are lock_key() of the function. */
	for (uint32_t row = 0; row < CALLERS; row++) {
		size_t at = table_row(&t, lock_key(caller(row), LOCK_RWSEM_W));

		assert_true(at < t.n_rows);
		assert_int_equal(table_value(&t, at, total)->u, 100 + row % 800);
	}
	query_deinit(&q);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
