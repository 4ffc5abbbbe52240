// SPDX-License-Identifier: GPL-2.0-only
/*
 * The activity of chosen tasks, from their records to shares of time, of all and of a window, and
 * to the chain of those who led to the end of a sleep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-why.h"
#include "kontend/record.h"
#include "kontend/runs.h"
#include "kontend/task.h"
#include "kontend/waitrec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define AT(ms) ((ms) ? CANNED_START + (uint64_t)(ms)*MS : 0)

enum { APP = 901, HELPER = 902, DISK = 903 };

/* Times in ms; 0: it has none. */
static struct runrec round_of(int tid, int on, int off, int woken, int in)
{
	struct runrec r = {.magic = RUNREC_MAGIC,
			   .on_ns = AT(on),
			   .off_ns = AT(off),
			   .woken_ns = AT(woken),
			   .in_ns = AT(in),
			   .pid = 900,
			   .tid = tid,
			   .state = woken ? RUNREC_ASLEEP : RUNREC_READY,
			   .flags = tid == DISK ? 0 : RUNREC_CHOSEN,
			   .by = {{77, 77, 1000 * MS, "hog"}}};

	snprintf(r.comm, sizeof(r.comm), "%s",
		 tid == APP	 ? "app"
		 : tid == HELPER ? "helper"
				 : "md");
	if (woken) {
		r.n_frames = 2;
		r.frames[0] = synth_addr(tid == APP ? SYNTH_PIPE_READ : SYNTH_GET_PAGE);
		r.frames[1] = synth_addr(SYNTH_VFS_READ);
	}
	return r;
}

static struct runrec woken_by(struct runrec r, int tid)
{
	r.waker_pid = tid ? 900 : 0;
	r.waker_tid = tid;
	snprintf(r.waker_comm, sizeof(r.waker_comm), "%s",
		 tid == HELPER ? "helper"
		 : tid == DISK ? "md"
			       : "swapper/0");
	r.n_waker_frames = 1;
	r.frames[r.n_frames] = synth_addr(SYNTH_PIPE_WRITE);
	return r;
}

static void report(struct asked *w, struct runrec r)
{
	uint64_t at = r.in_ns ? r.in_ns : r.off_ns ? r.off_ns : r.on_ns;

	synth_run(w->rig.synth, 0, at + 1000, &r);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void end(struct asked *w, int ms)
{
	struct model_limits limits = model_limits_recent(64 << 20);

	synth_round(w->rig.synth, AT(ms));
	synth_tick(w->rig.synth, AT(ms));
	asked_play(w, &limits);
}

/*
 * The app runs for 9 ms, sleeps for 20 until the helper wakes it, which slept for 16 of that until
 * md woke it, which ran all the time after 2 ms; it is preempted for 5 ms, and sleeps since 50.
 */
static void play(struct asked *w)
{
	struct runrec r;

	start(w);
	report(w, woken_by(round_of(DISK, 1, 5, 12, 14), 0));
	report(w, woken_by(round_of(HELPER, 1, 12, 28, 29), DISK));
	report(w, woken_by(round_of(APP, 1, 10, 30, 31), HELPER));
	report(w, round_of(APP, 31, 40, 0, 45));
	r = round_of(APP, 45, 50, 60, 0);
	r.woken_ns = 0;
	r.flags |= RUNREC_OPEN;
	synth_run(w->rig.synth, 0, AT(60), &r);
	end(w, 100);
}

static struct table ask(struct asked *w, int32_t tid)
{
	const struct query_spec spec = {0};
	struct table t;

	assert_int_equal(query_why(&w->q, tid, &spec, &t, NULL), 0);
	return t;
}

static size_t row_of(const struct table *t, const char *does, const char *why)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!strcmp(cell_s(t, i, "does"), does) && !strcmp(cell_s(t, i, "why"), why))
			return i;
	fail_msg("no row %s %s", does, why);
	return 0;
}

