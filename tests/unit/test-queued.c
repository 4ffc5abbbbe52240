// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of queues: present waits count with past ones; both modes of a lock are a row;
 * windows, filters; the queue on a lock's page; reports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/limits.h"
#include "kontend/lockqueue.h"
#include "kontend/query-queued.h"
#include "kontend/wait-filter.h"

#include <stdlib.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static void start(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void begin(struct asked *w, uint64_t t, int tid, uint64_t lock, uint32_t flags)
{
	const uint64_t frames[] = {
		synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
		synth_addr(flags & LCB_F_READ ? SYNTH_VM_MMAP_PGOFF : SYNTH_VM_MUNMAP)};

	synth_begin(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, lock, flags, frames, 2);
}

static void end(struct asked *w, uint64_t t, int tid, uint64_t lock)
{
	synth_end(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, lock, 0);
}

/* A writer that two readers pass over, t on; they wait together for 5 ms. */
static void pass_over(struct asked *w, uint64_t t, uint64_t lock)
{
	begin(w, t, 701, lock, LCB_F_READ);
	begin(w, t + 1, 702, lock, LCB_F_WRITE);
	begin(w, t + 2, 703, lock, LCB_F_READ);
	begin(w, t + 3, 704, lock, LCB_F_READ);
	end(w, t + 5, 701, lock);
	end(w, t + 6, 703, lock);
	end(w, t + 7, 704, lock);
	end(w, t + 20, 702, lock);
}

static struct table query_table(struct asked *w, const char *sort)
{
	struct query_spec spec = {.sort = sort};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_queued(&w->q, &spec, &t, &err), 0);
	return t;
}

static void play(struct asked *w, uint64_t until, const struct model_limits *limits)
{
	synth_tick(w->rig.synth, CANNED_START + until * MS);
	asked_play(w, limits);
	query_begin(&w->q);
}

static void both_modes_are_a_row(void **state)
{
	struct asked *w = *state;

	start(w);
	pass_over(w, 1, LOCK(0));
	begin(w, 30, 705, LOCK(1), LCB_F_WRITE); /* alone */
	end(w, 40, 705, LOCK(1));
	play(w, 100, NULL);
	struct table t = query_table(w, NULL);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "type"), "rwsem");
	assert_int_equal(cell_u(&t, 0, "lock"), LOCK(0));
	assert_int_equal(cell_u(&t, 0, "handed"), 4);
	assert_int_equal(cell_u(&t, 0, "longest"), 4);
	assert_int_equal(cell_u(&t, 0, "passed"), 2);
	assert_int_equal(cell_u(&t, 0, "passed_most"), 2);
	assert_int_equal(cell_u(&t, 0, "passed_waits"), 1);
	assert_int_equal(cell_u(&t, 0, "passed_longest_ns"), 19 * MS);
	assert_int_equal(cell_u(&t, 0, "phases"), 2);
	assert_int_equal(cell_u(&t, 0, "readers_most"), 3);
	assert_true(cell_at(&t, 0, "readers_avg")->d == 3);
	assert_int_equal(cell_u(&t, 0, "convoys"), 1);
	assert_int_equal(cell_u(&t, 0, "convoy_ns"), 20 * MS);
	assert_int_equal(cell_u(&t, 0, "convoy_now_ns"), 0);
	assert_int_equal(cell_at(&t, 0, "worst_tid")->i, 702);
	assert_false(cell_at(&t, 0, "hand_p50_ns")->known); /* no releases were reported */
	struct query_queued_sum sum;
	assert_int_equal(query_queued_sum(&w->q, &sum), 0);
	assert_false(sum.times);
	assert_int_equal(sum.queues, 1);
}

