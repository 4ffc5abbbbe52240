// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables over a snapshot: used and free slots, the owner of each cell, tasks that keep an
 * event, and the waits for the slots' locks. Machines are those of perf-snaps.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-perf.h"
#include "perf-snaps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS CANNED_MS

static void play(struct asked *w, const char *machine)
{
	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	perf_snap_emit(w->rig.synth, machine, CANNED_START + 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static struct table query_table(struct asked *w,
				int (*fn)(struct query *, const struct query_spec *, struct table *,
					  struct error *),
				struct query_spec spec)
{
	struct error err = {0};
	struct table t;

	if (fn(&w->q, &spec, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static struct table ask_events(struct asked *w, struct query_events_scope scope)
{
	struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	if (query_perf_events(&w->q, &scope, &spec, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static int64_t cell_i(const struct table *t, size_t row, const char *key)
{
	const struct value *v = cell_at(t, row, key);

	assert_true(v->known);
	return v->i;
}

static void used_is_the_cpus_and_the_biggest_tasks(void **state)
{
	struct asked *w = *state;

	play(w, "x86");
	struct table t = query_table(w, query_perf_slots, (struct query_spec){0});
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_i(&t, 0, "used"), 4);
	assert_int_equal(cell_i(&t, 0, "free_cpu"), 0);
	assert_int_equal(cell_i(&t, 0, "free_task"), 2);
	assert_int_equal(cell_i(&t, 0, "in_registers"), 4);
	assert_int_equal(cell_i(&t, 1, "used"), 3);
	assert_int_equal(cell_i(&t, 1, "free_cpu"), 1);
	assert_int_equal(cell_i(&t, 1, "free_task"), 3);
	assert_int_equal(cell_i(&t, 1, "in_registers"), 0);
}

static void without_bpf_used_is_a_lower_bound(void **state)
{
	struct asked *w = *state;
	struct query_perf_sum sum;

	play(w, "probe");
	struct table t = query_table(w, query_perf_slots, (struct query_spec){0});
	assert_int_equal(cell_i(&t, 0, "used"), 2);
	assert_true(cell_at(&t, 0, "used")->approx);
	assert_int_equal(cell_i(&t, 0, "free_task"), 2);
	assert_false(cell_at(&t, 0, "free_cpu")->known);
	assert_false(cell_at(&t, 0, "in_registers")->known);
	assert_false(cell_at(&t, 0, "holders")->known);
	assert_int_equal(query_perf_sum(&w->q, &sum), 0);
	assert_true(sum.slots_known);
	assert_false(sum.opened_known);
	assert_string_equal(query_perf_missing_text(&w->q, sum.missing & SNAP_NO_EVENTS),
			    "perf events");
	assert_string_equal(query_perf_method_name(sum.method), "probe");
}

static void check_cell(const struct query_cell *c, enum query_cell_kind kind, const char *who,
		       uint64_t event, bool in_register)
{
	assert_int_equal(c->kind, kind);
	assert_string_equal(c->who, who);
	assert_int_equal(c->event_id, event);
	assert_int_equal(c->in_register, in_register);
}

static void cells_are_the_cpus_then_the_tasks_then_free(void **state)
{
	struct asked *w = *state;
	size_t n;

	play(w, "x86");
	struct table t = query_table(w, query_perf_slots, (struct query_spec){0});
	const struct query_cell *c = query_perf_board(&w->q, t.ids[0], &n);
	assert_int_equal(n, 4);
	check_cell(&c[0], CELL_CPU, "app/931", 11, true);
	check_cell(&c[1], CELL_CPU, "kernel", 16, true);
	check_cell(&c[2], CELL_TASK, "app/931", 12, true);
	check_cell(&c[3], CELL_TASK, "gdb/812", 14, true);
	c = query_perf_board(&w->q, t.ids[1], &n);
	check_cell(&c[0], CELL_CPU, "holder/1203", 15, false);
	check_cell(&c[1], CELL_TASK, "app/931", 12, false);
	check_cell(&c[3], CELL_FREE, "", 0, false);
	query_perf_board(&w->q, 4711, &n);
	assert_int_equal(n, 0);
}

static void cells_of_what_nobody_can_tell(void **state)
{
	struct asked *w = *state;
	size_t n;

	play(w, "probe");
	struct table t = query_table(w, query_perf_slots, (struct query_spec){0});
	const struct query_cell *c = query_perf_board(&w->q, t.ids[0], &n);
	assert_int_equal(n, 4);
	assert_int_equal(c[0].kind, CELL_CPU);
	assert_int_equal(c[1].kind, CELL_CPU);
	assert_int_equal(c[2].kind, CELL_UNKNOWN);
	assert_int_equal(c[3].kind, CELL_UNKNOWN);
}

static void pools_are_counted_apart(void **state)
{
	struct asked *w = *state;
	size_t n;

	play(w, "arm64");
	struct table t = query_table(w, query_perf_slots, (struct query_spec){0});
	assert_int_equal(t.n_rows, 4);
	assert_string_equal(cell_s(&t, 0, "type"), "exec");
	assert_string_equal(cell_s(&t, 1, "type"), "data");
	const struct query_cell *c = query_perf_board(&w->q, t.ids[1], &n);
	assert_int_equal(n, 4);
	check_cell(&c[0], CELL_TASK, "app/931", 22, false);
	c = query_perf_board(&w->q, t.ids[0], &n);
	assert_int_equal(n, 6);
	check_cell(&c[0], CELL_CPU, "app/931", 21, true);
	check_cell(&c[1], CELL_TASK, "gdb/812", 23, false);
}

static size_t row_of(const struct table *t, uint64_t id)
{
	size_t row = table_row(t, id);

	assert_true(row < t->n_rows);
	return row;
}

static void every_kind_of_keeper(void **state)
{
	static const struct {
		uint64_t id;
		const char *kind, *holder;
	} wanted[] = {
		{11, "perf fd", "app/931"},	{12, "perf fd", "app/931"},
		{13, "inherited", "app/931"},	{14, "ptrace", "gdb/812"},
		{15, "perf fd", "holder/1203"}, {16, "kernel", "-"},
	};
	struct asked *w = *state;

	play(w, "x86");
	struct table t = query_table(w, query_perf_holders, (struct query_spec){0});
	assert_int_equal(t.n_rows, 6);
	for (size_t i = 0; i < 6; i++) {
		size_t row = row_of(&t, wanted[i].id);
		assert_string_equal(cell_s(&t, row, "kind"), wanted[i].kind);
		assert_string_equal(cell_s(&t, row, "holder"), wanted[i].holder);
	}
	size_t shared = row_of(&t, 12);
	assert_string_equal(cell_s(&t, shared, "holder_pids"), "931\n940");
	assert_string_equal(cell_s(&t, row_of(&t, 15), "owner"), "-");
	assert_string_equal(cell_s(&t, row_of(&t, 11), "where"), "tasklist_lock");
	assert_false(cell_at(&t, row_of(&t, 16), "hits_per_s")->known);
}

static void rows_are_filtered_and_sorted(void **state)
{
	struct asked *w = *state;

	play(w, "x86");
	struct table t =
		query_table(w, query_perf_holders, (struct query_spec){.filter = "kind:ptrace"});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(t.n_total, 6);
	t = query_table(w, query_perf_holders, (struct query_spec){.sort = "hits_per_s"});
	assert_int_equal(t.ids[0], 11);
	t = query_table(w, query_perf_contexts, (struct query_spec){.filter = "events>2"});
	assert_int_equal(t.n_rows, 1);
	t = query_table(w, query_perf_slots, (struct query_spec){.sort = "used"});
	assert_int_equal(cell_i(&t, 0, "cpu"), 1);
}

static void contexts_by_context_and_by_process(void **state)
{
	struct asked *w = *state;

	play(w, "x86");
	struct table t = query_table(w, query_perf_contexts, (struct query_spec){0});
	assert_int_equal(t.n_rows, 4);
	assert_string_equal(cell_s(&t, 0, "context"), "cpu 0"); /* it rotates */
	assert_int_equal(cell_u(&t, 0, "events"), 9);
	assert_int_equal(cell_u(&t, 0, "active"), 7);
	assert_int_equal(column_sum(&t, "events"), 14);
	t = query_table(w, query_perf_contexts, (struct query_spec){.by = BY_PROCESS});
	assert_int_equal(column_sum(&t, "events"), 14);
	size_t agent = row_of(&t, 411);
	assert_int_equal(cell_u(&t, agent, "events"), 6);
	assert_int_equal(cell_u(&t, agent, "contexts"), 1);
	assert_string_equal(cell_s(&t, row_of(&t, 0), "context"), "the kernel");
}

static void events_of_a_context_a_process_and_an_event(void **state)
{
	struct asked *w = *state;

	play(w, "x86");
	struct table contexts = query_table(w, query_perf_contexts, (struct query_spec){0});
	struct table t = ask_events(w, (struct query_events_scope){.context = contexts.ids[0]});
	assert_int_equal(t.n_rows, 9);
	t = ask_events(w, (struct query_events_scope){.process = 940}); /* holds a descriptor */
	assert_int_equal(t.n_rows, 1);
	t = ask_events(w, (struct query_events_scope){.process = 812});
	assert_int_equal(t.n_rows, 1);
	t = ask_events(w, (struct query_events_scope){.event = 12});
	assert_int_equal(t.n_rows, 2);
	t = ask_events(w, (struct query_events_scope){0});
	assert_int_equal(t.n_rows, 14);
	assert_string_equal(cell_s(&t, 0, "event"), "cache-misses"); /* waits for its turn */
}

static void an_event_in_words(void **state)
{
	struct asked *w = *state;

	play(w, "x86");
	struct table t = ask_events(w, (struct query_events_scope){.event = 12});
	const char *text = query_perf_event_text(&w->q, 12);
	assert_int_equal(t.n_rows, 2);
	assert_non_null(text);
	assert_non_null(strstr(text, ": breakpoint, perf type 5, "));
	assert_non_null(strstr(text, ", inherited by children"));
	assert_non_null(strstr(text, "; opened by "));
	assert_non_null(strstr(text, "; enabled for 40.0s of its task's CPU time, counted for "));
	t = ask_events(w, (struct query_events_scope){0});
	text = query_perf_event_text(&w->q, t.ids[0]);
	assert_int_equal(strncmp(text, "cache-misses: hardware, perf type 0, config 0x", 46), 0);
	assert_null(query_perf_event_text(&w->q, 1ull << 60));
}

/* Enabled while its task ran elsewhere is not lost. */
static void events_of_a_task_for_each_cpu_are_one(void **state)
{
	struct asked *w = *state;

	play(w, "spread");
	struct table t = ask_events(w, (struct query_events_scope){0});
	assert_int_equal(t.n_rows, 7);
	for (uint64_t id = 1; id <= 4; id++) {
		assert_true(cell_at(&t, row_of(&t, id), "counted_pct")->d == 100);
		assert_int_equal(cell_u(&t, row_of(&t, id), "lost_ns"), 0);
	}
	assert_true(cell_at(&t, row_of(&t, 6), "counted_pct")->d == 75);
	assert_int_equal(cell_u(&t, row_of(&t, 6), "lost_ns"), 10000000000);
	assert_false(cell_at(&t, row_of(&t, 7), "counted_pct")->known);
	assert_false(cell_at(&t, row_of(&t, 7), "lost_ns")->known);

	t = query_table(w, query_perf_contexts, (struct query_spec){.sort = "context"});
	assert_int_equal(t.n_rows, 3);
	assert_true(cell_at(&t, 0, "running_pct")->d == 100);
	assert_int_equal(cell_u(&t, 0, "lost_ns"), 0);
	assert_true(cell_at(&t, 1, "running_pct")->d == 75);
	assert_int_equal(cell_u(&t, 1, "lost_ns"), 10000000000);
	assert_false(cell_at(&t, 2, "running_pct")->known);
}

static void sums_leave_our_own_out(void **state)
{
	struct asked *w = *state;
	struct query_perf_sum sum;

	play(w, "x86");
	assert_int_equal(query_perf_sum(&w->q, &sum), 0);
	assert_true(sum.known && sum.slots_known && sum.opened_known);
	assert_int_equal(sum.slots, 8);
	assert_int_equal(sum.used, 7);
	assert_int_equal(sum.events, 12);
	assert_int_equal(sum.own, 2);
	assert_int_equal(sum.contexts, 4);
	assert_int_equal(sum.rotating, 1);
	assert_int_equal(sum.starved, 2);
	assert_int_equal(sum.look[QUERY_PERF_SLOTS].age_ns, 500 * MS);
	assert_true(sum.is_one);
	assert_true(sum.opened_per_s > 11.9 && sum.opened_per_s < 12.1);
}

/* Slots that were looked at later than everything are those of then, and all else of before. */
static void slots_may_be_newer(void **state)
{
	struct asked *w = *state;
	struct query_perf_sum sum;
	char cost[96];

	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	perf_snap_emit(w->rig.synth, "x86", CANNED_START + 500 * MS);
	perf_snap_emit_as(w->rig.synth, SNAPSHOT_SLOTS, "empty", CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_perf_sum(&w->q, &sum), 0);
	assert_true(sum.known && !sum.is_one);
	assert_int_equal(sum.used, 0);
	assert_int_equal(sum.breakpoints, 0);
	assert_int_equal(sum.events, 12);
	assert_int_equal(sum.look[QUERY_PERF_SLOTS].age_ns, 100 * MS);
	assert_int_equal(sum.look[QUERY_PERF_EVENTS].age_ns, 500 * MS);
	assert_int_equal(query_table(w, query_perf_holders, (struct query_spec){0}).n_rows, 0);
	assert_int_equal(ask_events(w, (struct query_events_scope){0}).n_rows, 14);
	assert_non_null(strstr(
		query_perf_cost_text(&sum, QUERY_PERF_SLOTS, true, cost, sizeof(cost)), "events"));
	assert_null(strstr(query_perf_cost_text(&sum, QUERY_PERF_SLOTS, false, cost, sizeof(cost)),
			   "events"));
}

/* One of everything that is newer has the slots as well. */
static void slots_may_be_older(void **state)
{
	struct asked *w = *state;
	struct query_perf_sum sum;

	rig_init(&w->rig, 2);
	synth_round(w->rig.synth, CANNED_START);
	perf_snap_emit_as(w->rig.synth, SNAPSHOT_SLOTS, "empty", CANNED_START + 400 * MS);
	perf_snap_emit(w->rig.synth, "x86", CANNED_START + 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_perf_sum(&w->q, &sum), 0);
	assert_int_equal(sum.used, 7);
	assert_int_equal(sum.look[QUERY_PERF_SLOTS].age_ns, 500 * MS);
	/* The cost of snapshots of slots is reported with them. */
	assert_false(sum.is_one);
}

static void no_snapshot_is_an_answer(void **state)
{
	struct asked *w = *state;
	struct query_perf_sum sum;
	size_t n;

	rig_init(&w->rig, 1);
	asked_play(w, NULL);
	assert_int_equal(query_perf_sum(&w->q, &sum), 0);
	assert_false(sum.known);
	assert_non_null(strstr(sum.reason, "first snapshot"));
	assert_int_equal(query_table(w, query_perf_slots, (struct query_spec){0}).n_rows, 0);
	assert_int_equal(query_table(w, query_perf_holders, (struct query_spec){0}).n_rows, 0);
	assert_int_equal(ask_events(w, (struct query_events_scope){0}).n_rows, 0);
	assert_null(query_perf_board(&w->q, 0, &n));
}

static const char symbols[] = "ffffffff81001000 t percpu_down_write\n"
			      "ffffffff81001100 t bp_constraints_lock.isra.0\n"
			      "ffffffff81001200 t __reserve_bp_slot\n"
			      "ffffffff81001300 t pipe_read\n"
			      "ffffffff81001400 t toggle_bp_slot_of_another\n";

static void wait_at(struct asked *w, uint64_t at, uint64_t ns, uint64_t caller)
{
	const uint64_t chain[] = {0xffffffff81001010, caller};

	synth_begin(w->rig.synth, 0, at, 7, 7, 0xffff888000001000, LCB_F_MUTEX, chain, 2);
	synth_end(w->rig.synth, 0, at + ns, 7, 7, 0xffff888000001000, 0);
}

static void waits_for_slots_are_picked_by_caller(void **state)
{
	struct asked *w = *state;
	struct query_perf_waits waits;

	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
	wait_at(w, CANNED_START + 10 * MS, 2 * MS, 0xffffffff81001110);
	wait_at(w, CANNED_START + 20 * MS, 3 * MS, 0xffffffff81001110);
	wait_at(w, CANNED_START + 30 * MS, 4 * MS, 0xffffffff81001210);
	wait_at(w, CANNED_START + 40 * MS, 50 * MS, 0xffffffff81001310);
	wait_at(w, CANNED_START + 100 * MS, 60 * MS, 0xffffffff81001410);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_perf_waits(&w->q, false, &waits), 0);
	assert_int_equal(waits.contended, 3);
	assert_int_equal(waits.total_ns, 9 * MS);
	assert_int_equal(waits.max_ns, 4 * MS);
	assert_string_equal(waits.caller, "bp_constraints_lock.isra.0");
	assert_true(waits.per_s > 2.9 && waits.per_s < 3.1);
}

static void wait_for(struct asked *w, uint64_t at, uint64_t lock, uint32_t flags, uint64_t caller)
{
	const uint64_t chain[] = {0xffffffff81001010, caller};

	synth_begin(w->rig.synth, 0, at, 7, 7, lock, flags, chain, 2);
	synth_end(w->rig.synth, 0, at + MS, 7, 7, lock, 0);
}

/* On a kernel of that release. */
static void play_slot_locks(struct asked *w, const char *release)
{
	const uint64_t sem = 0xffffffff82001000, mutex = 0xffff888000002000;
	struct record_host h = {.wall_ns = 1, .machine = "x86_64"};

	snprintf(h.release, sizeof(h.release), "%s", release);
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	synth_record(w->rig.synth, RECORD_HOST, 0, &h, sizeof(h));
	synth_round(w->rig.synth, CANNED_START);
	wait_for(w, CANNED_START + 10 * MS, sem, LCB_F_PERCPU | LCB_F_WRITE, 0xffffffff81001110);
	wait_for(w, CANNED_START + 20 * MS, sem, LCB_F_PERCPU | LCB_F_READ, 0xffffffff81001110);
	wait_for(w, CANNED_START + 30 * MS, sem, LCB_F_PERCPU | LCB_F_READ, 0xffffffff81001210);
	wait_for(w, CANNED_START + 40 * MS, mutex, LCB_F_MUTEX, 0xffffffff81001110);
	wait_for(w, CANNED_START + 50 * MS, mutex + 4096, LCB_F_MUTEX, 0xffffffff81001110);
	wait_for(w, CANNED_START + 60 * MS, mutex + 8192, LCB_F_MUTEX, 0xffffffff81001310);
	wait_for(w, CANNED_START + 70 * MS, sem + 4096, LCB_F_PERCPU | LCB_F_READ,
		 0xffffffff81001310);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static void check_lock(const struct query_perf_waits *w, size_t i, const char *name,
		       enum lock_type type, uint64_t contended)
{
	assert_true(i < w->n_locks);
	assert_string_equal(w->locks[i].name, name);
	assert_int_equal(w->locks[i].type, type);
	assert_int_equal(w->locks[i].contended, contended);
	assert_int_equal(w->locks[i].total_ns, contended * MS);
	assert_int_equal(w->locks[i].max_ns, MS);
}

/* In a table of locks, by address. */
static const char *lock_name(struct asked *w, uint64_t addr)
{
	struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_locks(&w->q, &spec, &t, &err), 0);
	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_u(&t, i, "lock") == addr)
			return cell_s(&t, i, "name");
	fail_msg("there is no lock");
	return NULL;
}

static void locks_of_the_accounting_have_names(void **state)
{
	struct asked *w = *state;
	struct query_perf_waits waits;

	play_slot_locks(w, "6.18.44");
	assert_int_equal(query_perf_waits(&w->q, true, &waits), 0);
	assert_int_equal(waits.contended, 5);
	assert_int_equal(waits.n_locks, 3);
	check_lock(&waits, 0, "bp_cpuinfo_sem", LOCK_PCPU_SEM_R, 2);
	check_lock(&waits, 1, "perf_event_mutex", LOCK_MUTEX, 2);
	check_lock(&waits, 2, "bp_cpuinfo_sem", LOCK_PCPU_SEM_W, 1);
	assert_string_equal(lock_name(w, 0xffffffff82001000), "bp_cpuinfo_sem");
	assert_string_equal(lock_name(w, 0xffff888000002000),
			    "perf_event_mutex:bp_constraints_lock.isra.0 …002000");
	/* Others of these types are not called so. */
	assert_string_equal(lock_name(w, 0xffff888000004000), "pipe_read …004000");
	assert_string_equal(lock_name(w, 0xffffffff82002000), "pipe_read …002000");
}

static void before_6_1_there_was_one_mutex(void **state)
{
	struct asked *w = *state;
	struct query_perf_waits waits;

	play_slot_locks(w, "6.0.19-1");
	assert_int_equal(query_perf_waits(&w->q, true, &waits), 0);
	check_lock(&waits, 1, "nr_bp_mutex", LOCK_MUTEX, 2);
	assert_string_equal(lock_name(w, 0xffff888000002000), "nr_bp_mutex");
}

/* Of a kernel that is not known a mutex may be either. */
static void without_a_release_a_mutex_has_no_name(void **state)
{
	struct asked *w = *state;

	play_slot_locks(w, "");
	assert_string_equal(lock_name(w, 0xffff888000002000), "bp_constraints_lock.isra.0 …002000");
	assert_string_equal(lock_name(w, 0xffffffff82001000), "bp_cpuinfo_sem");
}

static void who_creates_is_told_or_at_least(void **state)
{
	struct query_perf_creations_sum sum;
	struct asked *w = *state;

	play(w, "created");
	struct table t = query_table(w, query_perf_creations, (struct query_spec){0});
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "process"), "holder/1203");
	assert_int_equal(cell_u(&t, 0, "created"), 120000);
	assert_int_equal(cell_u(&t, 0, "refused"), 17);
	assert_true(cell_at(&t, 0, "created_per_s")->d == 240000);
	assert_false(cell_at(&t, 0, "created")->at_least);
	assert_int_equal(cell_u(&t, 1, "inherited"), 9000);
	assert_int_equal(cell_u(&t, 2, "created"), 0);
	assert_int_equal(query_perf_creations_sum(&w->q, &sum), 0);
	assert_int_equal(sum.created, 129004);
	assert_int_equal(sum.refused, 20);
	assert_int_equal(sum.lost, 2);
	assert_string_equal(sum.who, "holder/1203");
	assert_int_equal(sum.most, 120000);
	t = query_table(w, query_perf_slots, (struct query_spec){0});
	assert_int_equal(cell_i(&t, 0, "most_used"), 4);
	assert_int_equal(cell_i(&t, 1, "most_used"), 3);
	assert_false(cell_at(&t, 0, "most_used")->at_least);
}

static void who_was_found_to_create_did_at_least(void **state)
{
	struct asked *w = *state;

	play(w, "found");
	struct table t = query_table(w, query_perf_creations, (struct query_spec){0});
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 1, "process"), "the kernel");
	assert_true(cell_at(&t, 0, "created")->at_least);
	assert_false(cell_at(&t, 0, "refused")->known);
	t = query_table(w, query_perf_slots, (struct query_spec){0});
	assert_true(cell_at(&t, 0, "most_used")->at_least);
	assert_false(cell_at(&t, 1, "most_used")->known);
}

/* Of a recording of before, and where BPF cannot look. */
static void nobody_saw_who_creates(void **state)
{
	struct query_perf_creations_sum sum;
	struct asked *w = *state;

	play(w, "probe");
	assert_int_equal(query_table(w, query_perf_creations, (struct query_spec){0}).n_rows, 0);
	assert_int_equal(query_perf_creations_sum(&w->q, &sum), 0);
	assert_int_equal(sum.how, SNAP_CREATIONS_NONE);
	assert_null(sum.who);
}

static void names_of_slot_functions(void **state)
{
	(void)state;
	assert_true(sym_is_slot_function("bp_constraints_lock.isra.0"));
	assert_true(sym_is_slot_function("__reserve_bp_slot"));
	assert_true(sym_is_slot_function("toggle_bp_slot.constprop.0"));
	assert_true(sym_is_slot_function("__do_sys_perf_event_open"));
	assert_true(sym_is_slot_function("_free_event"));
	assert_true(sym_is_slot_function("bp_constraints_lock"));
	assert_true(sym_is_slot_function("__x64_sys_perf_event_open"));
	assert_false(sym_is_slot_function("toggle_bp"));
	assert_false(sym_is_slot_function("toggle_bp_slots"));
	assert_false(sym_is_slot_function("pipe_read"));
	assert_false(sym_is_slot_function(""));
	assert_false(sym_is_slot_function("_"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(used_is_the_cpus_and_the_biggest_tasks),
		TEST(without_bpf_used_is_a_lower_bound),
		TEST(cells_are_the_cpus_then_the_tasks_then_free),
		TEST(cells_of_what_nobody_can_tell),
		TEST(pools_are_counted_apart),
		TEST(every_kind_of_keeper),
		TEST(rows_are_filtered_and_sorted),
		TEST(contexts_by_context_and_by_process),
		TEST(events_of_a_context_a_process_and_an_event),
		TEST(an_event_in_words),
		TEST(events_of_a_task_for_each_cpu_are_one),
		TEST(sums_leave_our_own_out),
		TEST(slots_may_be_newer),
		TEST(slots_may_be_older),
		TEST(no_snapshot_is_an_answer),
		TEST(waits_for_slots_are_picked_by_caller),
		TEST(locks_of_the_accounting_have_names),
		TEST(before_6_1_there_was_one_mutex),
		TEST(without_a_release_a_mutex_has_no_name),
		TEST(who_creates_is_told_or_at_least),
		TEST(who_was_found_to_create_did_at_least),
		TEST(nobody_saw_who_creates),
		cmocka_unit_test(names_of_slot_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
