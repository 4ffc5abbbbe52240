// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders with release records: exact times, holders that never waited, hand-overs, late and
 * uncertain records; and random streams against a plain account that knows the owner of each lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/query-blame.h"
#include "kontend/reader.h"
#include "kontend/task.h"
#include "recording.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static void start(struct asked *w)
{
	rig_init(&w->rig, 2);
	synth_releases(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void begin_of(struct asked *w, uint64_t t, int tid, int lock, uint32_t flags)
{
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				   synth_addr(SYNTH_VM_MUNMAP), synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_begin(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(lock), flags, frames, 3);
}

static void begin(struct asked *w, uint64_t t, int tid, uint32_t flags)
{
	begin_of(w, t, tid, 0, flags);
}

static void end(struct asked *w, uint64_t t, int tid)
{
	synth_end(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(0), 0);
}

static void release(struct asked *w, uint64_t t, int tid)
{
	synth_release(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(0));
}

static struct table query_table(struct asked *w, enum query_by by)
{
	struct query_blame_spec b = {.set = BLAME_HELD};
	struct query_spec spec = {.by = by};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_blame_by_parse(query_by_name(by), &b.by), 0);
	assert_int_equal(query_blame(&w->q, &b, &spec, &t, &err), 0);
	return t;
}

static struct table play(struct asked *w, enum query_by by)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
	return query_table(w, by);
}

static void expect(const struct table *t, int tid, uint64_t n, uint64_t exact, uint64_t total_ms)
{
	size_t tids = table_column(t, "tid");

	for (size_t i = 0; i < t->n_rows; i++) {
		if (table_value(t, i, tids)->i != tid)
			continue;
		assert_int_equal(cell_u(t, i, "held"), n);
		assert_int_equal(cell_u(t, i, "exact"), exact);
		assert_int_equal(cell_u(t, i, "total_ns"), total_ms * MS);
		return;
	}
	assert_int_equal(n, 0);
}

static uint64_t waited_ms(const struct table *t, int tid)
{
	size_t tids = table_column(t, "tid");

	for (size_t i = 0; i < t->n_rows; i++)
		if (table_value(t, i, tids)->i == tid)
			return (cell_u(t, i, "waited_ns") + MS / 2) / MS;
	return UINT64_MAX;
}

static void a_hold_ends_where_it_is_told(void **state)
{
	struct asked *w = *state;
	struct query_held_sum sum;
	struct query_handed handed;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	begin(w, 3, 703, LCB_F_WRITE);
	end(w, 10, 701);
	release(w, 20, 701);
	end(w, 30, 702);
	release(w, 35, 702);
	end(w, 36, 703);
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 2);
	expect(&t, 701, 1, 1, 10);
	expect(&t, 702, 1, 1, 5);
	assert_int_equal(query_blame_held_sum(&w->q, &sum), 0);
	assert_int_equal(sum.known, 2);
	assert_int_equal(sum.exact, 2);
	/* Both waited on from the release to the hand-over: the lock has no owner meanwhile. */
	assert_int_equal(sum.charged_ns, (2 * 10 + 5) * MS);
	assert_int_equal(query_blame_handed(&w->q, &handed), 0);
	assert_int_equal(handed.n, 2);
	assert_int_equal(handed.max_ns, 10 * MS);
	t = query_table(w, BY_LOCK);
	assert_int_equal(cell_u(&t, 0, "handovers"), 2);
	assert_int_equal(cell_u(&t, 0, "handover_max_ns"), 10 * MS);
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:W");
}

static void who_never_waited_is_known(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, 701, LCB_F_WRITE);
	begin(w, 15, 702, LCB_F_WRITE);
	release(w, 20, 720);
	end(w, 21, 701);
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 1);
	expect(&t, 720, 1, 1, 10); /* from the first begin on */
	assert_int_equal(cell_u(&t, 0, "waited_ns"), 15 * MS);
}

