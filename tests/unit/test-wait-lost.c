// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of waits: the time in which a CPU was idle meanwhile, by the clock that begins and ends
 * of waits show, over all of the stream, in windows of it and across ticks, in waits that are
 * reported late or only summed up; and where it is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/idleclock.h"
#include "kontend/limits.h"
#include "kontend/locktype.h"
#include "kontend/model.h"
#include "kontend/parclock.h"
#include "kontend/query-blame.h"
#include "kontend/query-wait.h"
#include "kontend/record.h"
#include "kontend/shortsnap.h"
#include "kontend/userlock.h"
#include "kontend/userrec.h"
#include "kontend/waitrec.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { WRITES = LCB_F_WRITE, TID = 701 };

static const uint64_t frames[] = {0xffffffff81000100ull, 0xffffffff81000200ull};

/* The clock after so many ms in which a CPU was idle. */
static uint32_t shows(uint64_t ms)
{
	return idleclock_short(ms * MS);
}

static struct waitrec_begin begin_of(uint32_t idle)
{
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
				  .lock = LOCK,
				  .flags = WRITES,
				  .tid = TID,
				  .n_frames = 2,
				  .held = idle};

	memcpy(b.frames, frames, sizeof(frames));
	return b;
}

static void begin(struct asked *w, uint64_t ms, uint32_t idle)
{
	const struct waitrec_begin b = begin_of(idle);

	synth_wait_begin(w->rig.synth, 0, CANNED_START + ms * MS, 700, TID, &b);
}

static void end(struct asked *w, uint64_t ms, uint32_t idle, uint32_t began)
{
	const struct waitrec_end e = {
		.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = TID, .idle = idle, .began = began};

	synth_wait_end(w->rig.synth, 0, CANNED_START + ms * MS, 700, TID, &e);
}

/* A tick, for which the clock was read @late ms after it. */
static void tick(struct asked *w, uint64_t ms, uint64_t idle_ms, uint64_t late)
{
	const struct {
		struct record_snapshot head;
		struct record_cost cost;
	} s = {.head = {.kind = SNAPSHOT_COST,
			.version = RECORD_COST_VERSION,
			.time_ns = CANNED_START + ms * MS},
	       .cost = {.idle_ns = idle_ms * MS, .idle_at_ns = CANNED_START + (ms + late) * MS}};

	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &s, sizeof(s));
	synth_tick(w->rig.synth, CANNED_START + ms * MS);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void play(struct asked *w)
{
	const struct model_limits with_log = model_limits_recent(64 << 20);

	asked_play(w, &with_log);
}

/* But for the units of the clock. */
static void check_in(struct asked *w, const struct query_spec *s, uint64_t lost_ms)
{
	struct table t = asked_locks(w, *s);
	const uint64_t unit = 1 << IDLECLOCK_UNIT;

	assert_int_equal(t.n_rows, 1);
	assert_in_range(cell_u(&t, 0, "wait_lost_ns") + 2 * unit, lost_ms * MS,
			lost_ms * MS + 4 * unit);
	assert_false(cell_at(&t, 0, "wait_lost_ns")->at_least);
}

static void check(struct asked *w, uint64_t lost_ms)
{
	static const enum query_by all[] = {BY_LOCK, BY_CALLER, BY_TASK, BY_TYPE, BY_STACK};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		check_in(w, &(struct query_spec){.by = all[i], .average = true}, lost_ms);
}

static bool is_known(struct asked *w)
{
	struct table t = asked_locks(w, (struct query_spec){.average = true});

	assert_int_equal(t.n_rows, 1);
	return cell_at(&t, 0, "wait_lost_ns")->known;
}

static void it_is_what_the_clock_ran(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, shows(1000));
	end(w, 30, shows(1005), 0);
	begin(w, 40, shows(1010));
	end(w, 60, shows(1022), 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 17);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_in_range(100 * cell_at(&t, 0, "wait_lost_pct")->d, 4249, 4251);
	assert_in_range(cell_at(&t, 0, "wait_lost_ns_per_s")->d / 1e6, 169, 171);
}