static void shares_add_up(void **state)
{
	struct asked *w = *state;
	struct query_why_sum sum;

	play(w);
	struct table t = ask(w, APP);
	size_t i = row_of(&t, "blocked", "pipe is empty");
	assert_int_equal(cell_u(&t, i, "spent_ns"), 70 * MS);
	assert_int_equal(cell_u(&t, i, "times"), 2);
	assert_int_equal(cell_u(&t, i, "most_ns"), 50 * MS);
	assert_string_equal(cell_s(&t, i, "ended_by"), "helper/902");
	i = row_of(&t, "running", "-");
	assert_int_equal(cell_u(&t, i, "spent_ns"), 23 * MS);
	i = row_of(&t, "runnable", "hog/77");
	assert_int_equal(cell_u(&t, i, "spent_ns"), 6 * MS);
	assert_int_equal(query_why_sum(&w->q, APP, &sum), 0);
	assert_true(sum.known);
	assert_string_equal(sum.task, "app/901");
	assert_int_equal(sum.all_ns, 99 * MS);
	assert_int_equal(sum.running_ns + sum.ready_ns + sum.blocked_ns, sum.all_ns);
	assert_int_equal(query_why_sum(&w->q, 0, &sum), 0);
	assert_int_equal(sum.tasks, 2); /* not the one that woke one of them */
	assert_null(sum.task);
	assert_int_equal(query_why_sum(&w->q, 1234, &sum), 0);
	assert_false(sum.known);
}

/* Of what began before it, a window has the part within. */
static void windows_are_cut(void **state)
{
	struct asked *w = *state;

	start(w);
	report(w, woken_by(round_of(APP, 1, 10, 30, 31), HELPER));
	synth_round(w->rig.synth, AT(1000));
	synth_tick(w->rig.synth, AT(1000));
	report(w, woken_by(round_of(APP, 31, 600, 1500, 1501), HELPER));
	end(w, 2000);
	struct table t = ask(w, 0);
	assert_int_equal(cell_u(&t, row_of(&t, "blocked", "pipe is empty"), "spent_ns"), 920 * MS);
	w->q.window_ns = 1000 * MS;
	t = ask(w, 0);
	assert_int_equal(column_sum(&t, "spent_ns"), 1000 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "blocked", "pipe is empty"), "spent_ns"), 500 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "runnable", "hog/77"), "spent_ns"), 1 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "running", "-"), "spent_ns"), 499 * MS);
}

