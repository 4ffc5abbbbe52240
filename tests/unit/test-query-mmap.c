// SPDX-License-Identifier: GPL-2.0-only
/* The table "mmap" on canned streams: owners of the mmap_locks, by process and by memory cgroup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/cell.h"
#include "kontend/limits.h"
#include "kontend/mmlevel.h"
#include "kontend/query-hist.h"
#include "kontend/query-lock.h"
#include "kontend/query-mmap.h"
#include "lock-snaps.h"
#include "synth-mm.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK_A 0xffff888011111178ull
#define LOCK_B 0xffff888022222278ull
#define LOCK_GONE 0xffff888033333378ull
#define OTHER 0xffff888044444400ull

static struct table query_table(struct asked *w, struct query_spec spec)
{
	struct error err = {0};
	struct table t;

	assert_int_equal(query_mmap(&w->q, &spec, &t, &err), 0);
	return t;
}

static size_t find_row(const struct table *t, const char *key, const char *value, const char *mode)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (strcmp(cell_s(t, i, key), value) == 0 &&
		    strcmp(cell_s(t, i, "mode"), mode) == 0)
			return i;
	fail_msg("no row with %s %s, mode %s", key, value, mode);
	return 0;
}

static void wait_for(struct asked *w, uint64_t at, uint64_t ns, int pid, uint64_t lock,
		     uint32_t flags)
{
	synth_begin(w->rig.synth, 0, at, pid, pid + 1, lock, flags, NULL, 0);
	synth_end(w->rig.synth, 0, at + ns, pid, pid + 1, lock, 0);
}

/* Two processes of one memory cgroup, one that is gone, a lock that is no mmap_lock. */
static void play(struct asked *w)
{
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 3; i++)
		wait_for(w, CANNED_START + (10 + 10 * i) * MS, 2 * MS, 100, LOCK_A, LCB_F_WRITE);
	wait_for(w, CANNED_START + 50 * MS, 5 * MS, 100, LOCK_A, LCB_F_READ);
	wait_for(w, CANNED_START + 60 * MS, 1 * MS, 200, LOCK_B, LCB_F_WRITE);
	wait_for(w, CANNED_START + 70 * MS, 1 * MS, 300, LOCK_GONE, LCB_F_WRITE);
	wait_for(w, CANNED_START + 80 * MS, 9 * MS, 300, OTHER, LCB_F_WRITE);
	lock_snap_name(&s, LOCK_A, LOCKSNAP_MMAP, -1, 100, "a", "/slice", 0);
	lock_snap_name(&s, LOCK_B, LOCKSNAP_MMAP, -1, 200, "b", "/slice", 0);
	lock_snap_name(&s, LOCK_GONE, LOCKSNAP_SLAB, -1, 0, "", "mm_struct", 0);
	lock_snap_name(&s, OTHER, LOCKSNAP_SLAB, -1, 0, "", "ext4_inode_cache", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 900 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static void a_row_is_a_process_and_mode(void **state)
{
	struct asked *w = *state;

	play(w);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	assert_int_equal(t.n_rows, 4);
	size_t i = find_row(&t, "process", "a/100", "W");
	assert_int_equal(i, 0);
	assert_int_equal(cell_at(&t, i, "pid")->i, 100);
	assert_string_equal(cell_s(&t, i, "comm"), "a");
	assert_string_equal(cell_s(&t, i, "memcg"), "/slice");
	assert_int_equal(cell_u(&t, i, "contended"), 3);
	assert_int_equal(cell_u(&t, i, "total_ns"), 6 * MS);
	assert_int_equal(cell_u(&t, i, "p50_ns"), 2 * MS);
	assert_int_equal(cell_u(&t, i, "max_ns"), 2 * MS);
	assert_false(cell_at(&t, i, "acquired")->known);
	assert_false(cell_at(&t, i, "hold_p99_ns")->known);
	i = find_row(&t, "process", "a/100", "R");
	assert_int_equal(cell_u(&t, i, "contended"), 1);
	assert_int_equal(cell_u(&t, i, "max_ns"), 5 * MS);
}

/* Of a process that was gone when locks were looked at the waiters' is named, as a guess. */
static void a_lock_without_a_process_is_guessed(void **state)
{
	struct asked *w = *state;

	play(w);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	for (size_t i = 0; i < t.n_rows; i++)
		assert_int_equal(cell_at(&t, i, "pid")->approx, cell_at(&t, i, "pid")->i == 300);
}

/* Waits are kept by time, figures of the locks' own events are not: then all are of all time. */
static void figures_are_of_the_window(void **state)
{
	const struct model_limits limits = model_limits_recent(16 << 20);
	struct asked *w = *state;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	lock_snap_name(&s, LOCK_A, LOCKSNAP_MMAP, -1, 100, "a", "/slice", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 1 * MS);
	wait_for(w, CANNED_START + 10 * MS, 40 * MS, 100, LOCK_A, LCB_F_WRITE);
	for (uint64_t i = 1; i <= 5; i++)
		synth_tick(w->rig.synth, CANNED_START + 1000 * i * MS);
	wait_for(w, CANNED_START + 5100 * MS, 2 * MS, 100, LOCK_A, LCB_F_WRITE);
	synth_tick(w->rig.synth, CANNED_START + 6000 * MS);
	asked_play(w, &limits);
	w->q.window_ns = 2000 * MS;
	assert_true(query_mmap_is_of_window(&w->q));
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 2 * MS);
	w->q.window_ns = 0;
	t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 40 * MS);
}

