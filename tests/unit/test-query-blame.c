// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of blamed tasks and of states of holders: on a story whose every millisecond is known, in
 * windows of time, with filters; and that they add up to all waiting whatever the stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/model/internal.h"
#include "asked.h"
#include "canned.h"
#include "followed.h"
#include "golden.h"
#include "kontend/blame.h"
#include "kontend/limits.h"
#include "kontend/maps.h"
#include "kontend/query-blame.h"
#include "kontend/task.h"
#include "kontend/wait-filter.h"
#include "synth-profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
enum { SECONDS = 3 };

/* Of a second of the story. */
enum {
	ROOT_RUNS = 410 * 3 + 10,
	ROOT_READY = 60 * 3,
	ROOT_IO = 100 * 3,
	ROOT_ALL = ROOT_RUNS + ROOT_READY + ROOT_IO,
	DD_RUNS = 10,
	DD_CHAINED = 150 * 3, /* readers who wait for the root, which waits for dd */
	DD_SLEEPS = 670 + 150 + DD_CHAINED,
	DD_ALL = DD_RUNS + DD_SLEEPS,
	NOBODY = 10 + 5 * 3 + 10 + 5,
	ALL = ROOT_ALL + DD_ALL + NOBODY,
};

static void play(struct asked *w, const struct model_limits *limits)
{
	asked_play(w, limits);
	query_begin(&w->q);
}

static void play_story(struct asked *w, const struct model_limits *limits)
{
	char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, followed_symbols);
	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, symbols);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	followed_emit(w->rig.synth, CANNED_START, SECONDS);
	play(w, limits);
}

static struct table blame(struct asked *w, enum query_blame_by by)
{
	struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_blame(&w->q, &(struct query_blame_spec){.by = by}, &spec, &t, &err),
			 0);
	return t;
}

static struct table did(struct asked *w, enum query_blame_by by)
{
	struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_blame(&w->q, &(struct query_blame_spec){.by = by, .set = BLAME_DID},
				     &spec, &t, &err),
			 0);
	return t;
}

static struct query_blame_sum sum(struct asked *w)
{
	struct query_blame_sum s;

	assert_int_equal(query_blame_sum(&w->q, &s), 0);
	return s;
}

/* So many milliseconds of each of @n seconds. */
static void expect_ms(const struct table *t, size_t row, const char *key, unsigned ms, unsigned n)
{
	uint64_t ns = cell_u(t, row, key);

	if (ns != ms * n * MS)
		fail_msg("%s of row %zu: %.3f ms, not %u", key, row, (double)ns / MS, ms * n);
}

