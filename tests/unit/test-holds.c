// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of holds: both sides put a duration into the same bucket, options and bytes from outside are
 * checked, the price governs how much is measured, and the tables say what the snapshot has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "inspect/holds/internal.h"
#include "inspect/holds/price.h"
#include "kontend/holdsnap.h"
#include "kontend/mem.h"
#include "kontend/query-holds.h"

#include <errno.h>
#include <string.h>

#define US 1000ull
#define MS 1000000ull

const struct holds_function holds_functions[HOLDS_FUNCTIONS] = {{.name = "mutex_unlock"},
								{.name = "mutex_lock"}};

/* A chain begins with its caller: 0x5010 here. */
static void chains_begin_with_the_caller(void **state)
{
	const struct holds_symbols s = {
		.functions = {[1] = 0x2000},
		.code = {{0x8000, 0x100}, {0x8100, 0x80}},
		.n_code = 2,
	};
	const uint64_t called[] = {0x8010, 0x8120, 0x9000, 0x2009, 0x5010, 0x6000};
	const uint64_t jumped[] = {0x8010, 0x8120, 0x9000, 0x5010, 0x6000};
	const uint64_t no_function[] = {0x8120, 0x9000, 0x5010};

	(void)state;
	assert_int_equal(holds_symbols_inner(&s, called, 6), 4);
	assert_int_equal(holds_symbols_inner(&s, jumped, 5), 3);
	assert_int_equal(holds_symbols_inner(&s, no_function, 3), 2);
	/* One that has nothing after its program, and one that does not begin with it. */
	assert_int_equal(holds_symbols_inner(&s, jumped, 2), 2);
	assert_int_equal(holds_symbols_inner(&s, jumped + 3, 2), 0);
	assert_int_equal(holds_symbols_inner(&s, jumped, 0), 0);
	/* The end of the program's instructions is not in it; without addresses nothing is cut. */
	assert_int_equal(holds_symbols_inner(&s, (uint64_t[]){0x8180, 0x5010}, 2), 0);
	assert_int_equal(holds_symbols_inner(&(struct holds_symbols){0}, jumped, 5), 0);
}

static void both_sides_have_the_same_buckets(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < 3600000 * MS; ns = ns * 17 / 16 + 1) {
		uint64_t buckets[HOLDSNAP_BUCKETS] = {0};
		buckets[raw_holds_bucket(ns)] = 1;
		uint64_t middle = holdsnap_percentile(buckets, 50, UINT64_MAX);
		uint64_t off = middle > ns ? middle - ns : ns - middle;
		if (off * 16 > ns)
			fail_msg("%llu ns are reported as %llu", (unsigned long long)ns,
				 (unsigned long long)middle);
	}
	assert_int_equal(raw_holds_bucket(UINT64_MAX), HOLDSNAP_BUCKETS - 1);
	for (unsigned ns = 1; ns < 100000; ns++)
		assert_true(raw_holds_bucket(ns) >= raw_holds_bucket(ns - 1));
}

static void percentiles(void **state)
{
	uint64_t buckets[HOLDSNAP_BUCKETS] = {0};

	(void)state;
	assert_int_equal(holdsnap_percentile(buckets, 50, 100), 0);
	buckets[raw_holds_bucket(1000)] = 98;
	buckets[raw_holds_bucket(50000)] = 2;
	uint64_t p50 = holdsnap_percentile(buckets, 50, 50001);
	assert_true(p50 > 930 && p50 < 1070);
	assert_int_equal(holdsnap_percentile(buckets, 99, 49999), 49999);
	/* Counts from a file may be anything. */
	buckets[7] = UINT64_MAX / 2;
	assert_int_equal(holdsnap_percentile(buckets, 50, 50001), 7);
}