/* Never more than the wait lasted, whatever the clock shows. */
static void it_is_no_longer_than_the_wait(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, shows(10));
	end(w, 30, shows(500), 0);
	begin(w, 40, shows(500));
	end(w, 60, shows(400), 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 20);
}

/* The clock starts again after nine minutes. */
static void the_clock_goes_round(void **state)
{
	const uint64_t round = (IDLECLOCK_MOST + 1ull) << IDLECLOCK_UNIT;
	struct asked *w = *state;

	start(w);
	begin(w, 10, idleclock_short(round - 4 * MS));
	end(w, 30, idleclock_short(round + 3 * MS), 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 7);
	assert_int_equal(idleclock_ns(shows(5), shows(3)), 0);
}

/* Each tick has its part, and all of them together the whole. */
static void ticks_have_their_part(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 50, shows(40));
	tick(w, 100, 70, 0); /* 30 of 50 */
	tick(w, 200, 80, 0); /* 10 of 100 */
	end(w, 250, shows(125), 0);
	tick(w, 300, 130, 0);
	play(w);
	check(w, 85);
	w->q.window_ns = 100 * MS;
	check_in(w, &(struct query_spec){.by = BY_LOCK}, 45);
	w->q.window_ns = 200 * MS;
	check_in(w, &(struct query_spec){.by = BY_LOCK}, 55);
	w->q.window_ns = 0;
}

static void a_wait_in_flight_has_it_until_the_tick(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 50, shows(40));
	tick(w, 100, 70, 0);
	play(w);
	check(w, 30);
	const struct table t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_in_range(cell_u(&t, 0, "wait_lost_ns"), 29 * MS, 31 * MS);
}

/* The reading is of later than the tick, as of which it is taken. */
static void a_late_reading_is_of_the_tick(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 50, shows(40));
	tick(w, 100, 140, 50);
	end(w, 120, shows(110), 0);
	tick(w, 200, 200, 0);
	play(w);
	check(w, 70);
}

/* Its begin was written down where it began, and is in the record of its end. */
static void a_late_one_has_it_in_its_end(void **state)
{
	struct asked *w = *state;
	struct waitrec_late l = {.magic = WAITREC_LATE_MAGIC,
				 .lock = LOCK,
				 .flags = WRITES,
				 .tid = TID,
				 .n_frames = 2,
				 .begin_ns = CANNED_START + 10 * MS};

	memcpy(l.frames, frames, sizeof(frames));
	start(w);
	synth_output(w->rig.synth, 0, CANNED_START + 60 * MS, 700, TID,
		     (const uint8_t *)&l + sizeof(l.size),
		     offsetof(struct waitrec_late, frames) + sizeof(frames) - sizeof(l.size));
	end(w, 60, shows(90), shows(50));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 40);
}

/* A wait from @from_ms to @to_ms, when the clock of other threads of the process shows these. */
static void parallel(struct asked *w, uint64_t from_ms, uint64_t to_ms, uint64_t par, uint64_t par2)
{
	struct waitrec_begin b = begin_of(0);
	const struct waitrec_end e = {
		.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = TID, .par = par2};

	b.par = par;
	synth_wait_begin(w->rig.synth, 0, CANNED_START + from_ms * MS, 700, TID, &b);
	synth_wait_end(w->rig.synth, 0, CANNED_START + to_ms * MS, 700, TID, &e);
}

static void check_par(struct asked *w, const struct query_spec *s, double par)
{
	struct table t = asked_locks(w, *s);

	assert_int_equal(t.n_rows, 1);
	assert_true(cell_at(&t, 0, "wait_par")->known);
	assert_in_range(cell_at(&t, 0, "wait_par")->d * 1000 + 1, par * 1000, par * 1000 + 2);
}