static void what_goes_on_counts(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LOCK(0), LCB_F_WRITE);
	for (int i = 0; i < 20; i++) {
		begin(w, 10 + (uint64_t)i * 10, 702, LOCK(0), LCB_F_READ);
		end(w, 15 + (uint64_t)i * 10, 702, LOCK(0));
	}
	play(w, 1001, NULL);
	struct table t = query_table(w, NULL);
	assert_int_equal(cell_u(&t, 0, "writers_waiting"), 1);
	assert_int_equal(cell_u(&t, 0, "readers_waiting"), 0);
	assert_int_equal(cell_u(&t, 0, "passed"), 20);
	assert_int_equal(cell_u(&t, 0, "starved"), 1);
	assert_int_equal(cell_u(&t, 0, "starved_most"), 20);
	assert_int_equal(cell_u(&t, 0, "starved_ns"), 1000 * MS);
	assert_int_equal(cell_u(&t, 0, "convoy_now_ns"), 1000 * MS);
	assert_int_equal(cell_u(&t, 0, "convoys"), 1);
	assert_int_equal(cell_at(&t, 0, "worst_tid")->i, 701);
	assert_int_equal(w->rig.engine.model->queues->v[1].sums.passed,
			 0); /* but not in the sums */
	struct query_queued_lock l;
	assert_int_equal(query_queued_lock(&w->q, t.ids[0], &l), 0);
	assert_int_equal(l.passed_most, 20);
	assert_int_equal(l.convoy_now_ns, 1000 * MS);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.handed[0], 20);
	assert_int_equal(l.readers[0], 1);
	assert_int_equal(l.writers[0], 1);
}

static void mutexes_have_no_phases(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LOCK(0), LCB_F_MUTEX);
	begin(w, 2, 702, LOCK(0), LCB_F_MUTEX);
	end(w, 3, 701, LOCK(0));
	play(w, 10, NULL);
	struct table t = query_table(w, NULL);
	assert_false(cell_at(&t, 0, "phases")->known);
	assert_false(cell_at(&t, 0, "readers_avg")->known);
	assert_false(cell_at(&t, 0, "readers_waiting")->known);
	assert_int_equal(cell_u(&t, 0, "writers_waiting"), 1);
	assert_int_equal(cell_u(&t, 0, "handed"), 1);
}

static void a_window_has_what_ended_in_it(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;

	start(w);
	for (uint64_t s = 0; s < 20; s++) {
		pass_over(w, s * 1000 + 1, LOCK(0));
		if (s < 3)
			pass_over(w, s * 1000 + 100, LOCK(1));
		if (s < 19)
			synth_tick(w->rig.synth, CANNED_START + (s + 1) * 1000 * MS);
	}
	play(w, 20000, &limits);
	struct table t = query_table(w, "passed");
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, 0, "passed"), 40);
	assert_int_equal(cell_u(&t, 1, "passed"), 6);
	w->q.window_ns = 5000 * MS;
	t = query_table(w, "passed");
	assert_int_equal(t.n_rows, 1); /* the other one was quiet */
	assert_int_equal(cell_u(&t, 0, "passed"), 10);
	assert_int_equal(cell_u(&t, 0, "passed_waits"), 5);
	assert_int_equal(cell_u(&t, 0, "handed"), 20);
	assert_int_equal(cell_u(&t, 0, "convoys"), 5);
	assert_int_equal(cell_u(&t, 0, "phases"), 10);
	struct query_queued_sum sum;
	assert_int_equal(query_queued_sum(&w->q, &sum), 0);
	assert_false(sum.is_short);
	assert_int_equal(w->rig.engine.model->queues->n_parts, 23);
	w->q.window_ns = 0;
}

/* More queues in a window than have room: the oldest buckets go, and the query reports that. */
static void what_windows_keep_is_bounded(void **state)
{
	enum { LOCKS = 100, SECONDS = 50 };
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;

	start(w);
	for (uint64_t s = 0; s < SECONDS; s++) {
		for (int i = 0; i < LOCKS; i++) {
			begin(w, s * 1000 + (uint64_t)i * 5, 701, LOCK(i), LCB_F_WRITE);
			begin(w, s * 1000 + (uint64_t)i * 5 + 1, 702, LOCK(i), LCB_F_WRITE);
			end(w, s * 1000 + (uint64_t)i * 5 + 2, 701, LOCK(i));
			end(w, s * 1000 + (uint64_t)i * 5 + 3, 702, LOCK(i));
		}
		if (s < SECONDS - 1)
			synth_tick(w->rig.synth, CANNED_START + (s + 1) * 1000 * MS);
	}
	play(w, SECONDS * 1000, &limits);
	const struct lockqueues *all = w->rig.engine.model->queues;
	struct query_queued_sum sum;
	assert_int_equal(all->n_parts, LOCKQUEUE_PARTS);
	w->q.window_ns = 2000 * MS;
	assert_int_equal(query_queued_sum(&w->q, &sum), 0);
	assert_false(sum.is_short);
	struct table t = query_table(w, NULL);
	assert_int_equal(t.n_rows, LOCKS);
	assert_int_equal(column_sum(&t, "handed"), 2 * 2 * LOCKS);
	w->q.window_ns = 49000 * MS;
	assert_int_equal(query_queued_sum(&w->q, &sum), 0);
	assert_true(sum.is_short);
	w->q.window_ns = 0;
	t = query_table(w, NULL);
	assert_int_equal(column_sum(&t, "handed"), 2 * LOCKS * SECONDS);
}