static void a_row_is_a_memcg_and_mode(void **state)
{
	struct asked *w = *state;

	play(w);
	struct table t = query_table(w, (struct query_spec){.by = BY_CGROUP, .average = true});
	assert_int_equal(t.n_rows, 3);
	size_t i = find_row(&t, "memcg", "/slice", "W");
	assert_int_equal(cell_u(&t, i, "contended"), 4);
	assert_int_equal(cell_u(&t, i, "locks"), 2);
	assert_int_equal(cell_u(&t, i, "total_ns"), 7 * MS);
	i = find_row(&t, "memcg", "-", "W");
	assert_int_equal(cell_u(&t, i, "contended"), 1);
}

/* The counts of the histogram are those of the waits: 2 ms lies in the octave from 2^20 ns on. */
static void the_histogram_counts_octaves(void **state)
{
	struct asked *w = *state;

	play(w);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	const char *at = cell_s(&t, find_row(&t, "process", "a/100", "W"), "histogram");
	for (int octave = 0; octave < 20; octave++) {
		assert_int_equal(strncmp(at, "0\n", 2), 0);
		at += 2;
	}
	assert_string_equal(at, "3");
}

/* The details of a row are about the row: waits in scope are those of the row. */
static void a_row_can_be_opened(void **state)
{
	struct asked *w = *state;

	play(w);
	for (int by = BY_MMAP; by < QUERY_SCOPES; by++) {
		enum query_by spec_by = by == BY_MMAP ? BY_PROCESS : BY_CGROUP;
		struct table t =
			query_table(w, (struct query_spec){.by = spec_by, .average = true});
		for (size_t i = 0; i < t.n_rows; i++) {
			struct query_scope scope = {.mask = 1u << by};
			struct query_hist h;
			scope.id[by] = t.ids[i];
			assert_int_equal(query_hist(&w->q, &scope, &h), 0);
			assert_int_equal(h.n_waits, cell_u(&t, i, "contended"));
			assert_int_equal(h.total_ns, cell_u(&t, i, "total_ns"));
		}
		size_t i = find_row(&t, "memcg", "/slice", "W");
		const char *title = query_title(&w->q, (enum query_by)by, t.ids[i]);
		assert_string_equal(title,
				    by == BY_MMAP ? "mmap_lock W a/100" : "mmap_lock W of /slice");
	}
	assert_string_equal(query_title(&w->q, BY_MMAP, 1), "mmap_lock");
}