static void each_millisecond_has_its_root(void **state)
{
	struct asked *w = *state;

	play_story(w, NULL);
	struct table t = blame(w, BLAME_BY_TASK);
	assert_int_equal(t.n_rows, 4);
	assert_string_equal(cell_s(&t, 0, "task"), "mysqld/801");
	assert_int_equal(cell_at(&t, 0, "tid")->i, FOLLOWED_ROOT);
	expect_ms(&t, 0, "waited_ns", ROOT_ALL, SECONDS);
	expect_ms(&t, 0, "running_ns", ROOT_RUNS, SECONDS);
	expect_ms(&t, 0, "runnable_ns", ROOT_READY, SECONDS);
	expect_ms(&t, 0, "io_ns", ROOT_IO, SECONDS);
	expect_ms(&t, 0, "asleep_ns", 0, SECONDS);
	expect_ms(&t, 0, "chained_ns", 0, SECONDS);
	assert_string_equal(cell_s(&t, 0, "caller"), "__vm_munmap");
	assert_string_equal(cell_s(&t, 0, "mostly"), "running 72.1%");
	assert_true(fabs(cell_at(&t, 0, "running_pct")->d - 100.0 * ROOT_RUNS / ROOT_ALL) < 1e-9);
	assert_true(fabs(cell_at(&t, 0, "waited_pct")->d - 100.0 * ROOT_ALL / ALL) < 1e-9);
	assert_string_equal(cell_s(&t, 1, "task"), "dd/811");
	expect_ms(&t, 1, "waited_ns", DD_ALL, SECONDS);
	expect_ms(&t, 1, "chained_ns", DD_CHAINED, SECONDS);
	assert_string_equal(cell_s(&t, 1, "mostly"),
			    "asleep 99.2%: pipe is full, in anon_pipe_write");
	assert_string_equal(cell_s(&t, 1, "mostly_in"), "anon_pipe_write");
	assert_string_equal(cell_s(&t, 1, "waits_caller"), "pipe_read");
	for (size_t i = 2; i < 4; i++) {
		assert_string_equal(cell_s(&t, i, "task"), "(holder not known)");
		assert_string_equal(cell_s(&t, i, "row"), "unknown");
		assert_false(cell_at(&t, i, "tid")->known);
	}
	struct query_blame_sum s = sum(w);
	assert_int_equal(s.waited_ns, ALL * SECONDS * MS);
	assert_int_equal(s.waited_ns, rig_waited_ns(w->rig.engine.model));
	assert_int_equal(s.tasks, 2);
	assert_int_equal(s.tasks_ns, (ROOT_ALL + DD_ALL) * SECONDS * MS);
	assert_int_equal(s.followed_ns, s.tasks_ns);
	assert_int_equal(s.unknown_ns, NOBODY * SECONDS * MS);
	assert_int_equal(s.readers_ns + s.others_ns + s.lost_ns, 0);
}

static void rows_are_by_whatever_is_said_of_the_root(void **state)
{
	struct asked *w = *state;

	play_story(w, NULL);
	for (int by = 0; by < BLAME_BYS; by++) {
		struct table t = blame(w, (enum query_blame_by)by);
		assert_int_equal(column_sum(&t, "waited_ns"), ALL * SECONDS * MS);
	}
	struct table t = blame(w, BLAME_BY_STATE);
	assert_int_equal(t.n_rows, 5);
	assert_string_equal(cell_s(&t, 0, "state"), "asleep");
	expect_ms(&t, 0, "waited_ns", DD_SLEEPS, SECONDS);
	assert_string_equal(cell_s(&t, 2, "state"), "asleep for I/O");
	assert_string_equal(cell_s(&t, 2, "mostly"), "asleep for I/O, in folio_wait_bit_common");
	assert_string_equal(cell_s(&t, 3, "mostly"), "kept off by stress/99");
	t = blame(w, BLAME_BY_PROCESS);
	assert_string_equal(cell_s(&t, 0, "process"), "mysqld/800");
	t = blame(w, BLAME_BY_CALLER);
	assert_string_equal(cell_s(&t, 0, "caller"), "__vm_munmap");
	t = blame(w, BLAME_BY_LOCK);
	assert_int_equal(t.n_rows, 3); /* the mmap_lock by its holder, and by its waiters */
}

static void what_holders_did_is_time(void **state)
{
	struct asked *w = *state;
	struct query_blame_lock lock;

	play_story(w, NULL);
	struct table t = did(w, BLAME_BY_LOCK);
	assert_int_equal(t.n_rows, 2);
	expect_ms(&t, 0, "time_ns", 720, SECONDS);
	expect_ms(&t, 0, "running_ns", 410, SECONDS);
	expect_ms(&t, 0, "runnable_ns", 60, SECONDS);
	expect_ms(&t, 0, "io_ns", 100, SECONDS);
	expect_ms(&t, 0, "lock_ns", 150, SECONDS);
	expect_ms(&t, 0, "not_followed_ns", 0, SECONDS);
	expect_ms(&t, 0, "waited_ns", 720 * 3, SECONDS);
	expect_ms(&t, 1, "time_ns", 690, SECONDS);
	expect_ms(&t, 1, "asleep_ns", 670, SECONDS);
	assert_int_equal(query_blame_lock(&w->q, t.ids[0], &lock), 0);
	assert_int_equal(lock.time_ns, 720 * SECONDS * MS);
	assert_int_equal(lock.state_ns[BLAME_PASSED], 150 * SECONDS * MS);
	assert_string_equal(lock.why[BLAME_RUNNABLE], "kept off by stress/99");
	assert_string_equal(lock.why[BLAME_IO], "in folio_wait_bit_common");
	assert_null(lock.why[BLAME_RUNNING]);
	t = did(w, BLAME_BY_TASK);
	assert_int_equal(t.n_rows, 2);
	expect_ms(&t, 0, "time_ns", 730, SECONDS);
	assert_string_equal(cell_s(&t, 1, "task"), "dd/811");
}