/* Longer waits count for more; those of which it is not known, for nothing. */
static void other_threads_that_ran_are_an_average(void **state)
{
	static const enum query_by all[] = {BY_LOCK, BY_CALLER, BY_TASK, BY_TYPE, BY_STACK};
	struct asked *w = *state;

	start(w);
	parallel(w, 10, 30, parclock(3, 5 * MS), parclock(3, 15 * MS));
	parallel(w, 40, 50, parclock(3, 0ull - MS), parclock(3, 19 * MS));
	parallel(w, 50, 80, 0, parclock(3, 500 * MS));
	parallel(w, 80, 90, parclock(3, 20 * MS), parclock(4, 21 * MS));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		check_par(w, &(struct query_spec){.by = all[i], .average = true}, 1);
	w->q.window_ns = 100 * MS;
	check_par(w, &(struct query_spec){0}, 1);
	w->q.window_ns = 0;
}

static void a_process_that_stood_still_has_none(void **state)
{
	struct asked *w = *state;

	start(w);
	parallel(w, 10, 30, parclock(1, 15 * MS), parclock(1, 15 * MS - 2));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check_par(w, &(struct query_spec){.average = true}, 0);
	w->q.window_ns = 100 * MS;
	check_par(w, &(struct query_spec){0}, 0);
	w->q.window_ns = 0;
}

/* More than all CPUs can have run. */
static void a_time_that_cannot_be_is_not_known(void **state)
{
	struct asked *w = *state;

	start(w);
	parallel(w, 10, 30, parclock(1, MS), parclock(1, 20 * MS * PARCLOCK_CPUS + 30 * MS));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(t.n_rows, 1);
	assert_false(cell_at(&t, 0, "wait_par")->known);
}

/* Of a task that may not use all CPUs, and of records of before. */
static void without_the_clock_it_is_not_known(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, 0);
	end(w, 30, shows(1005), 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	assert_false(is_known(w));
}

static void of_some_it_is_at_least(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, 0);
	end(w, 30, shows(1005), 0);
	begin(w, 40, shows(1010));
	end(w, 60, shows(1022), 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_in_range(cell_u(&t, 0, "wait_lost_ns"), 12 * MS - 256, 12 * MS + 256);
	assert_true(cell_at(&t, 0, "wait_lost_ns")->at_least);
}

static void version_1_of_an_end_has_none(void **state)
{
	struct asked *w = *state;
	struct waitrec_end e = {.magic = WAITREC_END1_MAGIC, .lock = LOCK, .tid = TID};

	start(w);
	begin(w, 10, 0);
	synth_output(w->rig.synth, 0, CANNED_START + 30 * MS, 700, TID,
		     (const uint8_t *)&e + sizeof(e.size), WAITREC_END1 - sizeof(e.size));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(cell_u(&t, 0, "total_ns"), 20 * MS);
	assert_false(is_known(w));
}

/* A wait for a lock of a program: one record, which has it. */
static void a_program_s_lock_has_it_in_its_record(void **state)
{
	struct asked *w = *state;
	struct userrec r = {.magic = USERREC_MAGIC,
			    .lock = userlock_addr(700, 0x1000),
			    .begin_ns = CANNED_START + 10 * MS,
			    .length_ns = 40 * MS,
			    .woken_ns = CANNED_START + 50 * MS,
			    .pid = 700,
			    .tid = TID,
			    .kind = USERLOCK_MUTEX,
			    .flags = USERREC_HANDED,
			    .lost = waitrec_age(25 * MS)};

	start(w);
	synth_output(w->rig.synth, 0, CANNED_START + 50 * MS, 700, TID,
		     (const uint8_t *)&r + sizeof(r.size),
		     offsetof(struct userrec, frames) - sizeof(r.size));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 25);
}

struct sums {
	struct record_snapshot head;
	struct shortsnap_head shorts;
	struct shortsnap_row row;
	uint64_t parts[SHORTSNAP_PARTS];
};