/* A task in two snapshots and in no event: a row of waits in flight, none of which has ended. */
static void waits_from_before_make_a_row(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 2; i++) {
		struct locksnap s = {0};
		struct locksnap_queue q = {.addr = LOCK_A,
					   .type = LOCKSNAP_RWSEM,
					   .readers_waiting = 2,
					   .writers_waiting = 1};
		lock_snap_name(&s, LOCK_A, LOCKSNAP_MMAP, -1, 100, "a", "", 0);
		lock_snap_waiter(&s, 1, 100, 101, "a", false);
		lock_snap_waiter(&s, 2, 100, 102, "a", true);
		lock_snap_waiter(&s, 3, 100, 103, "a", true);
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
		lock_snap_emit(w->rig.synth, &s, CANNED_START + i * 900 * MS);
	}
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, find_row(&t, "process", "a/100", "R"), "waiting"), 2);
	assert_int_equal(cell_u(&t, find_row(&t, "process", "a/100", "W"), "waiting"), 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 0);
}

#define MM_A (LOCK_A - 0x78)
#define US 1000ull

static void event(struct asked *w, enum synth_mm what, uint64_t t, int pid, bool write)
{
	const struct synth_mm_event e = {.what = what,
					 .t = CANNED_START + t,
					 .pid = pid,
					 .tid = pid + 1,
					 .mm = MM_A,
					 .memcg_id = 101,
					 .memcg = "/by/path",
					 .write = write,
					 .success = true};

	synth_mm(w->rig.synth, &e);
}

/* Asked for, got and given back, @n times; the first one had to wait. */
static void acquire(struct asked *w, int n, int pid, bool write)
{
	uint64_t t = 10 * MS;

	for (int i = 0; i < n; i++, t += 100 * US) {
		event(w, SYNTH_MM_START, t, pid, write);
		if (i == 0)
			wait_for(w, CANNED_START + t + 10, 5 * MS, pid, LOCK_A, LCB_F_WRITE);
		t += i == 0 ? 5 * MS + 20 : 500;
		event(w, SYNTH_MM_ACQUIRED, t, pid, write);
		event(w, SYNTH_MM_RELEASED, t + 20 * US, pid, write);
	}
}

static void begin_events(struct asked *w, bool path)
{
	rig_init(&w->rig, 1);
	synth_mm_prologue(w->rig.synth, path);
	synth_cgroup(w->rig.synth, 0, CANNED_START, 101, "/system.slice/a.service");
	synth_set_cgroup(w->rig.synth, 101);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 101, "a");
	synth_round(w->rig.synth, CANNED_START);
}

/* All acquisitions, with the names known without snapshots: the offset is learned. */
static void events_tell_of_all_acquisitions(void **state)
{
	struct asked *w = *state;
	struct query_mmap_row row;

	begin_events(w, true);
	acquire(w, 100, 100, true);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "process"), "a/100");
	assert_string_equal(cell_s(&t, 0, "memcg"), "/by/path");
	assert_string_equal(cell_s(&t, 0, "of"), "acquired");
	assert_int_equal(cell_u(&t, 0, "acquired"), 100);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_in_range(cell_u(&t, 0, "p50_ns"), 437, 563);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 5 * MS + 20);
	assert_in_range(cell_u(&t, 0, "hold_p99_ns"), 17 * US, 23 * US);
	assert_int_equal(query_mmap_row(&w->q, BY_MMAP, t.ids[0], &row), 0);
	assert_int_equal(row.acquired, 100);
	assert_int_equal(row.wait.n_waits, 100);
	assert_int_equal(row.hold.total_ns, 100 * 20 * US);
	assert_string_equal(query_title(&w->q, BY_MMAP, t.ids[0]), "mmap_lock W a/100");
}