/* 801 is sampled in 20 ms of its 410 ms: from then on it is in that function. */
static void samples_say_in_which_function(void **state)
{
	const uint64_t frames[] = {0xffffffff81f00410ull, 0xffffffff81f00510ull,
				   synth_addr(SYNTH_DO_SYSCALL_64)};
	const struct synth_chain chain = {.kernel = frames, .n_kernel = 3};
	struct asked *w = *state;
	struct query_blame_lock lock;
	char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, followed_symbols);
	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, symbols);
	synth_outputs(w->rig.synth);
	synth_profile(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	for (int i = 0; i < 3; i++)
		synth_sample(w->rig.synth, 1, CANNED_START + (unsigned)(30 + 40 * i) * MS,
			     FOLLOWED_PID, FOLLOWED_ROOT, 1, chain);
	followed_emit(w->rig.synth, CANNED_START, 1);
	play(w, NULL);
	struct table t = blame(w, BLAME_BY_TASK);
	assert_string_equal(cell_s(&t, 0, "task"), "mysqld/801");
	assert_string_equal(cell_s(&t, 0, "mostly"), "running 72.1%, in copy_page_range (clone)");
	assert_string_equal(cell_s(&t, 0, "mostly_in"), "copy_page_range");
	t = did(w, BLAME_BY_LOCK);
	assert_int_equal(query_blame_lock(&w->q, t.ids[0], &lock), 0);
	assert_string_equal(lock.why[BLAME_RUNNING], "in copy_page_range (clone)");
}

static void a_window_is_of_its_ticks(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;

	play_story(w, &limits);
	w->q.window_ns = 1000 * MS;
	assert_int_equal(sum(w).waited_ns, ALL * MS);
	struct table t = blame(w, BLAME_BY_TASK);
	expect_ms(&t, 0, "waited_ns", ROOT_ALL, 1);
	t = did(w, BLAME_BY_LOCK);
	expect_ms(&t, 0, "time_ns", 720, 1);
	w->q.window_ns = 2000 * MS;
	assert_int_equal(sum(w).waited_ns, ALL * 2 * MS);
	w->q.window_ns = 0;
	assert_int_equal(sum(w).waited_ns, ALL * SECONDS * MS);
}

/* The charged time keeps the lock that was waited for, and the caller; not the waiting task. */
static void a_filter_is_about_who_waits(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;
	struct error err = {0};

	play_story(w, &limits);
	assert_int_equal(wait_filter_set(&w->q, "caller=lock_mm_and_find_vma", &err), 0);
	assert_int_equal(sum(w).waited_ns, 725 * 3 * SECONDS * MS);
	struct table t = blame(w, BLAME_BY_TASK);
	assert_int_equal(t.n_rows, 3);
	expect_ms(&t, 1, "waited_ns", DD_CHAINED, SECONDS);
	w->q.window_ns = 1000 * MS;
	assert_int_equal(sum(w).waited_ns, 725 * 3 * MS);
	assert_int_equal(wait_filter_set(&w->q, "kind=mutex", &err), 0);
	assert_int_equal(sum(w).waited_ns, (10 + 695 + 150) * MS);
	w->q.window_ns = 0;
	assert_int_equal(wait_filter_set(&w->q, "kind=mutex tid=801", &err), 0);
	assert_non_null(sum(w).refused);
	assert_int_equal(blame(w, BLAME_BY_TASK).n_rows, 0);
	assert_int_equal(did(w, BLAME_BY_TASK).n_rows, 0);
	wait_filter_end(&w->q);
	assert_null(sum(w).refused);
	assert_int_equal(sum(w).waited_ns, ALL * SECONDS * MS);
}