/* It may have released the lock, and taken it again, before a task waited. */
static void what_was_before_the_queue_is_left_out(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	end(w, 10, 701);
	begin(w, 40, 702, LCB_F_WRITE);
	release(w, 50, 701);
	end(w, 51, 702);
	struct table t = play(w, BY_TASK);
	expect(&t, 701, 1, 1, 10);
}

/* A task that comes in between takes the lock without waiting: since when is unknown. */
static void who_barges_in_has_a_bound(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_RT);
	begin(w, 2, 702, LCB_F_RT);
	end(w, 10, 701);
	release(w, 20, 701);
	release(w, 28, 730);
	end(w, 30, 702);
	struct table t = play(w, BY_TASK);
	expect(&t, 701, 1, 1, 10);
	expect(&t, 730, 1, 0, 8);
	t = query_table(w, BY_LOCK);
	assert_int_equal(cell_u(&t, 0, "handover_max_ns"), 2 * MS);
}

/* Some releases are reported when the next task has the lock already. */
static void a_late_release_is_none_of_the_next_one(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	begin(w, 3, 703, LCB_F_WRITE);
	end(w, 10, 701);
	end(w, 20, 702);
	release(w, 21, 701);
	release(w, 30, 702);
	end(w, 31, 703);
	struct table t = play(w, BY_TASK);
	expect(&t, 701, 1, 0, 10);
	expect(&t, 702, 1, 1, 10);
	t = query_table(w, BY_LOCK);
	assert_int_equal(cell_u(&t, 0, "handovers"), 1);
}

static void each_reader_lets_go_itself(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_READ);
	begin(w, 2, 702, LCB_F_READ);
	begin(w, 3, 703, LCB_F_WRITE);
	end(w, 10, 701);
	end(w, 12, 702);
	release(w, 20, 701);
	release(w, 40, 702);
	end(w, 45, 703);
	struct table t = play(w, BY_TASK);
	expect(&t, 701, 1, 1, 10);
	expect(&t, 702, 1, 1, 28);
	/* 702 waits for 2 ms and 703 all the time; from 12 on the two readers share it. */
	assert_int_equal(waited_ms(&t, 701), 4 + 4);
	assert_int_equal(waited_ms(&t, 702), 4 + 20);
	t = query_table(w, BY_TYPE);
	assert_int_equal(column_sum(&t, "handovers"), 1);
	assert_int_equal(column_sum(&t, "handover_max_ns"), 5 * MS);
}

/* While its waiters only spin, a mutex changes hands without any record. */
static void a_spinner_proves_nothing(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10, 701, LCB_F_MUTEX | LCB_F_SPIN);
	begin(w, 14, 701, LCB_F_MUTEX);
	release(w, 20, 720);
	end(w, 21, 701);
	struct table t = play(w, BY_TASK);
	expect(&t, 720, 1, 0, 10);
}

static void what_was_lost_is_not_exact(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	end(w, 10, 701);
	synth_lost(w->rig.synth, 1, CANNED_START + 15 * MS, 3);
	release(w, 20, 701);
	end(w, 30, 702);
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 0);
	assert_int_equal(w->rig.engine.model->handed->n, 0);
}

/* Semaphores begin with a spinlock. */
static void locks_at_one_address_are_told_apart(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 1, 701, LCB_F_SPIN);
	end(w, 2, 701);
	begin(w, 10, 702, LCB_F_RT);
	release(w, 15, 720);
	end(w, 16, 702);
	begin(w, 20, 703, LCB_F_RT);
	synth_begin(w->rig.synth, 1, CANNED_START + 21 * MS, 700, 704, LOCK(0), LCB_F_SPIN, NULL,
		    0);
	release(w, 22, 720); /* of which of the two? */
	synth_end(w->rig.synth, 1, CANNED_START + 23 * MS, 700, 704, LOCK(0), 0);
	end(w, 24, 703);
	struct table t = play(w, BY_TYPE);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "kind"), "rt-mutex");
	assert_int_equal(cell_u(&t, 0, "held"), 1);
}