static const char *memcg_with(struct asked *w, uint64_t own_cgroup)
{
	begin_events(w, false);
	synth_cgroup(w->rig.synth, 0, CANNED_START, 7, "/other.slice");
	synth_set_cgroup(w->rig.synth, own_cgroup);
	acquire(w, 3, 100, false);
	wait_for(w, CANNED_START + 900 * MS, MS, 99, OTHER, LCB_F_WRITE); /* by thread 100 */
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	size_t i = find_row(&t, "process", "a/100", "R");
	assert_int_equal(cell_u(&t, i, "acquired"), 3);
	return cell_s(&t, i, "memcg");
}

/* The id of a memory cgroup has a name only where it is of the hierarchy that names are known of.
 */
static void a_memcg_is_named_by_its_id(void **state)
{
	assert_string_equal(memcg_with(*state, 101), "/system.slice/a.service");
}

static void an_id_of_another_hierarchy_is_not_named(void **state)
{
	assert_string_equal(memcg_with(*state, 7), "-");
}

/* Of a tenth of the time: counts are scaled, and marked as such; times are as they were seen. */
static void samples_are_scaled(void **state)
{
	struct asked *w = *state;
	struct mmlevel_how how;
	struct query_mmap_sum sum;

	begin_events(w, true);
	assert_int_equal(mmlevel_parse("sampled=10", &how), 0);
	how.event_ns = 200;
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	acquire(w, 50, 100, true);
	how.from_ns = CANNED_START;
	how.to_ns = CANNED_START + 100 * MS;
	synth_mm_how(w->rig.synth, &how, how.to_ns);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	assert_int_equal(query_mmap_sum(&w->q, true, &sum), 0);
	assert_int_equal(sum.level, MMLEVEL_SAMPLED);
	assert_int_equal(sum.seen_ns, 100 * MS);
	assert_int_equal(sum.events, 150);
	assert_true(sum.cost_pct > 0.0029 && sum.cost_pct < 0.0031);
	assert_string_equal(query_mmap_level_text(&w->q, &sum), "sampled, 1/10 of the time");
	assert_int_equal(cell_u(&t, 0, "acquired"), 500);
	assert_true(cell_at(&t, 0, "acquired")->approx);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 5 * MS + 20);
	/* One burst does not show how much they differ. */
	assert_false(cell_at(&t, 0, "acquired_error")->known);
}

static void more_events(struct asked *w, uint64_t at, int n)
{
	for (int i = 0; i < n; i++) {
		event(w, SYNTH_MM_START, at, 100, true);
		event(w, SYNTH_MM_ACQUIRED, at + US, 100, true);
		event(w, SYNTH_MM_RELEASED, at + 2 * US, 100, true);
		at += 10 * US;
	}
}

static void other_event(struct asked *w, uint64_t t)
{
	const struct synth_mm_event e = {.what = SYNTH_MM_ACQUIRED,
					 .t = CANNED_START + t,
					 .pid = 200,
					 .tid = 200,
					 .mm = MM_A + 0x10000,
					 .success = true};

	synth_mm(w->rig.synth, &e);
}

static struct table four_bursts(struct asked *w, bool counted)
{
	struct mmlevel_how how;

	begin_events(w, true);
	assert_int_equal(mmlevel_parse("sampled=10", &how), 0);
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	if (counted) {
		/* One without events so far. */
		how.from_ns = CANNED_START;
		how.to_ns = CANNED_START + 5 * MS;
		synth_mm_how(w->rig.synth, &how, how.to_ns);
	}
	for (uint64_t i = 0; i < 4; i++) {
		more_events(w, (250 * i + 10) * MS, (int)(10 * (i + 1)));
		how.from_ns = CANNED_START + 250 * i * MS;
		how.to_ns = how.from_ns + 25 * MS;
		how.counted_inside += counted ? 20 * (i + 1) : 0;
		how.counted += counted ? 600 : 0;
		/* Others' as well, as many, and some as it was switched off. */
		for (uint64_t k = 0; counted && k < 10 * (i + 1); k++)
			other_event(w, (250 * i + 12) * MS + k * US);
		synth_mm_how(w->rig.synth, &how, how.to_ns);
	}
	how.from_ns = how.to_ns = CANNED_START + 1000 * MS;
	synth_mm_how(w->rig.synth, &how, how.to_ns);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	return query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
}