/* Waits of 10 ms; of @of of them it is known that a CPU was idle for 3, and 2.5 threads ran. */
static void put_sums(struct asked *w, uint64_t ms, uint64_t n, uint64_t of)
{
	struct sums b = {.head = {.kind = SNAPSHOT_SHORT,
				  .version = SHORTSNAP_VERSION,
				  .time_ns = CANNED_START + ms * MS},
			 .shorts = {.from_ns = CANNED_START,
				    .threshold_ns = MS,
				    .level = SHORTSNAP_THRESHOLD,
				    .n_rows = 1},
			 .row = {.n = n, .ns = 10 * n * MS, .flags = WRITES, .n_frames = 2},
			 .parts = {[SHORTSNAP_LOST] = 3 * of * MS,
				   [SHORTSNAP_LOST_OF] = 10 * of * MS,
				   [SHORTSNAP_PAR] = 25 * of * MS,
				   [SHORTSNAP_PAR_OF] = 10 * of * MS}};

	memcpy(b.row.frames, frames, sizeof(frames));
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &b, sizeof(b));
}

static void sums_have_it(void **state)
{
	struct asked *w = *state;

	start(w);
	put_sums(w, 0, 0, 0);
	put_sums(w, 100, 10, 10);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check_in(w, &(struct query_spec){.average = true}, 30);
	check_par(w, &(struct query_spec){.average = true}, 2.5);
	w->q.window_ns = 100 * MS;
	check_par(w, &(struct query_spec){0}, 2.5);
	w->q.window_ns = 0;
}

static void sums_may_have_it_of_some(void **state)
{
	struct asked *w = *state;

	start(w);
	put_sums(w, 0, 0, 0);
	put_sums(w, 100, 10, 5);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(cell_u(&t, 0, "wait_lost_ns"), 15 * MS);
	assert_true(cell_at(&t, 0, "wait_lost_ns")->at_least);
	check_par(w, &(struct query_spec){.average = true}, 2.5);
}

/* So many waits that the log of the window packs them. */
static void a_storm_is_packed(void **state)
{
	struct asked *w = *state;
	uint64_t lost_ns = 0;

	start(w);
	for (uint64_t i = 0; i < 4000; i++) {
		const uint64_t at = i * MS / 64;
		const struct waitrec_begin b = begin_of(idleclock_short(lost_ns));
		struct waitrec_end e = {.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = TID};

		synth_wait_begin(w->rig.synth, 0, CANNED_START + at, 700, TID, &b);
		lost_ns += 4096;
		e.idle = idleclock_short(lost_ns);
		synth_wait_end(w->rig.synth, 0, CANNED_START + at + 8192, 700, TID, &e);
	}
	tick(w, 100, lost_ns / MS, 0);
	play(w);
	w->q.window_ns = 100 * MS;
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(cell_u(&t, 0, "wait_lost_ns"), 4000 * 4096);
	assert_true(cell_at(&t, 0, "wait_lost_pct")->d == 50);
	w->q.window_ns = 0;
}

static void begin_of_task(struct asked *w, uint64_t ms, int tid, uint32_t idle, uint64_t par)
{
	struct waitrec_begin b = begin_of(idle);

	b.tid = tid;
	b.par = par;
	synth_wait_begin(w->rig.synth, 0, CANNED_START + ms * MS, 700, tid, &b);
}

static void end_of_task(struct asked *w, uint64_t ms, int tid, uint32_t idle, uint64_t par)
{
	const struct waitrec_end e = {
		.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = tid, .idle = idle, .par = par};

	synth_wait_end(w->rig.synth, 0, CANNED_START + ms * MS, 700, tid, &e);
}

static struct table blamed_by(struct asked *w, enum query_blame_by by, const char *sort)
{
	const struct query_blame_spec b = {.by = by};
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_blame(&w->q, &b, &(struct query_spec){.sort = sort}, &t, NULL), 0);
	return t;
}

