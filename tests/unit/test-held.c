// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a task that got a lock kept others waiting: from hand to hand, with readers, with
 * reported owners, with missing records; and random streams against a plain account of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/cell.h"
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/query-blame.h"
#include "kontend/wait-filter.h"

#include <math.h>
#include <stdlib.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static void start(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void begin_in(struct asked *w, uint64_t t, int tid, uint64_t lock, uint32_t flags,
		     enum synth_address caller)
{
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH), synth_addr(caller),
				   synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_begin(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, lock, flags, frames, 3);
}

static void begin(struct asked *w, uint64_t t, int tid, uint32_t flags)
{
	begin_in(w, t, tid, LOCK(0), flags, SYNTH_VM_MUNMAP);
}

static void end(struct asked *w, uint64_t t, int tid)
{
	synth_end(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(0), 0);
}

static void play(struct asked *w)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
}

static struct table query_table(struct asked *w, enum query_by by)
{
	struct query_blame_spec b = {.set = BLAME_HELD};
	struct query_spec spec = {.by = by, .sort = "tid"};
	struct error err;
	struct table t;

	if (by != BY_TASK)
		spec.sort = NULL;
	assert_int_equal(query_blame_by_parse(query_by_name(by), &b.by), 0);
	assert_int_equal(query_blame(&w->q, &b, &spec, &t, &err), 0);
	return t;
}

static void expect(const struct table *t, int tid, uint64_t n, uint64_t total_ms)
{
	size_t tids = table_column(t, "tid");

	for (size_t i = 0; i < t->n_rows; i++) {
		if (table_value(t, i, tids)->i != tid)
			continue;
		assert_int_equal(cell_u(t, i, "held"), n);
		assert_int_equal(cell_u(t, i, "total_ns"), total_ms * MS);
		return;
	}
	assert_int_equal(n, 0);
}

static struct query_held_sum sum_of(struct asked *w)
{
	struct query_held_sum ret;

	assert_int_equal(query_blame_held_sum(&w->q, &ret), 0);
	return ret;
}

/* Parts of nanoseconds are lost where readers share. */
static void expect_waited(const struct table *t, int tid, double waited_ms)
{
	size_t tids = table_column(t, "tid");

	for (size_t i = 0; i < t->n_rows; i++)
		if (table_value(t, i, tids)->i == tid)
			assert_true(fabs((double)cell_u(t, i, "waited_ns") - waited_ms * MS) <
				    1000);
}

static void a_lock_goes_from_hand_to_hand(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	end(w, 10, 701);
	end(w, 30, 702); /* had waited when 701 got it */
	begin(w, 35, 703, LCB_F_WRITE);
	end(w, 50, 703); /* had not, when 702 got it: it may have been free in between */
	play(w);
	struct table t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 701, 1, 20);
	expect_waited(&t, 701, 20);
	assert_int_equal(sum_of(w).waited_ns, (9 + 28 + 15) * MS);
	assert_int_equal(sum_of(w).charged_ns, 20 * MS);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 20 * MS);
	assert_int_equal(cell_u(&t, 0, "p99_ns"), 20 * MS);
	assert_string_equal(cell_s(&t, 0, "caller"), "__vm_munmap");
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:W");
	assert_int_equal(sum_of(w).got, 3);
	assert_int_equal(sum_of(w).known, 1);
	/* The query is about waits again. */
	assert_int_equal(asked_locks(w, (struct query_spec){.by = BY_LOCK}).n_rows, 1);
}

static void is_gone(struct asked *w, uint64_t t, int tid)
{
	const struct holdrec r = {.magic = HOLDREC_MAGIC,
				  .lock = LOCK(0),
				  .pid = 700,
				  .tid = tid,
				  .what = HOLDREC_GONE,
				  .hint = 1};

	synth_holder(w->rig.synth, 0, CANNED_START + t * MS, &r);
}

/* Each until it has been back in user space; what is waited then, the others share. */
static void readers_hold_it_until_they_are_gone(void **state)
{
	struct asked *w = *state;

	start(w);
	for (int tid = 701; tid <= 703; tid++)
		begin(w, 1, tid, LCB_F_READ);
	begin(w, 2, 709, LCB_F_WRITE);
	for (int tid = 701; tid <= 703; tid++)
		end(w, 10, tid);
	is_gone(w, 22, 702);
	is_gone(w, 32, 703);
	begin(w, 35, 702, LCB_F_READ);
	is_gone(w, 36, 702); /* a second time: nothing changes */
	synth_exit(w->rig.synth, 0, CANNED_START + 50 * MS, 700, 701);
	end(w, 70, 709);
	end(w, 80, 702);
	play(w);
	struct table t = query_table(w, BY_TASK);
	expect(&t, 701, 1, 40); /* it has exited since */
	expect(&t, 702, 1, 12);
	expect(&t, 703, 1, 22);
	expect(&t, 709, 1, 10);
	expect_waited(&t, 702, 12.0 / 3);
	expect_waited(&t, 703, 12.0 / 3 + 10.0 / 2);
	expect_waited(&t, 701, 12.0 / 3 + 10.0 / 2 + 18 + 15);
	for (size_t i = 0; i < t.n_rows; i++) {
		bool writes = table_value(&t, i, table_column(&t, "tid"))->i == 709;
		assert_int_equal(table_value(&t, i, table_column(&t, "total_ns"))->approx, !writes);
		assert_false(table_value(&t, i, table_column(&t, "waited_ns"))->approx);
	}
}