/* The truth: tasks take locks, hold them, release them; those that do not wait leave no trace. */
enum { TASKS = 24, LOCKS = 3, STEPS = 6000 };

struct one {
	int lock; /* that it has or waits for */
	bool waits, has, reads, waited, barged;
	uint64_t got; /* or, of who barged in, when the lock was let go of */
	uint64_t n, exact, total, exact_total;
};

struct world {
	struct asked *w;
	struct one of[TASKS];
	uint64_t queue[LOCKS]; /* since when it has waiters; 0: it has none */
	uint64_t freed[LOCKS]; /* with waiters, since the lock was got last; 0: not */
	unsigned seed;
	bool shared;	 /* locks have readers */
	int unseen;	 /* tasks that are not measured, the first ones */
	int lose_one_in; /* releases; 0: none */
	uint64_t n_handed[LOCKS], handed[LOCKS];
};

static int count(const struct world *x, int lock, bool waits, bool readers)
{
	int n = 0;

	for (int i = 0; i < TASKS; i++) {
		const struct one *o = &x->of[i];
		n += o->lock == lock && (waits ? o->waits : o->has) && (readers || !o->reads);
	}
	return n;
}

static bool may_have(const struct world *x, const struct one *o)
{
	return !count(x, o->lock, false, !(x->shared && o->reads));
}

static void note_queue(struct world *x, int lock, uint64_t now)
{
	if (!count(x, lock, true, true))
		x->queue[lock] = x->freed[lock] = 0;
	else if (!x->queue[lock])
		x->queue[lock] = now;
}

static void take_it(struct world *x, int i, uint64_t now)
{
	struct one *o = &x->of[i];

	o->has = true;
	o->barged = !o->waits && x->queue[o->lock];
	o->got = o->barged ? x->freed[o->lock] : now;
	if (!o->waits)
		return;
	o->waits = false;
	if (x->freed[o->lock]) {
		x->n_handed[o->lock]++;
		x->handed[o->lock] += now - x->freed[o->lock];
	}
	x->freed[o->lock] = 0;
	if (i >= x->unseen)
		synth_end(x->w->rig.synth, 0, CANNED_START + now * MS, 700, 701 + i, LOCK(o->lock),
			  0);
	note_queue(x, o->lock, now);
}

static void let_go(struct world *x, int i, uint64_t now)
{
	struct one *o = &x->of[i];
	uint64_t since = x->queue[o->lock], from = o->got > since ? o->got : since;

	o->has = false;
	if (!since)
		return;
	o->n++;
	o->total += now - from;
	o->exact += !o->barged;
	o->exact_total += o->barged ? 0 : now - from;
	x->freed[o->lock] = now;
	if (i < x->unseen)
		return;
	if (x->lose_one_in && rand_r(&x->seed) % x->lose_one_in == 0)
		synth_lost(x->w->rig.synth, 0, CANNED_START + now * MS, 1);
	else
		synth_release(x->w->rig.synth, 0, CANNED_START + now * MS, 700, 701 + i,
			      LOCK(o->lock));
}

static void ask_for(struct world *x, int i, uint64_t now)
{
	struct one *o = &x->of[i];

	o->lock = rand_r(&x->seed) % LOCKS;
	o->reads = x->shared && rand_r(&x->seed) % 2;
	/* No task overtakes in a queue of readers and writers. */
	if (may_have(x, o) && (!x->queue[o->lock] || (!x->shared && rand_r(&x->seed) % 2))) {
		take_it(x, i, now);
		return;
	}
	o->waits = true;
	if (i >= x->unseen)
		begin_of(x->w, now, 701 + i, o->lock,
			 !x->shared ? LCB_F_RT
			 : o->reads ? LCB_F_READ
				    : LCB_F_WRITE);
	note_queue(x, o->lock, now);
}