static struct table blamed(struct asked *w, enum query_blame_by by)
{
	return blamed_by(w, by, "lost");
}

/* The row of a task; of none: that of time without a known holder. */
static size_t row_of(const struct table *t, int tid)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (tid ? cell_at(t, i, "tid")->known && cell_u(t, i, "tid") == (uint64_t)tid
			: !cell_at(t, i, "tid")->known)
			return i;
	fail_msg("no row of %d", tid);
	return 0;
}

static void check_blame(const struct table *t, int tid, uint64_t waited_ms, uint64_t lost_ms)
{
	const uint64_t unit = 4 << IDLECLOCK_UNIT;
	size_t row = row_of(t, tid);

	assert_int_equal(cell_u(t, row, "waited_ns"), waited_ms * MS);
	assert_in_range(cell_u(t, row, "wait_lost_ns") + unit, lost_ms * MS,
			lost_ms * MS + 2 * unit);
	assert_false(cell_at(t, row, "wait_lost_ns")->at_least);
}

/* 701 waits with no known holder, then has the lock for which 702 waits, and 703 for it, too. */
static void hand_over(struct asked *w)
{
	start(w);
	begin_of_task(w, 10, 701, shows(100), 0);
	begin_of_task(w, 20, 702, shows(104), parclock(1, 0));
	end_of_task(w, 30, 701, shows(110), 0); /* unknown: 20 and 10 ms, of them lost 10 and 6 */
	begin_of_task(w, 40, 703, shows(117), 0);
	end_of_task(w, 60, 702, shows(120), parclock(1, 80 * MS)); /* 701: 30, 20; 10, 3 */
	end_of_task(w, 70, 703, shows(129), 0);			   /* 702: 10; 9 */
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
}

static void blame_charges_it_to_holders(void **state)
{
	struct asked *w = *state;

	hand_over(w);
	struct table t = blamed(w, BLAME_BY_TASK);
	assert_int_equal(t.n_rows, 3);
	assert_int_equal(row_of(&t, 0), 0); /* the most first */
	check_blame(&t, 0, 30, 16);
	check_blame(&t, 701, 50, 13);
	check_blame(&t, 702, 10, 9);
	assert_in_range(cell_at(&t, row_of(&t, 702), "wait_lost_pct")->d * 10, 899, 901);
	t = blamed(w, BLAME_BY_LOCK);
	assert_int_equal(t.n_rows, 1);
	assert_in_range(cell_u(&t, 0, "wait_lost_ns"), 38 * MS - 4096, 38 * MS + 4096);
	/* The tick has all of it. */
	w->q.window_ns = 100 * MS;
	t = blamed(w, BLAME_BY_TASK);
	check_blame(&t, 701, 50, 13);
	check_blame(&t, 702, 10, 9);
	w->q.window_ns = 0;
}

static void blame_is_in_the_order_of_what_is_lost(void **state)
{
	struct asked *w = *state;
	struct table t;

	hand_over(w);
	t = blamed_by(w, BLAME_BY_TASK, "waited");
	assert_int_equal(row_of(&t, 701), 0);
	t = blamed_by(w, BLAME_BY_TASK, NULL);
	assert_int_equal(row_of(&t, 0), 0);
	assert_int_equal(row_of(&t, 702), 2);
}

/* PAR goes to the holder where the wait ends. */
static void blame_has_par_of_waits_that_ended(void **state)
{
	struct asked *w = *state;

	hand_over(w);
	for (int i = 0; i < 2; i++) {
		struct table t = blamed(w, BLAME_BY_TASK);
		assert_false(cell_at(&t, row_of(&t, 0), "wait_par")->known);
		assert_false(cell_at(&t, row_of(&t, 702), "wait_par")->known);
		assert_in_range(cell_at(&t, row_of(&t, 701), "wait_par")->d * 1000, 1999, 2001);
		w->q.window_ns = 100 * MS;
	}
	w->q.window_ns = 0;
}

