// SPDX-License-Identifier: GPL-2.0-only
/*
 * Expiries of timers and switches: paired by timer and CPU, never over what was lost, put together
 * with the events that the snapshots before and after both have, and the same in a copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/event.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/perfsnap.h"
#include "kontend/pmus.h"
#include "kontend/record.h"
#include "kontend/rotation.h"
#include "kontend/snapshot.h"
#include "kontend/task.h"
#include <linux/perf_event.h>

#define US 1000ull
#define TIMER 0xffff888000001000ull
#define OTHER 0xffff888000002000ull
#define HANDLER 0xffffffff81234560ull

static void expire(struct rotation *r, uint32_t cpu, uint64_t t, uint64_t timer, int tid)
{
	struct event ev = {.kind = EVENT_TIMER_ENTRY, .cpu = cpu, .time = t, .tid = tid};

	ev.timer.timer = timer;
	ev.timer.function = HANDLER;
	assert_int_equal(rotation_event(r, &ev), 0);
}

static void done(struct rotation *r, uint32_t cpu, uint64_t t, uint64_t timer)
{
	struct event ev = {.kind = EVENT_TIMER_EXIT, .cpu = cpu, .time = t};

	ev.timer.timer = timer;
	assert_int_equal(rotation_event(r, &ev), 0);
}

static void turn(struct rotation *r, uint32_t cpu, uint64_t t, bool out, int tid, int other)
{
	struct event ev = {.kind = EVENT_SWITCH, .cpu = cpu, .time = t, .tid = tid};

	ev.sw.out = out;
	ev.sw.other = other;
	assert_int_equal(rotation_event(r, &ev), 0);
}

static void pairs_by_timer_and_cpu(void **state)
{
	struct rotation r = {0};

	(void)state;
	expire(&r, 0, 100 * US, TIMER, 7);
	expire(&r, 1, 101 * US, OTHER, 8);
	done(&r, 1, 131 * US, OTHER);
	done(&r, 0, 150 * US, TIMER);
	assert_int_equal(r.n_timers, 2);
	assert_int_equal(r.timers[0].time.total_ns, 50 * US);
	assert_int_equal(r.timers[1].time.total_ns, 30 * US);
	/* An end of another CPU is none, and the begin stays. */
	expire(&r, 0, 4100 * US, TIMER, 7);
	done(&r, 1, 4120 * US, TIMER);
	assert_int_equal(r.unmatched, 1);
	done(&r, 0, 4140 * US, TIMER);
	assert_int_equal(r.timers[0].time.total_ns, 90 * US);
	assert_int_equal(r.timers[0].expiries, 2);
	rotation_deinit(&r);
}

static void missing_halves_are_counted(void **state)
{
	struct rotation r = {0};

	(void)state;
	/* Exits come later than the first entries: the timer was unknown. */
	expire(&r, 0, 1000 * US, TIMER, 0);
	expire(&r, 0, 5000 * US, TIMER, 0);
	expire(&r, 0, 9000 * US, TIMER, 0);
	done(&r, 0, 9050 * US, TIMER);
	done(&r, 0, 9060 * US, TIMER);
	done(&r, 0, 9070 * US, OTHER);
	assert_int_equal(r.timers[0].expiries, 3);
	assert_int_equal(r.timers[0].unpaired, 2);
	assert_int_equal(r.timers[0].time.n, 1);
	assert_int_equal(r.timers[0].time.max_ns, 50 * US);
	assert_int_equal(r.unmatched, 2);
	rotation_deinit(&r);
}

static void nothing_is_paired_over_a_loss(void **state)
{
	struct rotation r = {0};

	(void)state;
	expire(&r, 0, 1000 * US, TIMER, 0);
	turn(&r, 0, 1001 * US, true, 5, 6);
	rotation_lost(&r, 0);
	done(&r, 0, 5050 * US, TIMER);
	turn(&r, 0, 5051 * US, false, 6, 5);
	assert_int_equal(r.timers[0].time.n, 0);
	assert_int_equal(r.timers[0].unpaired, 1);
	assert_int_equal(r.cpus[0].n, 0);
	assert_int_equal(r.unmatched, 2);
	rotation_deinit(&r);
}