/*
 * 10, 20, 30 and 40 in four bursts, a tenth of the time: 1000, and 3.182 * 10 * sqrt(4 / 3 * (500 +
 * 6.25^2) * .9).
 */
static void samples_tell_their_error(void **state)
{
	struct table t = four_bursts(*state, false);

	assert_int_equal(cell_u(&t, 0, "acquired"), 1000);
	assert_in_range(cell_u(&t, 0, "acquired_error"), 807, 811);
}

/*
 * Half of the 200 that were seen in bursts, whatever the bursts had: half of all 2400. Of the burst
 * without events they make five; they are alike in each, and might not have been.
 */
static void what_was_counted_scales_samples(void **state)
{
	struct table t = four_bursts(*state, true);

	assert_int_equal(cell_u(&t, 0, "acquired"), 1200);
	assert_in_range(cell_u(&t, 0, "acquired_error"), 170, 190);
}

/* A task gone before the first snapshot: the waits' own cgroup, if that is a memory cgroup. */
static void play_gone(struct asked *w, bool reported)
{
	struct mmlevel_how how;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_cgroup(w->rig.synth, 0, CANNED_START, 77, "/gone.slice");
	assert_int_equal(mmlevel_parse("contended", &how), 0);
	how.memcg_reported = reported;
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	synth_round(w->rig.synth, CANNED_START);
	synth_set_cgroup(w->rig.synth, 77);
	wait_for(w, CANNED_START + 10 * MS, MS, 300, LOCK_GONE, LCB_F_WRITE);
	lock_snap_name(&s, LOCK_GONE, LOCKSNAP_SLAB, -1, 0, "", "mm_struct", 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static void waits_tell_the_memcg_of_who_is_gone(void **state)
{
	struct asked *w = *state;

	play_gone(w, true);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	assert_string_equal(cell_s(&t, 0, "memcg"), "/gone.slice");
	assert_true(table_value(&t, 0, table_column(&t, "memcg"))->approx);
	t = query_table(w, (struct query_spec){.by = BY_CGROUP});
	size_t i = find_row(&t, "memcg", "/gone.slice", "W");
	assert_string_equal(query_title(&w->q, BY_MMAP_MEMCG, t.ids[i]),
			    "mmap_lock W of /gone.slice");
}

/* Gets the lock in @frames, and has it for @held. */
static void hold(struct asked *w, uint64_t t, uint64_t held, bool write, const uint64_t *frames,
		 uint32_t n)
{
	struct synth_mm_event e = {.what = SYNTH_MM_START,
				   .t = CANNED_START + t,
				   .pid = 100,
				   .tid = 101,
				   .mm = MM_A,
				   .memcg = "/by/path",
				   .write = write,
				   .success = true};

	synth_mm(w->rig.synth, &e);
	e.what = SYNTH_MM_ACQUIRED;
	e.t += US;
	e.frames = frames;
	e.n_frames = n;
	synth_mm(w->rig.synth, &e);
	e.what = SYNTH_MM_RELEASED;
	e.t += held;
	synth_mm(w->rig.synth, &e);
}

static void play_paths(struct asked *w)
{
	static const uint64_t map[] = {0xffffffff81001010, 0xffffffff81004010, 0xffffffff81010010};
	static const uint64_t fault[] = {0xffffffff81005010, 0xffffffff81007010};
	struct mmlevel_how how;

	rig_init(&w->rig, 1);
	synth_mm_prologue_paths(w->rig.synth);
	assert_int_equal(mmlevel_parse("all,paths", &how), 0);
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 101, "a");
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < 10; i++)
		hold(w, (10 + 10 * i) * MS, 2 * MS, true, map, 3);
	for (uint64_t i = 0; i < 4; i++)
		hold(w, (200 + 10 * i) * MS, 100 * US, false, fault, 2);
	hold(w, 280 * MS, 10 * US, false, map, 3);
	hold(w, 300 * MS, 7 * MS, false, NULL, 0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
}

static void check_paths(struct asked *w)
{
	const struct query_spec spec = {.by = BY_STACK, .average = true};
	struct table t = query_table(w, spec);

	assert_int_equal(t.n_rows, 4);
	assert_string_equal(cell_s(&t, 3, "stack"), cell_s(&t, 0, "stack"));
	assert_string_equal(cell_s(&t, 3, "mode"), "R");
	assert_int_not_equal(t.ids[3], t.ids[0]);
	assert_string_equal(cell_s(&t, 0, "stack"),
			    "vm_mmap_pgoff < __x64_sys_mmap < do_syscall_64");
	assert_string_equal(cell_s(&t, 0, "caller"), "vm_mmap_pgoff");
	assert_string_equal(cell_s(&t, 0, "mode"), "W");
	assert_int_equal(cell_u(&t, 0, "held"), 10);
	assert_int_equal(cell_u(&t, 0, "hold_total_ns"), 20 * MS);
	assert_int_equal(cell_u(&t, 0, "hold_max_ns"), 2 * MS);
	assert_in_range(cell_u(&t, 0, "hold_p50_ns"), 17 * MS / 10, 23 * MS / 10);
	assert_false(cell_at(&t, 1, "stack")->known);
	assert_int_equal(cell_u(&t, 1, "hold_total_ns"), 7 * MS);
	assert_string_equal(cell_s(&t, 2, "stack"), "lock_mm_and_find_vma < exc_page_fault");
	assert_string_equal(cell_s(&t, 2, "mode"), "R");
	assert_int_equal(cell_u(&t, 2, "held"), 4);
	assert_int_equal(cell_u(&t, 2, "hold_total_ns"), 400 * US);
}

/* From acquisition to release, by the place of acquisition; they add up to the process' time. */
static void call_paths_say_how_long_it_was_held(void **state)
{
	struct asked *w = *state;
	struct query_mmap_sum sum;

	play_paths(w);
	asked_play(w, NULL);
	check_paths(w);
	assert_int_equal(query_mmap_sum(&w->q, true, &sum), 0);
	assert_true(sum.paths);
	assert_string_equal(query_mmap_level_text(&w->q, &sum), "all, with call paths");
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS, .average = true});
	size_t i = find_row(&t, "process", "a/100", "W");
	assert_int_equal(cell_u(&t, i, "held"), 10);
	assert_int_equal(cell_u(&t, i, "hold_total_ns"), 20 * MS);
	i = find_row(&t, "process", "a/100", "R");
	assert_int_equal(cell_u(&t, i, "hold_total_ns"), 7 * MS + 410 * US);
}