static void what_is_asked_for(void **state)
{
	static const struct {
		const char *text;
		uint64_t lock;
		uint32_t kinds;
	} good[] = {
		{"0xffff888104c3a0b8", 0xffff888104c3a0b8, 0},
		{"ffff888104c3a0b8", 0xffff888104c3a0b8, 0},
		{"mutex", 0, 1u << HOLDSNAP_MUTEX},
		{"rwsem", 0, 1u << HOLDSNAP_WRITE | 1u << HOLDSNAP_READ},
		{"rwsem:W", 0, 1u << HOLDSNAP_WRITE},
		{"rwsem:R", 0, 1u << HOLDSNAP_READ},
		/* Names that begin like a number. */
		{"cgroup_mutex", 0, 0},
		{"deadbeef_lock", 0, 0},
		{"dead", 0, 0},
		{"0xfff?", 0, 0},
	};
	struct holdsnap_asked a;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(holdsnap_parse(good[i].text, &a, &err), 0);
		assert_int_equal(a.lock, good[i].lock);
		assert_int_equal(a.kinds, good[i].kinds);
	}
	assert_int_equal(holdsnap_parse("spinlock", &a, &err), -EINVAL);
	assert_non_null(strstr(err.text, "rwsem:R"));
	err = (struct error){0};
	assert_int_equal(holdsnap_parse("", &a, &err), -EINVAL);
}

static void the_price_governs(void **state)
{
	struct holds_price p = {.target_ppm = 10000, .cpus = 2}; /* 2 ms of 100 */

	(void)state;
	/* A burst is no reason; two looks in a row are. */
	assert_int_equal(holds_price_look(&p, 100 * MS, 3 * MS), HOLDS_STEP_ALL);
	assert_int_equal(holds_price_look(&p, 100 * MS, 1 * MS), HOLDS_STEP_ALL);
	assert_int_equal(holds_price_look(&p, 100 * MS, 3 * MS), HOLDS_STEP_ALL);
	assert_int_equal(holds_price_look(&p, 100 * MS, 3 * MS), HOLDS_STEP_NO_CHAINS);
	/* Far above it is one at once. */
	assert_int_equal(holds_price_look(&p, 100 * MS, 30 * MS), HOLDS_STEP_8);
	assert_int_equal(holds_price_every(HOLDS_STEP_8), 8);
	/* A quarter was enough for some time. */
	for (int i = 0; i < 200 && p.step == HOLDS_STEP_8; i++)
		holds_price_look(&p, 100 * MS, MS / 10);
	assert_int_equal(p.step, HOLDS_STEP_NO_CHAINS);
	for (int i = 0; i < 4; i++)
		holds_price_look(&p, 100 * MS, 30 * MS);
	assert_int_equal(p.step, HOLDS_STEP_OFF);
	/* For good. */
	for (int i = 0; i < 2000; i++)
		assert_int_equal(holds_price_look(&p, 100 * MS, 0), HOLDS_STEP_OFF);
	p = (struct holds_price){.cpus = 2};
	assert_int_equal(holds_price_look(&p, 100 * MS, 100 * MS), HOLDS_STEP_ALL);
	assert_int_equal(holds_price_every(p.step), 1);
}

static void fill(struct holdsnap *s)
{
	struct holdsnap_sum sum = {.kind = HOLDSNAP_MUTEX,
				   .acquired = 100,
				   .acquired_before = 60,
				   .holds = 99,
				   .total_ns = 990 * US,
				   .max_ns = 50 * US,
				   .unbegun = 1};
	struct holdsnap_lock lock = {.addr = 0xffffffff8d934220,
				     .kind = HOLDSNAP_MUTEX,
				     .acquired = 100,
				     .holds = 99,
				     .total_ns = 990 * US,
				     .max_ns = 50 * US};
	struct holdsnap_now now = {
		.addr = lock.addr, .since_ns = 1900 * MS, .tid = 812, .pid = 812};
	struct holdsnap_chain chain = {
		.kind = HOLDSNAP_MUTEX, .n_frames = 2, .holds = 90, .total_ns = 495 * US};
	struct holdsnap_task task = {.tid = 812, .pid = 811, .holds = 99, .total_ns = 990 * US};

	sum.buckets[raw_holds_bucket(10 * US)] = 99;
	s->head = (struct holdsnap_head){.time_ns = 2000 * MS,
					 .from_ns = 1000 * MS,
					 .before_ns = 1500 * MS,
					 .lock = lock.addr,
					 .every = 1,
					 .price_ns = 50 * MS,
					 .runs = 50000,
					 .run_ns = MS,
					 .cpus = 2};
	s->head.asked = holdsnap_add_text(s, "cgroup_mutex");
	now.comm = task.comm = holdsnap_add_text(s, "mkdir");
	assert_int_equal(holdsnap_add_sum(s, &sum), 0);
	assert_int_equal(holdsnap_add_lock(s, &lock), 0);
	assert_int_equal(holdsnap_add_now(s, &now), 0);
	assert_int_equal(holdsnap_add_frame(s, 0xffffffff81000010), 0);
	assert_int_equal(holdsnap_add_frame(s, 0xffffffff81000020), 0);
	assert_int_equal(holdsnap_add_chain(s, &chain), 0);
	assert_int_equal(holdsnap_add_task(s, &task), 0);
}