static void how_long_waits_were_is_not_charged(void **state)
{
	struct asked *w = *state;
	struct error err = {0};

	play_story(w, NULL);
	w->rig.engine.model->min_wait_ns = 100 * MS;
	assert_int_equal(wait_filter_set(&w->q, "", &err), 0);
	assert_non_null(strstr(sum(w).refused, "--min-wait"));
	assert_int_equal(sum(w).waited_ns, 0);
	w->rig.engine.model->min_wait_ns = 0;
}

/* Waits in flight, a loss, a failed wait, ends without begins. */
static void sums_are_what_was_waited(void **state)
{
	struct asked *w = *state;

	query_begin(&w->q);
	struct query_blame_sum s = sum(w);
	assert_int_equal(s.waited_ns, rig_waited_ns(w->rig.engine.model));
	assert_int_equal(s.waited_ns, rig_blamed_ns(w->rig.engine.model));
	assert_int_equal(s.waited_ns, s.tasks_ns + s.readers_ns + s.others_ns + s.unknown_ns);
	assert_true(s.unknown_ns > 0 && s.waited_ns > 0);
	for (int by = 0; by < BLAME_BYS; by++) {
		struct table t = blame(w, (enum query_blame_by)by);
		assert_int_equal(column_sum(&t, "waited_ns"), s.waited_ns);
	}
}

static void what_goes_on_is_of_nobody_yet(void **state)
{
	struct asked *w = *state;
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				   synth_addr(SYNTH_VM_MUNMAP)};
	struct model_limits limits = model_limits_recent(0);

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_begin(w->rig.synth, 0, CANNED_START + 1 * MS, 700, 701, FOLLOWED_MMAP_LOCK,
		    LCB_F_WRITE, frames, 2);
	for (unsigned i = 1; i <= 5; i++)
		synth_tick(w->rig.synth, CANNED_START + i * 1000 * MS);
	play(w, &limits);
	struct table t = blame(w, BLAME_BY_TASK);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "waited_ns"), 4999 * MS);
	assert_string_equal(cell_s(&t, 0, "mostly"), "holder not known");
	/* In a window no more than it can have waited there. */
	w->q.window_ns = 2000 * MS;
	assert_int_equal(sum(w).waited_ns, 2000 * MS);
	assert_int_equal(did(w, BLAME_BY_TASK).n_rows, 0);
}

/* A writer that had not waited: its row has the name, and opens the page, of its waiters. */
static void a_mode_without_waits_is_the_lock_that_is_waited_for(void **state)
{
	const struct ownerrec r = {
		.magic = OWNERREC_MAGIC, .lock = FOLLOWED_MMAP_LOCK, .pid = 700, .tid = 701};
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_READ_SLOWPATH),
				   synth_addr(SYNTH_LOCK_MM_AND_FIND_VMA)};
	struct query_blame_lock lock;
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	synth_begin(w->rig.synth, 0, CANNED_START + 1 * MS, 700, 702, FOLLOWED_MMAP_LOCK,
		    LCB_F_READ, frames, 2);
	synth_owner(w->rig.synth, 0, CANNED_START + 1 * MS + 1, 702, &r);
	synth_end(w->rig.synth, 0, CANNED_START + 31 * MS, 700, 702, FOLLOWED_MMAP_LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	play(w, NULL);
	struct table locks = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	struct table t = blame(w, BLAME_BY_TASK);
	assert_int_equal(locks.n_rows, 1);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_at(&t, 0, "tid")->i, 701);
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:W");
	assert_string_equal(cell_s(&t, 0, "name"), cell_s(&locks, 0, "name"));
	assert_int_equal(cell_u(&t, 0, "lock_id"), locks.ids[0]);
	assert_int_equal(query_blame_lock(&w->q, locks.ids[0], &lock), 0);
	assert_int_equal(lock.time_ns, cell_u(&t, 0, "waited_ns"));
}