/* A copy has the same, and forgets it for itself. */
static void call_paths_outlive_copies(void **state)
{
	struct asked *w = *state;
	struct model copy;

	play_paths(w);
	asked_play(w, NULL);
	assert_int_equal(model_copy(&copy, w->rig.engine.model), 0);
	assert_int_equal(copy.mm_held->n, w->rig.engine.model->mm_held->n);
	assert_true(copy.mm_held->n == 4);
	model_zero(&copy);
	assert_int_equal(copy.mm_held->n, 0);
	model_deinit(&copy);
	check_paths(w);
}

/* More call paths than there is room for: what is folded loses its path, and no time. */
static void many_call_paths_keep_their_sums(void **state)
{
	enum { PATHS = 10000 };
	struct model_limits limits = model_limits_of(0);
	struct asked *w = *state;
	struct mmlevel_how how;
	uint64_t n = 0, total = 0;

	limits.stacks = 256;
	rig_init(&w->rig, 1);
	synth_mm_prologue_paths(w->rig.synth);
	assert_int_equal(mmlevel_parse("all,paths", &how), 0);
	synth_mm_how(w->rig.synth, &how, CANNED_START);
	synth_round(w->rig.synth, CANNED_START);
	for (uint64_t i = 0; i < PATHS; i++) {
		const uint64_t frames[] = {0xffffffff81001010 + i % 3, 0xffffffff81010000 + i};
		hold(w, (10 + i) * 10 * US, 2 * US, i % 2 != 0, frames, 2);
	}
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, &limits);
	struct table t = query_table(w, (struct query_spec){.by = BY_STACK, .average = true});
	assert_in_range(t.n_rows, 2, 2 * 256);
	for (size_t i = 0; i < t.n_rows; i++) {
		n += cell_u(&t, i, "held");
		total += cell_u(&t, i, "hold_total_ns");
	}
	assert_int_equal(n, PATHS);
	assert_int_equal(total, PATHS * 2 * US);
}