static void readers_hold_it_together(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_READ);
	begin(w, 2, 702, LCB_F_READ);
	begin(w, 3, 703, LCB_F_WRITE);
	begin(w, 4, 704, LCB_F_READ);
	end(w, 10, 701);
	end(w, 12, 702);
	end(w, 40, 703);
	end(w, 45, 704);
	play(w);
	struct table t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 3);
	expect(&t, 701, 1, 30);
	expect(&t, 702, 1, 28);
	expect(&t, 703, 1, 5);
	expect_waited(&t, 701, 3 * 2 + 28); /* alone, then with 702 */
	expect_waited(&t, 702, 28);
	expect_waited(&t, 703, 5);
	t = query_table(w, BY_LOCK);
	assert_int_equal(t.n_rows, 2); /* a row a mode */
	assert_int_equal(column_sum(&t, "total_ns"), 63 * MS);
	t = query_table(w, BY_TYPE);
	assert_int_equal(t.n_rows, 2);
}

/* A task that began to wait later knew whose lock it was. */
static void begin_told(struct asked *w, uint64_t t, int tid, int owner)
{
	const struct ownerrec r = {
		.magic = OWNERREC_MAGIC, .lock = LOCK(0), .pid = 700, .tid = owner};

	begin(w, t, tid, LCB_F_READ);
	synth_owner(w->rig.synth, 0, CANNED_START + t * MS + 5, tid, &r);
}

/* A reader of before, after the first of its turns, may not have released the lock. */
static void a_writer_that_was_told_between_readers_counts(void **state)
{
	struct asked *w = *state;

	start(w);
	for (uint64_t t = 10; t < 400; t += 100) {
		begin_told(w, t, 701, 720);
		begin_told(w, t + 2, 702, 720);
		end(w, t + 20, 701);
		end(w, t + 21, 702); /* got it in the same turn */
	}
	play(w);
	struct table t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 720, 4, 4 * 20);
	expect_waited(&t, 720, 4 * (20 + 18));
	assert_int_equal(sum_of(w).got, 8);
	assert_int_equal(sum_of(w).known, 4);
}

static void an_owner_that_was_told_counts(void **state)
{
	struct asked *w = *state;
	struct ownerrec r = {.magic = OWNERREC_MAGIC, .lock = LOCK(0), .pid = 700, .tid = 701};

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	end(w, 10, 701);
	begin(w, 12, 702, LCB_F_WRITE);
	synth_owner(w->rig.synth, 0, CANNED_START + 12 * MS + 5, 702, &r);
	end(w, 30, 702);
	begin(w, 32, 703, LCB_F_WRITE);
	r.tid = 702;
	r.hint = true;
	synth_owner(w->rig.synth, 0, CANNED_START + 32 * MS + 5, 703, &r);
	end(w, 40, 703);
	begin(w, 50, 704, LCB_F_READ);
	r = (struct ownerrec){.magic = OWNERREC_MAGIC, .lock = LOCK(0), .pid = 700, .tid = 720};
	synth_owner(w->rig.synth, 0, CANNED_START + 50 * MS + 5, 704, &r);
	begin(w, 60, 705, LCB_F_WRITE);
	end(w, 70, 704);
	play(w);
	struct table t = query_table(w, BY_TASK);
	expect(&t, 701, 1, 20);
	expect(&t, 702, 0, 0);	/* a hint is none */
	expect(&t, 720, 1, 20); /* which got it without waiting */
	expect_waited(&t, 720, 20 + 10);
	assert_int_equal(sum_of(w).charged_ns, (18 + 30) * MS);
}

static void what_was_lost_has_no_time(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	begin(w, 3, 703, LCB_F_WRITE);
	end(w, 10, 701);
	synth_lost(w->rig.synth, 1, CANNED_START + 15 * MS, 3);
	end(w, 30, 702);
	end(w, 40, 703);
	play(w);
	assert_int_equal(query_table(w, BY_TASK).n_rows, 0);
	assert_int_equal(sum_of(w).known, 0);
	assert_int_equal(sum_of(w).charged_ns, 0);
	const struct lock_table *locks = w->rig.engine.model->locks;
	for (size_t i = 0; i < locks->n; i++)
		assert_int_equal(locks->locks[i].n_sure, 0);
}