/* The row of that lock and mode. */
static size_t row_of(const struct table *t, const char *kind)
{
	size_t row = 0;

	while (row < t->n_rows && strcmp(cell_s(t, row, "kind"), kind) != 0)
		row++;
	assert_true(row < t->n_rows);
	return row;
}

/* No task waits in the end. 15 ms of each wait to read were before it is known who has the lock. */
static void a_lock_has_the_holder_that_cost_most(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;

	play_story(w, &limits);
	for (int i = 0; i < 2; i++) {
		w->q.window_ns = i ? 1000 * MS : 0;
		struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
		size_t row = row_of(&t, "rwsem:R");
		assert_string_equal(cell_s(&t, row, "holder"), "mysqld/801");
		assert_true(cell_at(&t, row, "holder")->approx);
		assert_string_equal(cell_s(&t, row, "mostly_held_by"), "mysqld/801");
		double pct = 100.0 * 720 / 725;
		assert_true(fabs(cell_at(&t, row, "mostly_held_pct")->d - pct) < 1e-6);
		row = row_of(&t, "mutex");
		assert_string_equal(cell_s(&t, row, "mostly_held_by"), "dd/811");
		pct = 100.0 * (680 + 150) / (10 + 695 + 150);
		assert_true(fabs(cell_at(&t, row, "mostly_held_pct")->d - pct) < 1e-6);
		/* Of the wait to write it is not known because of whom it was. */
		row = row_of(&t, "rwsem:W");
		assert_false(cell_at(&t, row, "holder")->known);
		assert_false(cell_at(&t, row, "mostly_held_pct")->known);
	}
}

/* Five take turns with a lock, 10 ms each: the first one costs the others 40 ms, then 30, 20, 10.
 */
static void take_turns(struct asked *w, bool is_one_process, bool is_one_name)
{
	const uint64_t frames[] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH),
				   synth_addr(SYNTH_PIPE_WRITE)};
	struct rig *r = &w->rig;
	char name[] = "bench";

	rig_init(r, 1);
	synth_round(r->synth, CANNED_START);
	for (int i = 1; i <= 5; i++) {
		name[4] = is_one_name ? 'h' : (char)('0' + i);
		synth_comm(r->synth, 0, CANNED_START, is_one_process ? 901 : 900 + i, 900 + i,
			   name);
	}
	for (int i = 1; i <= 5; i++)
		synth_begin(r->synth, 0, CANNED_START + 1 * MS, is_one_process ? 901 : 900 + i,
			    900 + i, FOLLOWED_PIPE_MUTEX, LCB_F_MUTEX, frames, 2);
	for (int i = 1; i <= 5; i++)
		synth_end(r->synth, 0, CANNED_START + (1 + 10 * (unsigned)i) * MS,
			  is_one_process ? 901 : 900 + i, 900 + i, FOLLOWED_PIPE_MUTEX, 0);
	synth_tick(r->synth, CANNED_START + 1000 * MS);
	play(w, NULL);
}

static void expect_turns_of(struct asked *w, const char *name, unsigned cost_ms)
{
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "mostly_held_by"), name);
	assert_true(fabs(cell_at(&t, 0, "mostly_held_pct")->d - 100.0 * cost_ms / 150) < 1e-6);
}

static void many_of_a_name_are_that_many(void **state)
{
	take_turns(*state, false, true);
	expect_turns_of(*state, "4 of bench", 100);
}

static void threads_are_their_process(void **state)
{
	take_turns(*state, true, false);
	expect_turns_of(*state, "benc1/901", 100);
}

static void of_others_it_is_the_one_that_cost_most(void **state)
{
	take_turns(*state, false, false);
	expect_turns_of(*state, "benc1/901", 40);
}

