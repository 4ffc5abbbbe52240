// SPDX-License-Identifier: GPL-2.0-only
/* Functions are named while a stream of this program goes by, as a recorder would hand it on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/record/resolve-thread.h"
#include "canary.h"
#include "kontend/clock.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include "synth-profile.h"
#include <string.h>

struct named {
	struct synth *synth;
	struct record_sampler sampler;
	struct resolve_thread *resolver;
	size_t fed;
};

static int setup(void **state)
{
	static struct named t;
	const struct resolve_thread_options o = {.most = query_functions_usual};

	t = (struct named){.synth = synth_new(1)};
	synth_profile(t.synth);
	canary_machine(t.synth);
	*state = &t;
	return resolve_thread_new(&t.resolver, &o, &t.sampler, NULL);
}

static int teardown(void **state)
{
	struct named *t = *state;

	resolve_thread_free(t->resolver);
	synth_free(t->synth);
	return 0;
}

/* A second of the stream later than what was fed before. */
static void feed(struct named *t)
{
	struct canary_place h = canary_here();

	canary_stream(t->synth, clock_now_ns() + CANARY_START * (1 + t->fed), &h);
	for (; t->fed < synth_count(t->synth); t->fed++)
		record_sampler_put(&t->sampler, synth_at(t->synth, t->fed), CANARY_START * t->fed);
}

/* Is the canary in the result? */
static bool has_canary(struct named *t)
{
	struct symbol_batch *n;
	struct record_snapshot head;
	bool found = false;

	while ((n = resolve_thread_take(t->resolver))) {
		struct funcsnap s = {0};

		memcpy(&head, n->body, sizeof(head));
		assert_int_equal(head.kind, SNAPSHOT_FUNCS);
		assert_int_equal(head.flags, RECORD_SNAPSHOT_MORE);
		assert_int_equal(funcsnap_decode(&s, n->body + sizeof(head), n->len - sizeof(head)),
				 0);
		for (size_t i = 0; i < s.n_funcs; i++)
			found |= !strcmp(funcsnap_text(&s, s.funcs[i].name), "names_canary") &&
				 s.funcs[i].code_len;
		funcsnap_deinit(&s);
		mem_free(n);
	}
	return found;
}

static void each_file_is_told_of_anew(void **state)
{
	struct named *t = *state;
	struct error err = {0};

	assert_int_equal(resolve_thread_start(t->resolver, &err), 0);
	for (int i = 0; i < 3; i++) {
		feed(t);
		resolve_thread_cut(t->resolver, 2000000000);
		assert_true(has_canary(t));
	}
	/* Of the last one nothing more came. */
	resolve_thread_cut(t->resolver, 2000000000);
	assert_false(has_canary(t));
	assert_int_equal(resolve_thread_stop(t->resolver, false, &err), 0);
	assert_false(has_canary(t));
}

static void at_the_end_the_rest_is_told(void **state)
{
	struct named *t = *state;

	assert_int_equal(resolve_thread_start(t->resolver, NULL), 0);
	feed(t);
	assert_int_equal(resolve_thread_stop(t->resolver, false, NULL), 0);
	assert_true(has_canary(t));
}

static void or_dropped(void **state)
{
	struct named *t = *state;

	feed(t);
	assert_int_equal(resolve_thread_start(t->resolver, NULL), 0);
	assert_int_equal(resolve_thread_stop(t->resolver, true, NULL), 0);
	/* No caller waits for one that has ended, or has not begun. */
	resolve_thread_cut(t->resolver, 2000000000);
}

static void memory_runs_out(void **state)
{
	struct named *t = *state;
	struct error err = {0};
	const struct resolve_thread_options o = {.most = query_functions_usual};
	struct resolve_thread *n;
	struct record_sampler sampler;

	(void)t;
	for (long i = 0; i < 2; i++) {
		mem_fail_after(i);
		assert_int_equal(resolve_thread_new(&n, &o, &sampler, NULL), -12);
		mem_fail_after(-1);
	}
	assert_int_equal(resolve_thread_new(&n, &o, &sampler, NULL), 0);
	mem_fail_after(0);
	assert_int_equal(resolve_thread_start(n, NULL), 0);
	assert_true(resolve_thread_stop(n, false, &err) < 0);
	mem_fail_after(-1);
	assert_true(err.text[0]);
	resolve_thread_free(n);
}

#define NAMED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		NAMED(each_file_is_told_of_anew),
		NAMED(at_the_end_the_rest_is_told),
		NAMED(or_dropped),
		NAMED(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