static void run_world(struct world *x)
{
	uint64_t now = 1;

	for (int s = 0; s < STEPS; s++, now++) {
		int i = rand_r(&x->seed) % TASKS;
		if (x->of[i].has)
			let_go(x, i, now);
		else if (!x->of[i].waits)
			ask_for(x, i, now);
		else if (may_have(x, &x->of[i]))
			take_it(x, i, now);
	}
	synth_tick(x->w->rig.synth, CANNED_START + now * MS);
}

static void random_releases_agree_with_a_plain_account(void **state)
{
	struct world x = {.w = *state, .seed = 7};
	uint64_t n = 0, exact = 0, handed = 0, n_handed = 0;

	start(x.w);
	run_world(&x);
	struct table t = play(x.w, BY_TASK);
	for (int i = 0; i < TASKS; i++) {
		expect(&t, 701 + i, x.of[i].n, x.of[i].exact, x.of[i].total);
		n += x.of[i].n;
		exact += x.of[i].exact;
	}
	assert_true(exact > 500 && n > exact);
	for (int i = 0; i < LOCKS; i++) {
		handed += x.handed[i];
		n_handed += x.n_handed[i];
	}
	const struct cell_table *c = x.w->rig.engine.model->handed;
	for (size_t i = 0; i < c->n; i++) {
		handed -= c->cells[i].total_ns / MS;
		n_handed -= cell_n(c, &c->cells[i]);
	}
	assert_int_equal(handed, 0);
	assert_int_equal(n_handed, 0);
}

static uint64_t exact_ms(const struct model *m, int tid, uint64_t *ret_n)
{
	uint64_t ns = 0;

	*ret_n = 0;
	for (size_t i = 0; i < m->held->n; i++) {
		const struct cell *c = &m->held->cells[i];
		if (c->owner != HOLD_EXACT || m->tasks->tasks[c->task].tid != tid)
			continue;
		*ret_n += cell_n(m->held, c);
		ns += c->total_ns;
	}
	return ns / MS;
}

/* Time reported as exact is at most the true time, and at least @percent of it. */
static void expect_no_more(struct world *x, uint64_t percent)
{
	const struct model *m = x->w->rig.engine.model;
	uint64_t found = 0, all = 0, n;

	for (int i = 0; i < TASKS; i++) {
		uint64_t ms = exact_ms(m, 701 + i, &n);
		assert_true(n <= x->of[i].n);
		assert_true(ms <= x->of[i].exact_total);
		found += n;
		all += i >= x->unseen ? x->of[i].exact : 0;
	}
	assert_true(m->holds->charged_ns <= m->holds->waited_ns);
	if (found * 100 < all * percent)
		fail_msg("%zu of %zu are known", (size_t)found, (size_t)all);
	for (size_t i = 0; i < m->locks->n; i++)
		assert_true(m->locks->locks[i].n_queued <= m->locks->locks[i].n_sure);
}

static void readers_are_never_said_to_hold_longer(void **state)
{
	struct world x = {.w = *state, .seed = 11, .shared = true};

	start(x.w);
	run_world(&x);
	play(x.w, BY_TASK);
	expect_no_more(&x, 60);
}

static void lost_releases_are_never_made_up(void **state)
{
	for (unsigned seed = 1; seed < 8; seed++) {
		struct world x = {.w = *state, .seed = seed, .lose_one_in = 12};
		x.shared = seed % 2;
		start(x.w);
		run_world(&x);
		play(x.w, BY_TASK);
		assert_true(x.w->rig.engine.model->damage->lost > 20);
		expect_no_more(&x, 5);
		if (seed < 7)
			asked_teardown(state), asked_setup_empty(state);
		if (seed < 7)
			x.w = *state;
	}
}

/* Of some processes only: others release the lock without a record. */
static void who_is_not_measured_makes_nothing_exact(void **state)
{
	const struct record_host host = {.cpus = 2, .cpus_online = 2, .targets = "pid 700"};
	struct world x = {.w = *state, .seed = 3, .unseen = 8};

	start(x.w);
	synth_record(x.w->rig.synth, RECORD_HOST, 0, &host, sizeof(host));
	run_world(&x);
	play(x.w, BY_TASK);
	expect_no_more(&x, 20);
}