static void chains_lead_back(void **state)
{
	const struct query_why_block *b;
	struct asked *w = *state;
	size_t n;

	play(w);
	assert_int_equal(query_why_blocks(&w->q, 0, &b, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(b[0].task, "app/901");
	assert_int_equal(b[0].length_ns, 20 * MS);
	assert_string_equal(b[0].cause, "pipe is empty");
	assert_string_equal(b[0].end, "helper/902");
	assert_int_equal(b[0].waker_tid, HELPER);
	assert_int_equal(b[0].n_links, 2);
	assert_string_equal(b[0].links[0].task, "helper/902");
	assert_int_equal(b[0].links[0].all_ns, 20 * MS);
	assert_int_equal(b[0].links[0].slept_ns, 16 * MS);
	assert_int_equal(b[0].links[0].ready_ns, 1 * MS);
	assert_int_equal(b[0].links[0].ran_ns, 3 * MS);
	assert_string_equal(b[0].links[0].end, "md/903");
	/* It slept until 12 already when the helper fell asleep. */
	assert_string_equal(b[0].links[1].task, "md/903");
	assert_int_equal(b[0].links[1].slept_ns, 0);
	assert_int_equal(b[0].links[1].ready_ns, 2 * MS);
	assert_string_equal(b[0].chain_end, "the last task did not sleep");
	assert_string_equal(query_why_link_text(&w->q, &b[0].links[1]),
			    "md/903: ran 14.0ms, runnable 2.00ms of 16.0ms");
	assert_string_equal(b[1].task, "helper/902");
}

/* A waker of which nothing was recorded yet, and an interrupt, end a chain. */
static void chains_end(void **state)
{
	const struct query_why_block *b;
	struct asked *w = *state;
	size_t n;

	start(w);
	report(w, woken_by(round_of(APP, 1, 10, 30, 31), HELPER));
	report(w, woken_by(round_of(APP, 31, 40, 50, 51), 0));
	end(w, 60);
	assert_int_equal(query_why_blocks(&w->q, APP, &b, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(b[0].n_links, 0);
	assert_string_equal(b[0].chain_end, "helper/902 was not followed yet");
	assert_string_equal(b[1].end, "an interrupt");
	assert_int_equal(b[1].waker_tid, 0);
	assert_string_equal(b[1].chain_end, "it ends with an interrupt or a timer");
}

/* A record that did not come leaves a time of which nothing is known. */
static void losses_are_shown(void **state)
{
	struct asked *w = *state;
	struct query_why_sum sum;
	struct runrec r;

	start(w);
	report(w, woken_by(round_of(APP, 1, 10, 30, 31), HELPER));
	r = round_of(APP, 41, 50, 0, 60);
	r.missed = 3;
	report(w, r);
	r = round_of(APP, 60, 70, 0, 0);
	r.state = RUNREC_ENDED;
	report(w, r);
	end(w, 100);
	assert_int_equal(query_why_sum(&w->q, 0, &sum), 0);
	assert_int_equal(sum.unknown_ns, 10 * MS);
	assert_int_equal(sum.all_ns, 69 * MS);
	assert_int_equal(sum.missed, 3);
	struct table t = ask(w, 0);
	assert_int_equal(cell_u(&t, row_of(&t, "not known", "records were lost"), "spent_ns"),
			 10 * MS);
}

/* Bytes of a recording may be anything. */
static void bad_records_are_counted(void **state)
{
	const struct runrec good = woken_by(round_of(APP, 1, 10, 20, 21), HELPER);
	struct asked *w = *state;
	struct runrec r;

	start(w);
	r = good, r.tid = 0, report(w, r);
	r = good, r.state = RUNREC_STATES, report(w, r);
	r = good, r.flags = RUNREC_FLAGS, report(w, r);
	r = good, r.off_ns = AT(25), report(w, r);
	r = good, r.woken_ns = 0, report(w, r);
	r = good, r.state = RUNREC_READY, report(w, r);
	r = good, memset(r.comm, 'x', sizeof(r.comm)), report(w, r);
	r = good, memset(r.waker_comm, 'x', sizeof(r.comm)), report(w, r);
	r = good, memset(r.by[3].comm, 'x', sizeof(r.comm)), report(w, r);
	synth_run(w->rig.synth, 0, AT(20), &good); /* it ends later than now */
	r = good, r.n_frames = RUNREC_SLEEP_FRAMES + 1, r.n_waker_frames = 0, report(w, r);
	r = good, memset(r.on.name, 'x', sizeof(r.on.name)), report(w, r);
	r = good, r.user = WAITREC_USERS, report(w, r);
	r = good, r.on.kind = WAITREC_ON_KINDS, report(w, r);
	r = good, r.n_user = RUNREC_USER_FRAMES + 1, r.n_waker_frames = 0, report(w, r);
	r = good, r.n_frames = 0, r.n_waker_frames = RUNREC_WAKER_FRAMES + 1, report(w, r);
	synth_output(w->rig.synth, 0, AT(30), 1, 1, &good.magic, 40);
	synth_output(w->rig.synth, 0, AT(31), 1, 1, &good.magic,
		     offsetof(struct runrec, frames) - 4 + 16);
	/* Read while its task went on: no fault. */
	r = good, r.flags |= RUNREC_OPEN, report(w, r);
	end(w, 60);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 18);
	assert_int_equal(w->rig.engine.model->runs->n_tasks, 0);
}

static const struct runs_lock no_lock;

static struct event event_of(const struct runrec *r)
{
	return (struct event){
		.kind = EVENT_RUN, .time = r->in_ns + 1, .pid = r->pid, .tid = r->tid, .run = r};
}

/* Tables are bounded, a copy has the same, and memory may end at any moment. */
static void tables_are_bounded(void **state)
{
	struct runrec r = woken_by(round_of(APP, 1, 2, 3, 4), HELPER);
	struct runs s = {0}, copy;
	struct event ev = event_of(&r);

	(void)state;
	for (uint32_t i = 0; i < RUNS_KEPT + 100; i++) {
		r.tid = (int)(1 + i % (RUNS_TASKS + 10));
		r.frames[0] = 4096 + i % (2 * RUNS_STACKS);
		r.on.kind = i % 2 ? WAITREC_ON_FILE : WAITREC_ON_HEAP;
		r.on.value = 1 + i % (4 * RUNS_ONS);
		r.on_ns = AT(1) + i * 1000;
		r.off_ns = r.on_ns + 100;
		r.woken_ns = r.off_ns + 1 + i * 7 % 500;
		r.in_ns = r.woken_ns + 10;
		ev = event_of(&r);
		assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	}
	assert_int_equal(s.n_tasks, RUNS_TASKS);
	assert_int_equal(s.n_stacks, RUNS_STACKS);
	assert_int_equal(s.n_cells, RUNS_CELLS);
	assert_int_equal(s.n_ons, RUNS_ONS);
	assert_true(s.dropped > 0);
	assert_int_equal(s.n_longest, RUNS_LONGEST);
	assert_true(runs_bytes(&s) > 0);
	assert_int_equal(runs_copy(&copy, &s), 0);
	assert_int_equal(copy.n_kept, s.n_kept);
	assert_memory_equal(copy.longest, s.longest, sizeof(*s.longest) * RUNS_LONGEST);
	assert_int_equal(runs_event(&copy, &ev, &no_lock, NULL), 0);
	runs_deinit(&copy);
	for (long n = 0; n < 9; n++) {
		mem_fail_after(n);
		(void)runs_copy(&copy, &s);
		mem_fail_after(-1);
		runs_deinit(&copy);
	}
	runs_zero(&s);
	assert_int_equal(s.n_cells, 0);
	assert_null(runs_at(&s, 1));
	runs_deinit(&s);
	for (long n = 0; n < 10; n++) {
		mem_fail_after(n);
		assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), -ENOMEM);
		mem_fail_after(-1);
		runs_deinit(&s);
	}
}

/* An old sleep has the chain of that time, and none if that is no longer kept. */
static void old_chains_are_true(void **state)
{
	struct runrec r = woken_by(round_of(HELPER, 1, 12, 28, 29), DISK);
	struct event ev = event_of(&r);
	struct runs_chain chain;
	struct runs s = {0};

	(void)state;
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	r = woken_by(round_of(APP, 1, 10, 30, 31), HELPER);
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	const struct runs_pause app = *runs_at(&s, s.n_kept);
	for (uint32_t i = 0; i < RUNS_KEPT; i++) {
		r = woken_by(round_of(HELPER, 31, 31, 31, 31), DISK);
		r.on_ns += i * 4000, r.off_ns = r.on_ns + 1000;
		r.woken_ns = r.off_ns + 1000, r.in_ns = r.woken_ns + 1000;
		ev = event_of(&r);
		if (i == 1000) {
			runs_chain(&s, &app, &chain);
			assert_int_equal(chain.n, 1);
			assert_int_equal(chain.links[0].slept_ns, 16 * MS);
		}
		assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	}
	runs_chain(&s, &app, &chain);
	assert_int_equal(chain.n, 0);
	assert_true(chain.not_followed);
	runs_deinit(&s);
}

static uint64_t sum_of(const struct runs *s, uint32_t lock, uint64_t *ret_most)
{
	uint64_t ns = 0;

	*ret_most = 0;
	for (uint32_t i = 0; i < s->n_cells; i++)
		if (s->cells[i].kind == RUNS_BLOCKED && s->cells[i].lock == lock) {
			ns += s->cells[i].total_ns;
			*ret_most = s->cells[i].max_ns;
		}
	return ns;
}

/* The record of the lock comes after that of the sleep, or before it. */
static void locks_of_programs_are_joined(void **state)
{
	const struct runs_lock mutex = {8, {900, HELPER, "helper"}}, other = {.lock = 9};
	struct runrec r = woken_by(round_of(APP, 1, 2, 5, 6), HELPER);
	struct event ev = event_of(&r);
	struct runs s = {0};
	uint64_t most;

	(void)state;
	assert_int_equal(runs_lock(&s, APP, AT(2), &mutex), 0); /* not followed yet */
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	r = woken_by(round_of(APP, 6, 10, 30, 31), HELPER);
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	assert_int_equal(sum_of(&s, 0, &most), 23 * MS);
	assert_int_equal(most, 20 * MS);
	assert_int_equal(runs_lock(&s, APP, AT(10) + 900, &mutex), 0);
	assert_int_equal(sum_of(&s, 0, &most), 3 * MS);
	assert_int_equal(most, 3 * MS);
	assert_int_equal(sum_of(&s, 8, &most), 20 * MS);
	assert_int_equal(s.longest[0].pause.lock, 8);
	assert_int_equal(runs_at(&s, s.tasks[0].last)->lock, 8);
	assert_int_equal(runs_at(&s, s.tasks[0].last)->holder.tid, HELPER);
	assert_string_equal(s.longest[0].pause.holder.comm, "helper");
	/* Of another sleep: it is kept for the next one, which it does not fit either. */
	assert_int_equal(runs_lock(&s, APP, AT(35), &other), 0);
	r = woken_by(round_of(APP, 31, 40, 41, 42), HELPER);
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	assert_int_equal(sum_of(&s, 9, &most), 0);
	assert_int_equal(runs_lock(&s, APP, AT(50) + 900, &other), 0);
	r = woken_by(round_of(APP, 42, 50, 57, 58), HELPER);
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	assert_int_equal(sum_of(&s, 9, &most), 7 * MS);
	/* It falls asleep again at once, for a lock that is reported before. */
	r = woken_by(round_of(APP, 58, 60, 61, 62), HELPER);
	r.woken_ns = AT(60) + 4000, r.in_ns = AT(60) + 9000;
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	assert_int_equal(runs_lock(&s, APP, AT(60) + 14000, &other), 0);
	assert_int_equal(runs_at(&s, s.tasks[0].last)->lock, 0);
	r.on_ns = AT(60) + 9000, r.off_ns = AT(60) + 14500, r.woken_ns = AT(64), r.in_ns = AT(65);
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	assert_int_equal(runs_at(&s, s.tasks[0].last)->lock, 9);
	/* One that lasts has its lock, too; a task that runs has none. */
	r = round_of(APP, 65, 70, 0, 0);
	r.state = RUNREC_ASLEEP;
	r.flags |= RUNREC_OPEN;
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &mutex, NULL), 0);
	assert_int_equal(s.tasks[0].open.lock, 8);
	r.off_ns = 0;
	ev = event_of(&r);
	assert_int_equal(runs_event(&s, &ev, &mutex, NULL), 0);
	assert_int_equal(s.tasks[0].open.lock, 0);
	runs_deinit(&s);
}

