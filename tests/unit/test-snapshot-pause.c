// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots in a live session that is paused for long: those without room in the history are left
 * out, and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/damage.h"
#include "kontend/history.h"
#include "synth.h"

#define MS 1000000ull

/* A live session has nothing more for now after a number of records. */
struct live {
	struct source source;
	struct source *inner;
	unsigned left;
};

static int live_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct live *l = (struct live *)s;

	if (!l->left)
		return SOURCE_IDLE;
	l->left--;
	return source_next(l->inner, timeout_ms, ret, err);
}

static void live_release(struct source *s, struct record *r)
{
	source_release(((struct live *)s)->inner, r);
}

static void live_free(struct source *s)
{
	source_free(((struct live *)s)->inner);
}

static void play(struct engine *e)
{
	int r;

	do
		r = engine_pump(e, 0, NULL);
	while (r == 0 || r == ENGINE_TICK);
}

/* They are large and no part of what a pause must keep: each one left out is counted. */
static void test_pause_leaves_out(void **state)
{
	static const struct source_ops ops = {
		.next = live_next, .release = live_release, .free = live_free};
	struct history_options o = {.bytes = 200000};
	struct live live = {.source.ops = &ops, .left = 12};
	struct synth *s = synth_new(1);
	struct history_stat stat;
	struct source *history;
	struct engine e;

	(void)state;
	synth_prologue(s, NULL);
	for (uint64_t i = 1; i <= 30; i++) {
		synth_snapshot(s, SNAPSHOT_PERF, 1, i * MS, 50000);
		synth_tick(s, i * MS);
	}
	live.inner = synth_source(s);
	assert_int_equal(history_new(&history, &live.source, &o, NULL), 0);
	assert_int_equal(engine_init(&e, history, NULL, NULL), 0);
	play(&e);
	assert_int_equal(history_freeze(history, &e, NULL), 0);
	live.left = UINT32_MAX;
	while (!history_collect(history, NULL))
		;
	history_stat(history, &stat);
	assert_true(stat.bytes < 2 * o.bytes + 65536);
	assert_int_equal(history_thaw(history, &e, NULL), 0);
	play(&e);
	assert_true(e.model->damage->snapshot_lost > 10);
	assert_int_equal(e.model->n_snapshots[SNAPSHOT_PERF] + e.model->damage->snapshot_lost, 30);
	assert_int_equal(e.model->damage->dropped, 0);
	engine_deinit(&e);
	synth_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause_leaves_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