static void failed_waits_got_nothing(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	begin(w, 3, 703, LCB_F_WRITE);
	end(w, 10, 701);
	synth_end(w->rig.synth, 0, CANNED_START + 20 * MS, 700, 702, LOCK(0), -4);
	end(w, 30, 703);
	play(w);
	struct table t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 701, 1, 20);
}

static void a_filter_is_about_holders(void **state)
{
	struct asked *w = *state;
	struct error err;

	start(w);
	begin_in(w, 1, 701, LOCK(0), LCB_F_WRITE, SYNTH_VM_MUNMAP);
	begin_in(w, 2, 702, LOCK(0), LCB_F_WRITE, SYNTH_VM_MMAP_PGOFF);
	begin_in(w, 3, 703, LOCK(0), LCB_F_WRITE, SYNTH_VM_MUNMAP);
	end(w, 10, 701);
	end(w, 15, 702);
	end(w, 25, 703);
	play(w);
	assert_int_equal(wait_filter_set(&w->q, "caller:mmap_pgoff", &err), 0);
	struct table t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 702, 1, 10);
	wait_filter_end(&w->q);
	assert_int_equal(query_table(w, BY_TASK).n_rows, 2);
	assert_int_equal(query_table(w, BY_CALLER).n_rows, 2);
}

static void zero_begins_anew_and_copies_go_on(void **state)
{
	struct asked *w = *state;
	struct model copy;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	end(w, 10, 701);
	end(w, 15, 702);
	play(w);
	assert_int_equal(model_copy(&copy, w->rig.engine.model), 0);
	model_zero(w->rig.engine.model);
	query_begin(&w->q);
	assert_int_equal(query_table(w, BY_TASK).n_rows, 0);
	assert_int_equal(sum_of(w).got, 0);
	assert_int_equal(sum_of(w).waited_ns, 0);
	assert_int_equal(copy.held->n, 1);
	assert_int_equal(copy.held->cells[0].total_ns, 5 * MS);
	assert_int_equal(copy.holds->got, 2);
	model_deinit(&copy);
}

/* Figures of the last seconds, also filtered; the tables show the same figures. */
static void a_window_has_what_ended_in_it(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;
	struct error err;

	start(w);
	for (int s = 0; s < 20; s++) {
		uint64_t t = (uint64_t)s * 1000;
		begin_in(w, t + 1, 701, LOCK(0), LCB_F_WRITE, SYNTH_VM_MUNMAP);
		begin_in(w, t + 2, 702, LOCK(0), LCB_F_WRITE, SYNTH_VM_MMAP_PGOFF);
		begin_in(w, t + 3, 703, LOCK(0), LCB_F_WRITE, SYNTH_VM_MUNMAP);
		end(w, t + 10, 701);
		end(w, t + 20 + (uint64_t)s, 702);
		end(w, t + 100, 703);
		synth_tick(w->rig.synth, CANNED_START + (t + 1000) * MS);
	}
	asked_play(w, &limits);
	query_begin(&w->q);
	struct table t = query_table(w, BY_TASK);
	expect(&t, 701, 20, 20 * 10 + 190);
	expect_waited(&t, 701, 2 * (20 * 10 + 190));
	assert_int_equal(sum_of(w).known, 40);
	w->q.window_ns = 5000 * MS;
	t = query_table(w, BY_TASK);
	expect(&t, 701, 5, 5 * 10 + 15 + 16 + 17 + 18 + 19);
	expect_waited(&t, 701, 2 * (5 * 10 + 15 + 16 + 17 + 18 + 19));
	assert_int_equal(sum_of(w).known, 10);
	assert_int_equal(sum_of(w).got, 15);
	assert_int_equal(column_sum(&t, "waited_ns"), sum_of(w).charged_ns);
	assert_int_equal(w->q.window_ns, 5000 * MS);
	assert_int_equal(wait_filter_set(&w->q, "caller:mmap_pgoff", &err), 0);
	t = query_table(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 702, 5, 5 * 80 - 15 - 16 - 17 - 18 - 19);
	wait_filter_end(&w->q);
	w->q.window_ns = 0;
	t = query_table(w, BY_TASK);
	expect(&t, 701, 20, 20 * 10 + 190);
}

/* A plain account of random hand-overs: owner of each lock and since when, each checked. */
enum { TASKS = 24, LOCKS = 3, STEPS = 4000 };