static void switches_must_agree(void **state)
{
	struct rotation r = {0};

	(void)state;
	turn(&r, 0, 100 * US, true, 5, 6);
	turn(&r, 0, 102 * US, false, 6, 5);
	turn(&r, 0, 200 * US, true, 6, 7);
	turn(&r, 0, 202 * US, false, 9, 8);
	assert_int_equal(r.cpus[0].n, 1);
	assert_int_equal(r.unmatched, 1);
	rotation_deinit(&r);
}

/* The cost of sampling switches is summed up over bursts, and forgotten with them. */
static void bursts_cost(void **state)
{
	const struct record_burst b = {.from_ns = 100 * US,
				       .to_ns = 200 * US,
				       .turn_ns = 5 * US,
				       .drain_ns = 30 * US,
				       .drain_bytes = 4096};
	struct event ev = {.kind = EVENT_SWITCH, .time = 150 * US, .tid = 5};
	struct rotation r = {0}, copy;

	(void)state;
	ev.sw.out = true;
	ev.sw.size = 64;
	assert_int_equal(rotation_event(&r, &ev), 0);
	rotation_burst(&r, &b);
	rotation_burst(&r, &b);
	assert_int_equal(rotation_copy(&copy, &r), 0);
	assert_int_equal(copy.bursts, 2);
	assert_int_equal(copy.switch_records, 1);
	assert_int_equal(copy.switch_bytes, 64);
	assert_int_equal(copy.turn_ns, 10 * US);
	assert_int_equal(copy.drain_ns, 60 * US);
	assert_int_equal(copy.drain_bytes, 8192);
	rotation_deinit(&copy);
	rotation_zero(&r);
	assert_int_equal(r.switch_records + r.switch_bytes + r.turn_ns + r.drain_ns, 0);
	rotation_deinit(&r);
}

static struct snapshot_set pack(struct perfsnap *s, uint64_t t)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_PERF, .version = SNAP_VERSION, .time_ns = t};
	size_t len = sizeof(head) + perfsnap_size(s);
	struct snapshot_set set = {0};
	char *body = mem_calloc(1, len);

	s->head.time_ns = t;
	memcpy(body, &head, sizeof(head));
	perfsnap_encode(s, body + sizeof(head));
	assert_int_equal(snapshot_set_put(&set, body, len), 0);
	mem_free(body);
	return set;
}

/* A snapshot of @n counters on CPU 0 and @m on task 5, as of @t. */
static struct snapshot_set snapshot(unsigned n, unsigned m, uint64_t t)
{
	struct perfsnap s = {0};

	for (unsigned i = 0; i < n + m; i++) {
		struct snap_event e = {.type = PERF_TYPE_HARDWARE,
				       .id = i + 1,
				       .cpu = i < n ? 0 : -1,
				       .target_tid = i < n ? 0 : 5,
				       .state = SNAP_ACTIVE};
		assert_int_equal(perfsnap_add_event(&s, &e), 0);
	}
	struct snapshot_set set = pack(&s, t);
	perfsnap_deinit(&s);
	return set;
}

/* Between these two; tasks up to 9 are there from the start. */
static void add_snapshots(struct rotation *r, const struct snapshot_set *before,
			  const struct snapshot_set *now)
{
	struct task_table tasks;

	assert_int_equal(task_table_init(&tasks, 64), 0);
	for (int tid = 1; tid < 10; tid++)
		task_get(&tasks, tid, tid);
	assert_int_equal(
		task_fork(&tasks, &(struct event){.kind = EVENT_FORK, .time = 900 * US, .tid = 20}),
		0);
	struct rotation_looks l = {
		.before = before ? snapshot_set_get(before, SNAPSHOT_PERF) : NULL,
		.now = snapshot_set_get(now, SNAPSHOT_PERF),
		.tasks = &tasks,
	};
	rotation_look(r, &l);
	task_table_deinit(&tasks);
}

static void one_of_each(struct rotation *r)
{
	expire(r, 0, 1000 * US, TIMER, 5);
	done(r, 0, 1060 * US, TIMER);
	turn(r, 0, 2000 * US, true, 5, 6);
	turn(r, 0, 2008 * US, false, 6, 5);
	turn(r, 0, 3000 * US, true, 6, 7);
	turn(r, 0, 3001 * US, false, 7, 6);
}