static void nobody_is_blamed_where_it_is_not_followed(void **state)
{
	struct asked *w = *state;

	canned_init(&w->rig);
	struct model_limits limits = model_limits_of(0);
	rig_play(&w->rig, &limits);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	query_begin(&w->q);
	assert_non_null(sum(w).refused);
	assert_int_equal(blame(w, BLAME_BY_TASK).n_rows, 0);
}

/* The cell of that task with the most time, or the least. */
static size_t most_of(const struct blame *b, uint32_t task, bool least)
{
	size_t at = SIZE_MAX;

	for (size_t i = 0; i < b->n; i++)
		if (b->cells[i].key.task == task && b->cells[i].ns &&
		    b->cells[i].key.state != BLAME_PASSED &&
		    (at == SIZE_MAX || (b->cells[i].ns > b->cells[at].ns) != least))
			at = i;
	assert_true(at != SIZE_MAX);
	return at;
}

/* Nearly all of the root's time is of chains that lack the part in the kernel. */
static void chains_that_lack_it_give_way(void **state)
{
	const uint64_t saved = map_frame_mark(MAP_MARK_SAVED);
	struct asked *w = *state;

	play_story(w, NULL);
	struct model *m = w->rig.engine.model;
	const uint64_t writes[] = {synth_addr(SYNTH_MUTEX_LOCK), synth_addr(SYNTH_KSYS_WRITE),
				   synth_addr(SYNTH_DO_SYSCALL_64),
				   synth_addr(SYNTH_ENTRY_SYSCALL)};
	uint32_t root = 0, lacks = model_stack(m, &saved, 1), has = model_stack(m, writes, 4);
	struct blame_cell *cells = m->blame->cells;

	while (m->tasks->tasks[root].tid != FOLLOWED_ROOT)
		root++;
	size_t least = most_of(m->blame, root, true);
	assert_int_not_equal(least, most_of(m->blame, root, false));
	for (size_t i = 0; i < m->blame->n; i++)
		if (cells[i].key.task == root)
			cells[i].key.got = i == least ? has : lacks;
	query_begin(&w->q);
	struct table t = blame(w, BLAME_BY_TASK);
	assert_string_equal(cell_s(&t, 0, "task"), "mysqld/801");
	assert_string_equal(cell_at(&t, 0, "syscall")->s, "write");
	assert_true(cell_at(&t, 0, "syscall")->approx);
	assert_false(cell_at(&t, 0, "at")->known);
	cells[least].key.got = lacks;
	query_begin(&w->q);
	t = blame(w, BLAME_BY_TASK);
	assert_false(cell_at(&t, 0, "syscall")->known);
	assert_string_equal(cell_s(&t, 0, "syscall_reason"),
			    "no kernel frames are taken of locks of programs");
	assert_string_equal(cell_s(&t, 0, "at_reason"), "[user part not taken]");
}

/* The value of a set's column in the table of all, by its longer key. */
static const struct value *of_all(const struct table *all, size_t row, enum blame_set set,
				  const char *key)
{
	static const char *const common[] = {"pid", "tid",	 "comm",    "stack",
					     "row", "state",	 "syscall", "syscall_reason",
					     "at",  "at_reason", "on",	    "on_reason"};
	char name[64];

	snprintf(name, sizeof(name), "%s%s",
		 set == BLAME_HELD && strcmp(key, "held") && strncmp(key, "handover", 8) ? "held_"
		 : set == BLAME_DID							 ? "did_"
											 : "",
		 key);
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (!strcmp(key, common[i]))
			snprintf(name, sizeof(name), "%s", key);
	return table_value(all, row, table_column(all, name));
}

static void expect_same(const struct column *c, const struct value *a, const struct value *b)
{
	assert_int_equal(a->known, b->known);
	assert_int_equal(a->approx, b->approx);
	if (a->known && c->type == COLUMN_TEXT)
		assert_string_equal(a->s, b->s);
	else if (a->known)
		assert_int_equal(a->u, b->u);
}