static void without_call_paths_a_sentence_says_how(void **state)
{
	struct asked *w = *state;
	struct query_mmap_sum sum;

	begin_events(w, true);
	acquire(w, 3, 100, true);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_STACK});
	assert_int_equal(t.n_rows, 0);
	assert_int_equal(query_mmap_sum(&w->q, true, &sum), 0);
	assert_false(sum.paths);
	assert_non_null(strstr(query_mmap_none(&w->q, BY_STACK, &sum), "--mmap all,paths"));
}

static void groups_of_another_hierarchy_are_no_memcgs(void **state)
{
	struct asked *w = *state;

	play_gone(w, false);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	const struct value *memcg = table_value(&t, 0, table_column(&t, "memcg"));
	assert_true(!memcg->known || !*memcg->s);
}

static void without_names_one_sentence_says_why(void **state)
{
	struct asked *w = *state;
	struct query_mmap_sum sum;
	struct locksnap s = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	wait_for(w, CANNED_START + 10 * MS, MS, 100, LOCK_A, LCB_F_WRITE);
	s.head.reason = locksnap_add_text(&s, "no BPF here");
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	struct table t = query_table(w, (struct query_spec){.by = BY_PROCESS});
	assert_int_equal(t.n_rows, 0);
	assert_int_equal(query_mmap_sum(&w->q, true, &sum), 0);
	assert_string_equal(query_mmap_none(&w->q, BY_PROCESS, &sum),
			    "which locks are mmap_locks is not known: no BPF here");
	struct query_lock_look look;
	query_lock_look(&w->q, &look);
	assert_true(look.refused);
	assert_int_equal(look.missing,
			 QUERY_LOCK_NO_NAMES | QUERY_LOCK_NO_HOLDERS | QUERY_LOCK_NO_PLACES);
	assert_string_equal(look.reason, "no BPF here");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_row_is_a_process_and_mode),
		TEST(a_lock_without_a_process_is_guessed),
		TEST(figures_are_of_the_window),
		TEST(a_row_is_a_memcg_and_mode),
		TEST(the_histogram_counts_octaves),
		TEST(a_row_can_be_opened),
		TEST(waits_from_before_make_a_row),
		TEST(events_tell_of_all_acquisitions),
		TEST(a_memcg_is_named_by_its_id),
		TEST(an_id_of_another_hierarchy_is_not_named),
		TEST(samples_are_scaled),
		TEST(waits_tell_the_memcg_of_who_is_gone),
		TEST(groups_of_another_hierarchy_are_no_memcgs),
		TEST(samples_tell_their_error),
		TEST(what_was_counted_scales_samples),
		TEST(without_names_one_sentence_says_why),
		TEST(call_paths_say_how_long_it_was_held),
		TEST(call_paths_outlive_copies),
		TEST(many_call_paths_keep_their_sums),
		TEST(without_call_paths_a_sentence_says_how),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