static void points_wait_for_their_snapshot(void **state)
{
	struct snapshot_set before = snapshot(20, 4, 500 * US), after = snapshot(20, 4, 9000 * US);
	struct rotation r = {0};

	(void)state;
	one_of_each(&r);
	add_snapshots(&r, NULL, &before);
	assert_int_equal(r.n_points, 0);
	assert_int_equal(r.n_samples, 3);
	add_snapshots(&r, &before, &after);
	assert_int_equal(r.n_samples, 0);
	assert_int_equal(r.n_points, 3);
	assert_int_equal(r.points[0].key, HANDLER);
	assert_int_equal(r.points[0].events, 24);
	assert_int_equal(r.points[0].time.total_ns, 60 * US);
	assert_int_equal(r.cpus[0].loaded.n, 1);
	assert_int_equal(r.cpus[0].plain.total_ns, 1 * US);
	assert_int_equal(r.changed + r.unclassed, 0);
	rotation_deinit(&r);
	snapshot_set_deinit(&before);
	snapshot_set_deinit(&after);
}

static void what_changed_meanwhile_is_left_out(void **state)
{
	struct snapshot_set before = snapshot(8, 0, 500 * US), after = snapshot(20, 0, 9000 * US);
	struct snapshot_set tasks = snapshot(8, 3, 9000 * US);
	struct rotation r = {0};

	(void)state;
	/* Events of the CPU: no concern of switches. */
	one_of_each(&r);
	add_snapshots(&r, &before, &after);
	assert_int_equal(r.changed, 1);
	assert_int_equal(r.n_points, 1);
	assert_int_equal(r.cpus[0].plain.n, 2);
	/* Of task 5: of all that it took part in. */
	one_of_each(&r);
	add_snapshots(&r, &before, &tasks);
	assert_int_equal(r.changed, 3);
	assert_int_equal(r.cpus[0].plain.n, 3);
	assert_int_equal(r.cpus[0].loaded.n, 0);
	/* No snapshot before. */
	one_of_each(&r);
	add_snapshots(&r, NULL, &after);
	assert_int_equal(r.unclassed, 3);
	rotation_deinit(&r);
	snapshot_set_deinit(&before);
	snapshot_set_deinit(&after);
	snapshot_set_deinit(&tasks);
}

/* As many, but others: one program closed its own and another opened some. */
static void the_same_number_is_not_the_same(void **state)
{
	struct snapshot_set before = snapshot(0, 4, 500 * US), after = snapshot(4, 4, 9000 * US);
	struct rotation r = {0};

	(void)state;
	turn(&r, 1, 2000 * US, true, 5, 6);
	turn(&r, 1, 2008 * US, false, 6, 5);
	add_snapshots(&r, &before, &after);
	assert_int_equal(r.changed, 1);
	rotation_deinit(&r);
	snapshot_set_deinit(&before);
	snapshot_set_deinit(&after);
}

/* No event in both snapshots: but it was there at neither, or at one of them. */
static void tasks_that_come_and_go_are_left_out(void **state)
{
	struct snapshot_set before = snapshot(0, 0, 500 * US), after = snapshot(0, 0, 9000 * US);
	struct rotation r = {0};

	(void)state;
	turn(&r, 0, 2000 * US, true, 20, 6);
	turn(&r, 0, 2001 * US, false, 6, 20);
	turn(&r, 0, 3000 * US, true, 30, 6);
	turn(&r, 0, 3001 * US, false, 6, 30);
	turn(&r, 0, 4000 * US, true, 0, 6);
	turn(&r, 0, 4001 * US, false, 6, 0);
	add_snapshots(&r, &before, &after);
	assert_int_equal(r.changed, 2);
	assert_int_equal(r.cpus[0].plain.n, 1);
	rotation_deinit(&r);
	snapshot_set_deinit(&before);
	snapshot_set_deinit(&after);
}

/* Task 5 has 3 events in a context, of which one samples at a frequency; task 6 has 2 that count.
 */