struct account {
	uint64_t begin[TASKS]; /* 0: does not wait */
	int lock[TASKS];
	bool reads[TASKS];
	uint64_t got[LOCKS][TASKS]; /* 0: has it not */
	bool got_to_read[LOCKS][TASKS];
	double kept[LOCKS][TASKS]; /* how long others have waited meanwhile, ms */
	double charged[TASKS];	   /* of the known part */
	uint64_t n[TASKS], total[TASKS], all, known;
};

/* All locks, from one step to the next: waiting time is charged to the task that has the lock. */
static void account_step(struct account *a)
{
	for (int l = 0; l < LOCKS; l++) {
		int waiting = 0, holders = 0;
		for (int i = 0; i < TASKS; i++) {
			waiting += a->begin[i] && a->lock[i] == l;
			holders += a->got[l][i] != 0;
		}
		for (int i = 0; i < TASKS; i++)
			if (a->got[l][i])
				a->kept[l][i] += (double)waiting / holders;
	}
}

static void account_end(struct account *a, int i, uint64_t now)
{
	int l = a->lock[i];

	for (int k = 0; k < TASKS; k++) {
		if (!a->got[l][k] || (a->reads[i] && a->got_to_read[l][k]))
			continue;
		if (k != i && a->begin[i] <= a->got[l][k]) {
			a->n[k]++;
			a->total[k] += now - a->got[l][k];
			a->charged[k] += a->kept[l][k];
			a->known++;
		}
		a->got[l][k] = 0;
	}
	a->all++;
	a->got[l][i] = now;
	a->kept[l][i] = 0;
	a->got_to_read[l][i] = a->reads[i];
	a->begin[i] = 0;
}

static void random_streams_agree_with_a_plain_account(void **state)
{
	struct asked *w = *state;
	struct account a = {0};
	unsigned seed = 21;
	uint64_t now = 1;

	start(w);
	for (int s = 0; s < STEPS; s++, now++) {
		int i = rand_r(&seed) % TASKS;
		if (s)
			account_step(&a);
		if (!a.begin[i]) {
			a.lock[i] = rand_r(&seed) % LOCKS;
			/* One that reads it already does not read it again. */
			a.reads[i] = rand_r(&seed) % 3 == 0 && !a.got[a.lock[i]][i];
			a.begin[i] = now;
			begin_in(w, now, 701 + i, LOCK(a.lock[i]),
				 a.reads[i] ? LCB_F_READ : LCB_F_WRITE, SYNTH_VM_MUNMAP);
			continue;
		}
		synth_end(w->rig.synth, 0, CANNED_START + now * MS, 700, 701 + i, LOCK(a.lock[i]),
			  0);
		account_end(&a, i, now);
	}
	synth_tick(w->rig.synth, CANNED_START + now * MS);
	play(w);
	struct table t = query_table(w, BY_TASK);
	for (int i = 0; i < TASKS; i++)
		expect(&t, 701 + i, a.n[i], a.total[i]);
	for (int i = 0; i < TASKS; i++)
		expect_waited(&t, 701 + i, a.charged[i]);
	assert_int_equal(sum_of(w).got, a.all);
	assert_int_equal(sum_of(w).known, a.known);
}

/* A reader that is gone is in the list until then: a free lock takes it out, once. */
static void a_free_lock_ends_what_readers_had(void **state)
{
	const struct ownerrec free = {.magic = OWNERREC_MAGIC, .lock = LOCK(0)};
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_READ);
	begin(w, 1, 702, LCB_F_READ);
	begin(w, 2, 709, LCB_F_WRITE);
	end(w, 10, 701);
	end(w, 10, 702);
	is_gone(w, 22, 701);
	is_gone(w, 32, 702);
	begin(w, 40, 703, LCB_F_WRITE);
	synth_owner(w->rig.synth, 0, CANNED_START + 40 * MS + 5, 703, &free);
	end(w, 50, 709);
	end(w, 60, 703);
	play(w);
	struct table t = query_table(w, BY_TASK);
	expect(&t, 701, 1, 12);
	expect(&t, 702, 1, 22);
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(a_lock_goes_from_hand_to_hand),
		ON_STREAM(readers_hold_it_until_they_are_gone),
		ON_STREAM(a_free_lock_ends_what_readers_had),
		ON_STREAM(readers_hold_it_together),
		ON_STREAM(an_owner_that_was_told_counts),
		ON_STREAM(a_writer_that_was_told_between_readers_counts),
		ON_STREAM(what_was_lost_has_no_time),
		ON_STREAM(failed_waits_got_nothing),
		ON_STREAM(a_filter_is_about_holders),
		ON_STREAM(a_window_has_what_ended_in_it),
		ON_STREAM(zero_begins_anew_and_copies_go_on),
		ON_STREAM(random_streams_agree_with_a_plain_account),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