static void filters_of_waits_leave_their_locks(void **state)
{
	struct asked *w = *state;
	struct error err = {0};

	start(w);
	pass_over(w, 1, LOCK(0));
	begin(w, 30, 705, LOCK(1), LCB_F_WRITE);
	begin(w, 31, 706, LOCK(1), LCB_F_WRITE);
	end(w, 40, 705, LOCK(1));
	end(w, 41, 706, LOCK(1));
	play(w, 100, NULL);
	assert_int_equal(query_table(w, NULL).n_rows, 2);
	assert_int_equal(wait_filter_set(&w->q, "caller:mmap_pgoff", &err), 0);
	struct table t = query_table(w, NULL);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "lock"), LOCK(0));
	assert_int_equal(cell_u(&t, 0, "handed"), 4); /* all waits for it */
	wait_filter_end(&w->q);
	struct query_spec spec = {.filter = "passed=0"};
	assert_int_equal(query_queued(&w->q, &spec, &t, &err), 0);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "lock"), LOCK(1));
}

static void apply(struct asked *w, enum event_kind kind, uint64_t t, int tid)
{
	struct event ev = {.kind = kind, .time = CANNED_START + t * MS, .pid = 700, .tid = tid};

	if (kind == EVENT_RELEASE)
		ev.release.lock = LOCK(0);
	else
		ev.end.lock = LOCK(0);
	assert_int_equal(model_apply(w->rig.engine.model, &ev), 0);
}

static void times_are_shown_where_they_are_told(void **state)
{
	struct asked *w = *state;
	struct query_queued_sum sum;

	start(w);
	begin(w, 1, 701, LOCK(0), LCB_F_WRITE);
	begin(w, 2, 702, LOCK(0), LCB_F_WRITE);
	play(w, 3, NULL);
	apply(w, EVENT_CONTENTION_END, 4, 701);
	apply(w, EVENT_RELEASE, 5, 701);
	apply(w, EVENT_CONTENTION_END, 8, 702);
	query_begin(&w->q);
	assert_int_equal(query_queued_sum(&w->q, &sum), 0);
	assert_true(sum.times);
	struct table t = query_table(w, NULL);
	assert_int_equal(cell_u(&t, 0, "hand_p50_ns"), 3 * MS);
	assert_int_equal(cell_u(&t, 0, "hand_p99_ns"), 3 * MS);
}

static void check_report(struct asked *w, enum report_format format, const char *name)
{
	struct report_spec s = {.format = format, .views = REPORT_QUEUES};
	char *text = asked_report(&w->q, &s);

	golden_check(text, name);
	free(text);
}

static void reports_have_it_all(void **state)
{
	struct asked *w = *state;

	start(w);
	pass_over(w, 1, LOCK(0));
	begin(w, 50, 701, LOCK(1), LCB_F_MUTEX);
	begin(w, 51, 702, LOCK(1), LCB_F_MUTEX);
	play(w, 100, NULL);
	check_report(w, REPORT_TEXT, "report-queues");
	check_report(w, REPORT_CSV, "report-queues-csv");
	check_report(w, REPORT_JSON, "report-queues-json");
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(both_modes_are_a_row),
		ON_STREAM(what_goes_on_counts),
		ON_STREAM(mutexes_have_no_phases),
		ON_STREAM(a_window_has_what_ended_in_it),
		ON_STREAM(what_windows_keep_is_bounded),
		ON_STREAM(filters_of_waits_leave_their_locks),
		ON_STREAM(times_are_shown_where_they_are_told),
		ON_STREAM(reports_have_it_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