/* Interrupts come anywhere: call chains of wakeups leave room for those of sleeps. */
static void sleeps_keep_their_chains(void **state)
{
	struct runs s = {0};

	(void)state;
	for (int i = 0; i < 2 * RUNS_STACKS; i++) {
		struct runrec r = woken_by(round_of(APP, 1, 2, 3, 4), HELPER);
		r.frames[r.n_frames] = 4096 + (unsigned)i;
		r.frames[0] += i < RUNS_WAKERS + 10 ? 0 : 1;
		const struct event ev = event_of(&r);
		assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	}
	assert_int_equal(s.n_stacks, RUNS_WAKERS + 1);
	const struct runs_pause *first = runs_at(&s, 1), *last = runs_at(&s, s.n_kept);
	assert_int_equal(first->waker.tid, HELPER);
	assert_int_equal(last->waker.tid, -1);
	assert_true(last->kernel && last->stack == last->kernel && last->kernel != first->kernel);
	runs_deinit(&s);
}

/* Each record may be of a task that the model has not seen yet: its table grows meanwhile. */
static void new_tasks_make_tables_grow(void **state)
{
	enum { TASKS = 3000 };
	struct asked *w = *state;
	struct runrec r = woken_by(round_of(APP, 1, 2, 3, 4), HELPER);

	start(w);
	for (int i = 0; i < TASKS; i++) {
		r.tid = 10000 + i;
		report(w, r);
	}
	end(w, 60);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 0);
	assert_int_equal(w->rig.engine.model->runs->n_tasks, TASKS);
	assert_true(w->rig.engine.model->tasks->n > TASKS);
}