static void bytes_from_outside(void **state)
{
	struct holdsnap s = {0}, back = {0};

	(void)state;
	fill(&s);
	size_t len = holdsnap_size(&s);
	uint8_t *bytes = mem_calloc(1, len);
	assert_non_null(bytes);
	holdsnap_encode(&s, bytes);
	assert_int_equal(holdsnap_decode(&back, bytes, len), 0);
	assert_int_equal(back.sums[0].buckets[raw_holds_bucket(10 * US)], 99);
	assert_string_equal(holdsnap_text(&back, back.tasks[0].comm), "mkdir");
	s.chains[0].n_frames = 3;
	holdsnap_encode(&s, bytes);
	assert_int_equal(holdsnap_decode(&back, bytes, len), -EBADMSG);
	s.chains[0].n_frames = 2;
	s.now[0].kind = HOLDSNAP_KINDS;
	holdsnap_encode(&s, bytes);
	assert_int_equal(holdsnap_decode(&back, bytes, len), -EBADMSG);
	s.now[0].kind = 0;
	s.tasks[0].comm = 1 << 20;
	holdsnap_encode(&s, bytes);
	assert_int_equal(holdsnap_decode(&back, bytes, len), -EBADMSG);
	mem_free(bytes);
	holdsnap_deinit(&s);
	holdsnap_deinit(&back);
}

static void put(struct model *m, const struct holdsnap *s)
{
	size_t len = holdsnap_size(s);
	struct record_snapshot *body = mem_calloc(1, sizeof(*body) + len);

	assert_non_null(body);
	*body = (struct record_snapshot){
		.kind = SNAPSHOT_HOLDS, .version = HOLDSNAP_VERSION, .time_ns = CANNED_START};
	holdsnap_encode(s, body + 1);
	assert_int_equal(model_snapshot(m, body, sizeof(*body) + len), 0);
	mem_free(body);
}

static struct model *play(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_START + 1000 * CANNED_MS);
	asked_play(w, NULL);
	return w->rig.engine.model;
}