static void ticks_go_through_contexts_with_a_frequency(void **state)
{
	struct perfsnap s = {0};
	struct rotation r = {0};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct snap_event e = {.type = PERF_TYPE_HARDWARE,
				       .id = i + 1,
				       .cpu = i % 2 ? 0 : 1,
				       .target_tid = i < 3 ? 5 : 6,
				       .context = i < 3 ? 1 : 2,
				       .flags = i == 1 ? SNAP_FREQUENCY : 0};
		assert_int_equal(perfsnap_add_event(&s, &e), 0);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(perfsnap_add_context(&s, &(struct snap_context){.cpu = -1}), 0);
	struct snapshot_set before = pack(&s, 500 * US), after = pack(&s, 9000 * US);
	expire(&r, 0, 1000 * US, TIMER, 5);
	done(&r, 0, 1036 * US, TIMER);
	expire(&r, 0, 2000 * US, TIMER, 6);
	done(&r, 0, 2014 * US, TIMER);
	add_snapshots(&r, &before, &after);
	assert_int_equal(r.n_points, 2);
	assert_int_equal(r.points[0].whole, 3);
	assert_int_equal(r.points[0].events, 1);
	assert_int_equal(r.points[1].whole, 0);
	assert_int_equal(r.points[1].events, 1);
	rotation_deinit(&r);
	snapshot_set_deinit(&before);
	snapshot_set_deinit(&after);
	perfsnap_deinit(&s);
}

static void copies_are_whole_or_nothing(void **state)
{
	struct rotation r = {0}, copy;
	long most;

	(void)state;
	for (uint64_t i = 1; i < 5; i++) {
		expire(&r, 0, i * 1000 * US, TIMER + i, 5);
		done(&r, 0, i * 1000 * US + 60 * US, TIMER + i);
		turn(&r, 1, i * 1000 * US, true, 5, 6);
		turn(&r, 1, i * 1000 * US + 2, false, 6, 5);
	}
	rotation_tick(&r, 1);
	mem_fail_after(-1);
	assert_int_equal(rotation_copy(&copy, &r), 0);
	most = mem_count();
	assert_int_equal(copy.n_timers, 4);
	assert_int_equal(copy.timers[2].time.total_ns, 60 * US);
	assert_true(rotation_bytes(&copy) > 0);
	rotation_deinit(&copy);
	for (long n = 0; n < most; n++) {
		long live = mem_live();
		mem_fail_after(n);
		assert_int_not_equal(rotation_copy(&copy, &r), 0);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_after(-1);
	rotation_zero(&r);
	assert_int_equal(r.timers[0].expiries, 0);
	rotation_deinit(&r);
	assert_int_equal(mem_live(), 0);
}

static void lists_of_pmus_are_checked(void **state)
{
	struct pmus p = {.n = 2}, back;
	char bytes[sizeof(p)];

	(void)state;
	strcpy(p.items[0].name, "cpu_atom");
	strcpy(p.items[1].name, "cpu_core");
	p.items[1].interval_ms = 4;
	memcpy(bytes, &p, sizeof(p));
	assert_true(pmus_decode(bytes, pmus_size(&p), &back));
	assert_ptr_equal(pmus_find(&back, "cpu_core"), &back.items[1]);
	assert_null(pmus_find(&back, "cpu"));
	assert_false(pmus_decode(bytes, pmus_size(&p) - 1, &back));
	assert_false(pmus_decode(bytes, 3, &back));
	assert_int_equal(back.n, 0);
	p.n = PMUS_MOST + 1;
	memcpy(bytes, &p, sizeof(p));
	assert_false(pmus_decode(bytes, sizeof(bytes), &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_by_timer_and_cpu),
		cmocka_unit_test(missing_halves_are_counted),
		cmocka_unit_test(nothing_is_paired_over_a_loss),
		cmocka_unit_test(switches_must_agree),
		cmocka_unit_test(bursts_cost),
		cmocka_unit_test(points_wait_for_their_snapshot),
		cmocka_unit_test(what_changed_meanwhile_is_left_out),
		cmocka_unit_test(the_same_number_is_not_the_same),
		cmocka_unit_test(tasks_that_come_and_go_are_left_out),
		cmocka_unit_test(ticks_go_through_contexts_with_a_frequency),
		cmocka_unit_test(copies_are_whole_or_nothing),
		cmocka_unit_test(lists_of_pmus_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