/* Of a row of several sets there is one place, by the waits of the row. */
static bool is_place_of_others(const char *key, enum blame_set set)
{
	return set != BLAME_WAITS &&
	       (!strncmp(key, "syscall", 7) || !strcmp(key, "at") || !strcmp(key, "at_reason") ||
		!strcmp(key, "on") || !strcmp(key, "on_reason"));
}

/* The table of all columns has each row and each figure of each set, and no other rows. */
static void all_columns_are_those_of_the_sets(void **state)
{
	struct asked *w = *state;
	size_t n = 0;

	for (int by = 0; by < BLAME_BYS; by++) {
		struct query_blame_spec b = {.by = (enum query_blame_by)by, .all = true};
		struct query_spec spec = {0};
		struct table all, t;
		size_t most = 0;
		assert_int_equal(query_blame(&w->q, &b, &spec, &all, NULL), 0);
		b.all = false;
		for (b.set = BLAME_WAITS; b.set < BLAME_SETS; b.set++) {
			if (!query_blame_has(b.set, b.by))
				continue;
			assert_int_equal(query_blame(&w->q, &b, &spec, &t, NULL), 0);
			most += t.n_rows;
			for (size_t i = 0; i < t.n_rows; i++, n++) {
				size_t row = table_row(&all, t.ids[i]);
				assert_true(row != SIZE_MAX);
				for (size_t c = 0; c < t.n_columns; c++)
					if (t.columns[c].flags & COLUMN_REPORT &&
					    !is_place_of_others(t.columns[c].key, b.set))
						expect_same(
							&t.columns[c], table_value(&t, i, c),
							of_all(&all, row, b.set, t.columns[c].key));
			}
		}
		assert_in_range(all.n_rows, 1, most);
	}
	assert_true(n > 20);
}

static void reports_say_it(void **state)
{
	struct report_spec s = {.views = REPORT_BLAME | REPORT_DID};
	struct asked *w = *state;

	play_story(w, NULL);
	char *text = asked_report(&w->q, &s);
	golden_check(text, "report-blame");
	free(text);
	s.format = REPORT_JSON;
	text = asked_report(&w->q, &s);
	golden_check(text, "report-blame-json");
	free(text);
	s = (struct report_spec){.views = REPORT_BLAME,
				 .format = REPORT_CSV,
				 .is_blame_by = true,
				 .blame_by = BLAME_BY_STATE};
	text = asked_report(&w->q, &s);
	golden_check(text, "report-blame-csv");
	free(text);
	s = (struct report_spec){.views = REPORT_BLAME, .only = "pid=800"};
	text = asked_report(&w->q, &s);
	golden_check(text, "report-blame-refused");
	free(text);
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(each_millisecond_has_its_root),
		ON_STREAM(rows_are_by_whatever_is_said_of_the_root),
		ON_STREAM(what_holders_did_is_time),
		ON_STREAM(samples_say_in_which_function),
		ON_STREAM(a_window_is_of_its_ticks),
		ON_STREAM(a_filter_is_about_who_waits),
		ON_STREAM(how_long_waits_were_is_not_charged),
		cmocka_unit_test_setup_teardown(all_columns_are_those_of_the_sets, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(sums_are_what_was_waited, asked_setup,
						asked_teardown),
		ON_STREAM(what_goes_on_is_of_nobody_yet),
		ON_STREAM(a_mode_without_waits_is_the_lock_that_is_waited_for),
		ON_STREAM(a_lock_has_the_holder_that_cost_most),
		ON_STREAM(many_of_a_name_are_that_many),
		ON_STREAM(threads_are_their_process),
		ON_STREAM(of_others_it_is_the_one_that_cost_most),
		ON_STREAM(nobody_is_blamed_where_it_is_not_followed),
		ON_STREAM(chains_that_lack_it_give_way),
		ON_STREAM(reports_say_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