/* Of one of two waits it is not known: then the holder has so much at least. */
static void blame_has_at_least_what_is_known(void **state)
{
	struct asked *w = *state;

	start(w);
	begin_of_task(w, 10, 701, shows(100), 0);
	end_of_task(w, 20, 701, shows(110), 0);
	begin_of_task(w, 30, 702, 0, 0);
	tick(w, 40, 120, 0);
	play(w);
	struct table t = blamed(w, BLAME_BY_LOCK);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "waited_ns"), 20 * MS);
	assert_in_range(cell_u(&t, 0, "wait_lost_ns"), 10 * MS - 4096, 10 * MS + 4096);
	assert_true(cell_at(&t, 0, "wait_lost_ns")->at_least);
}

/* The begin of a wait for a file has no room for the clock; only its end has it. */
static void blame_has_that_of_files(void **state)
{
	struct asked *w = *state;
	struct waitrec_begin b = begin_of(0);

	start(w);
	b.owner_asked = WAITREC_LOSES;
	tick(w, 10, 100, 0);
	synth_wait_begin(w->rig.synth, 0, CANNED_START + 10 * MS, 700, TID, &b);
	end(w, 50, shows(130), shows(100));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 30);
	struct table t = blamed(w, BLAME_BY_TASK);
	check_blame(&t, 0, 40, 30);
}

/* A wait in flight has it until now, charged or not. */
static void blame_has_that_of_waits_in_flight(void **state)
{
	struct asked *w = *state;

	start(w);
	begin_of_task(w, 10, 701, shows(100), 0);
	tick(w, 40, 120, 0);
	play(w);
	struct table t = blamed(w, BLAME_BY_TASK);
	check_blame(&t, 0, 30, 20);
}

/* One that has ended has all of it, not that until the last tick. */
static void a_wait_that_has_ended_shows_all_of_it(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	begin_of_task(w, 10, 701, shows(100), parclock(1, 0));
	end_of_task(w, 40, 701, shows(120), parclock(1, 45 * MS));
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	query_begin(&w->q);
	const struct query_spec s = {.sort = "LOST"};
	assert_int_equal(query_wait_rows(&w->q, &s, NULL, &t, NULL), 0);
	assert_int_equal(t.n_rows, 1);
	assert_in_range(cell_u(&t, 0, "wait_lost_ns"), 20 * MS - 512, 20 * MS + 512);
	assert_in_range(cell_at(&t, 0, "wait_par")->d * 1000, 1499, 1501);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_is_what_the_clock_ran),
		TEST(it_is_no_longer_than_the_wait),
		TEST(the_clock_goes_round),
		TEST(ticks_have_their_part),
		TEST(a_wait_in_flight_has_it_until_the_tick),
		TEST(a_late_reading_is_of_the_tick),
		TEST(a_late_one_has_it_in_its_end),
		TEST(other_threads_that_ran_are_an_average),
		TEST(a_process_that_stood_still_has_none),
		TEST(a_time_that_cannot_be_is_not_known),
		TEST(without_the_clock_it_is_not_known),
		TEST(of_some_it_is_at_least),
		TEST(version_1_of_an_end_has_none),
		TEST(a_program_s_lock_has_it_in_its_record),
		TEST(sums_have_it),
		TEST(sums_may_have_it_of_some),
		TEST(a_storm_is_packed),
		TEST(blame_charges_it_to_holders),
		TEST(blame_is_in_the_order_of_what_is_lost),
		TEST(blame_has_par_of_waits_that_ended),
		TEST(blame_has_at_least_what_is_known),
		TEST(blame_has_that_of_files),
		TEST(blame_has_that_of_waits_in_flight),
		TEST(a_wait_that_has_ended_shows_all_of_it),
	};
#undef TEST
	return cmocka_run_group_tests(tests, NULL, NULL);
}