static void copies_go_on(void **state)
{
	struct asked *w = *state;
	struct model copy;

	start(w);
	begin(w, 1, 701, LCB_F_WRITE);
	release(w, 5, 720);
	end(w, 7, 701);
	play(w, BY_TASK);
	assert_int_equal(model_copy(&copy, w->rig.engine.model), 0);
	model_zero(w->rig.engine.model);
	assert_int_equal(w->rig.engine.model->handed->n, 0);
	assert_int_equal(w->rig.engine.model->holds->exact, 0);
	assert_int_equal(copy.holds->exact, 1);
	assert_int_equal(copy.handed->cells[0].total_ns, 2 * MS);
	model_deinit(&copy);
}

/* A convoy of three, a barger and a reader's lock, as a recording of perf's. */
static void state_convoy(struct asked *w)
{
	start(w);
	synth_comm(w->rig.synth, 1, CANNED_START, 700, 701, "first");
	synth_comm(w->rig.synth, 1, CANNED_START, 700, 720, "barger");
	begin(w, 1, 701, LCB_F_WRITE);
	begin(w, 2, 702, LCB_F_WRITE);
	begin(w, 3, 703, LCB_F_READ);
	release(w, 5, 720);
	end(w, 10, 701);
	release(w, 20, 701);
	end(w, 30, 702);
	end(w, 50, 703); /* and no record has the release of 702 */
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
}

static void report_of(const struct recording *rec, enum report_format format, const char *name)
{
	struct reader_options o = {.path = "bytes", .bytes = rec->data, .n_bytes = rec->len};
	const struct report_spec spec = {.format = format, .views = REPORT_HELD, .width = 200};
	struct model_limits limits = model_limits_of(0);
	struct source *source;
	struct engine e;
	struct error err = {0};
	struct query q;
	int code;

	limits.held = model_limits_held(0);
	assert_int_equal(reader_new(&source, &o, &err), 0);
	assert_int_equal(engine_init(&e, source, &limits, &err), 0);
	while ((code = engine_pump(&e, 0, &err)) != ENGINE_END)
		assert_true(code >= 0);
	assert_int_equal(query_init(&q, &e), 0);
	char *text = asked_report(&q, &spec);
	/* The source is the reader's to describe. */
	golden_check(format == REPORT_TEXT ? strstr(text, "# held") : strstr(text, "\"views\""),
		     name);
	free(text);
	query_deinit(&q);
	engine_deinit(&e);
}

static void a_recording_of_perf_has_them(void **state)
{
	struct asked *w = *state;

	state_convoy(w);
	struct recording rec = recording_perf(w->rig.synth, 0);
	report_of(&rec, REPORT_TEXT, "report-released");
	report_of(&rec, REPORT_JSON, "report-released-json");
	recording_free(&rec);
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(a_hold_ends_where_it_is_told),
		ON_STREAM(who_never_waited_is_known),
		ON_STREAM(what_was_before_the_queue_is_left_out),
		ON_STREAM(who_barges_in_has_a_bound),
		ON_STREAM(a_late_release_is_none_of_the_next_one),
		ON_STREAM(each_reader_lets_go_itself),
		ON_STREAM(a_spinner_proves_nothing),
		ON_STREAM(what_was_lost_is_not_exact),
		ON_STREAM(locks_at_one_address_are_told_apart),
		ON_STREAM(copies_go_on),
		ON_STREAM(a_recording_of_perf_has_them),
		ON_STREAM(random_releases_agree_with_a_plain_account),
		ON_STREAM(readers_are_never_said_to_hold_longer),
		ON_STREAM(lost_releases_are_never_made_up),
		ON_STREAM(who_is_not_measured_makes_nothing_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