/* Hundreds of tasks that wake each other: no time is left out, but not all pairs are kept. */
static void pairs_without_room_are_summed_up(void **state)
{
	enum { TASKS = 200, ROUNDS = RUNS_PAIRS + RUNS_CELLS, CHAINS = 100 };
	uint64_t slept_ns = 0, with_other_ns = 0, with_chain_ns = 0;
	struct runs s = {0};

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct runrec r = woken_by(round_of(APP, 1, 2, 3, 4), HELPER);
		r.tid = 1 + i % TASKS;
		r.waker_tid = 1000 + i / TASKS;
		r.frames[r.n_frames] = 4096 + (unsigned)(i / TASKS % CHAINS);
		r.off_ns = r.on_ns = AT(1) + (uint64_t)i * 1000;
		r.woken_ns = r.in_ns = r.off_ns + 500;
		const struct event ev = event_of(&r);
		assert_int_equal(runs_event(&s, &ev, &no_lock, NULL), 0);
	}
	for (uint32_t i = 0; i < s.n_cells; i++) {
		slept_ns += s.cells[i].total_ns;
		with_other_ns += s.cells[i].other.tid > 0 ? s.cells[i].total_ns : 0;
		with_chain_ns += s.cells[i].waker_stack ? s.cells[i].total_ns : 0;
	}
	assert_int_equal(s.dropped, 0);
	assert_int_equal(slept_ns, ROUNDS * 500ull);
	assert_int_equal(with_other_ns, RUNS_PAIRS * 500ull);
	assert_true(with_chain_ns > with_other_ns && with_chain_ns < slept_ns);
	assert_int_equal(s.n_cells, RUNS_WAKEUPS + TASKS);
	runs_deinit(&s);
}