static void sums_and_tables(void **state)
{
	struct query_spec spec = {.average = true};
	struct asked *w = *state;
	struct query_holds_sum sum;
	struct holdsnap s = {0};
	struct table t;

	struct model *m = play(w);
	fill(&s);
	put(m, &s);
	assert_int_equal(query_holds_sum(&w->q, true, &sum), 0);
	assert_true(sum.asked);
	assert_null(sum.none);
	assert_int_equal(sum.n_kinds, 1);
	assert_string_equal(sum.kinds[0].kind, "mutex");
	assert_int_equal(sum.kinds[0].avg_ns, 10 * US);
	assert_true(sum.kinds[0].acquired_per_s == 100);
	assert_true(sum.cost_pct == 2);
	assert_true(sum.runs_per_s == 1e6);
	assert_string_equal(query_holds_price(&w->q, &sum),
			    "costs 2.0% of a CPU at 1.00M/s (20ns each)");
	assert_int_equal(sum.n_notes, 1);
	assert_non_null(strstr(sum.notes[0], "1 releases are of holds that began before"));
	/* Since the snapshot before. */
	assert_int_equal(query_holds_sum(&w->q, false, &sum), 0);
	assert_true(sum.kinds[0].acquired_per_s == 80);

	assert_int_equal(query_holds(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "name"), "cgroup_mutex");
	assert_string_equal(cell_s(&t, 0, "held_by"), "mkdir/812");
	assert_int_equal(cell_u(&t, 0, "held_for_ns"), 100 * MS);
	assert_int_equal(cell_u(&t, 0, "held_total_ns"), 990 * US);
	assert_int_equal(query_holds_chains(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(cell_u(&t, 0, "holds"), 90);
	assert_true(table_cell(&t, 0, "held_pct")->d == 50);
	assert_int_equal(query_holds_tasks(&w->q, &spec, &t, NULL), 0);
	assert_string_equal(cell_s(&t, 0, "task"), "mkdir/812");
	holdsnap_deinit(&s);
}

static void what_is_left_out_is_said(void **state)
{
	struct asked *w = *state;
	struct query_holds_sum sum;
	struct holdsnap s = {0};

	struct model *m = play(w);
	assert_int_equal(query_holds_sum(&w->q, true, &sum), 0);
	assert_false(sum.asked);
	assert_string_equal(sum.none, "not asked for: --holds");
	fill(&s);
	s.head.level = HOLDSNAP_SOME;
	s.head.every = 8;
	s.head.target_ppm = 10000;
	put(m, &s);
	assert_int_equal(query_holds_sum(&w->q, true, &sum), 0);
	assert_non_null(strstr(sum.notes[0], "one in 8 acquisitions is measured"));
	assert_non_null(strstr(sum.notes[0], "--max-overhead 1%"));
	holdsnap_deinit(&s);
}

static void it_has_stopped(void **state)
{
	struct asked *w = *state;
	struct query_holds_sum sum;
	struct holdsnap s = {0};

	struct model *m = play(w);
	fill(&s);
	s.head.level = HOLDSNAP_OFF;
	s.head.off_ns = 1500 * MS;
	put(m, &s);
	assert_int_equal(query_holds_sum(&w->q, false, &sum), 0);
	assert_string_equal(sum.level, "stopped");
	assert_non_null(strstr(sum.notes[0], "measuring holds has stopped"));
	assert_int_equal(sum.span_ns, 500 * MS);
	assert_true(sum.kinds[0].acquired_per_s == 200);
	assert_false(sum.is_priced);
	holdsnap_deinit(&s);
}

static void why_it_is_not_measured(void **state)
{
	struct holdsnap s = {.head = {.every = 1}};
	struct asked *w = *state;
	struct query_holds_sum sum;

	struct model *m = play(w);
	s.head.asked = holdsnap_add_text(&s, "mutex");
	s.head.reason = holdsnap_add_text(&s, "This kernel refuses it");
	put(m, &s);
	assert_int_equal(query_holds_sum(&w->q, true, &sum), 0);
	assert_true(sum.asked);
	assert_string_equal(sum.what, "mutex");
	assert_string_equal(sum.none, "This kernel refuses it");
	holdsnap_deinit(&s);
}

static void the_page_of_a_lock(void **state)
{
	struct asked *w = *state;
	struct query_holds_page page;
	struct holdsnap s = {0};
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK, .average = true});

	assert_true(t.n_rows > 1);
	uint64_t id = t.ids[0], other = t.ids[1];
	/* Without --holds there is nothing. */
	assert_int_equal(query_holds_page(&w->q, id, &page), 0);
	assert_int_equal(page.n, 0);
	fill(&s);
	s.head.lock = s.locks[0].addr = s.now[0].addr = cell_u(&t, 0, "lock");
	put(w->rig.engine.model, &s);
	assert_int_equal(query_holds_page(&w->q, id, &page), 0);
	assert_int_equal(page.n, 3);
	assert_non_null(strstr(page.lines[0], "held (mutex) 80"));
	assert_non_null(strstr(page.lines[0], "max 50"));
	assert_non_null(strstr(page.lines[0], "; now by mkdir/812 for 100ms"));
	assert_non_null(strstr(page.lines[1], "taken in "));
	assert_non_null(strstr(page.lines[1], "; by mkdir/812 100%"));
	assert_non_null(strstr(page.lines[2], "costs 2.0% of a CPU at 1.00M/s"));
	if (cell_u(&t, 1, "lock") != s.head.lock) {
		assert_int_equal(query_holds_page(&w->q, other, &page), 0);
		assert_int_equal(page.n, 0);
	}
	holdsnap_deinit(&s);
}

#define ASKED(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_begin_with_the_caller),
		cmocka_unit_test(both_sides_have_the_same_buckets),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(what_is_asked_for),
		cmocka_unit_test(the_price_governs),
		cmocka_unit_test(bytes_from_outside),
		ASKED(sums_and_tables),
		ASKED(what_is_left_out_is_said),
		ASKED(it_has_stopped),
		ASKED(why_it_is_not_measured),
		cmocka_unit_test_setup_teardown(the_page_of_a_lock, asked_setup, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