/* The system call, on what it is, and what the program's part lacks. */
static void places_are_shown(void **state)
{
	const struct query_why_block *b;
	struct asked *w = *state;
	struct runrec r = round_of(APP, 1, 10, 30, 31);
	size_t n;

	start(w);
	r.n_frames = 5;
	r.frames[2] = synth_addr(SYNTH_KSYS_READ);
	r.frames[3] = synth_addr(SYNTH_DO_SYSCALL_64);
	r.frames[4] = synth_addr(SYNTH_ENTRY_SYSCALL);
	r.user = WAITREC_USER_SOON;
	r.on = (struct runrec_on){.value = 812, .mode = 0010600, .kind = WAITREC_ON_FILE};
	report(w, woken_by(r, HELPER));
	r.off_ns = AT(40), r.on_ns = AT(31), r.woken_ns = AT(45), r.in_ns = AT(46);
	r.on = (struct runrec_on){9, 8 << 20, 0100600, WAITREC_ON_FILE, "data.db"};
	report(w, woken_by(r, HELPER));
	end(w, 60);
	struct table t = ask(w, APP);
	size_t i = row_of(&t, "blocked", "pipe is empty");
	assert_string_equal(cell_s(&t, i, "syscall"), "read");
	assert_string_equal(cell_s(&t, i, "on"), "pipe:[812]"); /* of the longest */
	assert_string_equal(cell_s(&t, i, "at"), "-");
	assert_int_equal(query_why_blocks(&w->q, APP, &b, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(b[0].syscall, "read");
	assert_non_null(b[0].at_why);
	assert_string_equal(query_why_place(&w->q, b[0].syscall, b[0].on, b[0].at),
			    "read on pipe:[812]");
	assert_string_equal(b[1].on, "data.db");
	assert_string_equal(query_why_place(&w->q, b[1].syscall, b[1].on, "db.c:41 get"),
			    "read on data.db at db.c:41 get");
	assert_string_equal(query_why_place(&w->q, NULL, NULL, "db.c:41 get"), "at db.c:41 get");
	assert_null(query_why_place(&w->q, NULL, NULL, NULL));
	assert_null(b[0].holder);
	assert_string_equal(query_why_ended(&w->q, NULL, false, "a timer"), "ended by a timer");
	assert_string_equal(query_why_ended(&w->q, "app/9", true, "app/9"),
			    "held and ended by app/9");
	assert_string_equal(query_why_ended(&w->q, "app/9", false, "md/7"),
			    "held by app/9, ended by md/7");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(shares_add_up),
		TEST(windows_are_cut),
		TEST(chains_lead_back),
		TEST(chains_end),
		TEST(losses_are_shown),
		TEST(places_are_shown),
		cmocka_unit_test(locks_of_programs_are_joined),
		cmocka_unit_test(old_chains_are_true),
		TEST(bad_records_are_counted),
		TEST(new_tasks_make_tables_grow),
		cmocka_unit_test(tables_are_bounded),
		cmocka_unit_test(pairs_without_room_are_summed_up),
		cmocka_unit_test(sleeps_keep_their_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
