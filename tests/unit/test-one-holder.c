// SPDX-License-Identifier: GPL-2.0-only
/*
 * One answer to who holds a lock: random streams are stopped at a random moment, and blame, did,
 * held, waiters and chains must all name the holder that holder_now() names, or the task to which a
 * free lock is being handed over. Waiting time from then on is charged to that one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/cell-owner.h"
#include "kontend/holder.h"
#include "kontend/holdrec.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/query-blame.h"
#include "kontend/query-chains.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

enum { STREAMS = 400, STEPS = 70, LOCKS = 2, TASKS = 8, QUIET_MS = 10 };

/* Tasks 701 to 708; each waits for one lock at a time, or for none. */
struct game {
	struct synth *s;
	unsigned seed;
	uint64_t now;
	int waits[TASKS];      /* lock; -1: none */
	uint64_t since[TASKS]; /* order of begins */
};

static int draw(struct game *g, int n)
{
	return rand_r(&g->seed) % n;
}

static int first_of(const struct game *g, int lock)
{
	int first = -1;

	for (int i = 0; i < TASKS; i++)
		if (g->waits[i] == lock && (first < 0 || g->since[i] < g->since[first]))
			first = i;
	return first;
}

/* A task that does not wait, or none. */
static int runs(struct game *g, int but)
{
	int i = draw(g, TASKS);

	return g->waits[i] < 0 && i != but ? i : -1;
}

static void begin(struct game *g, int i, int lock)
{
	int first = first_of(g, lock), owner = draw(g, 3) ? runs(g, i) : first;
	bool handed = owner >= 0 && owner == first, is_said = owner >= 0 || draw(g, 2);
	const struct waitrec_begin b = {
		.magic = WAITREC_BEGIN_MAGIC,
		.lock = LOCK(lock),
		.flags = LCB_F_MUTEX,
		.tid = 701 + i,
		.owner = handed	   ? WAITREC_HANDED
			 : is_said ? WAITREC_OWNED
				   : WAITREC_NOT_SAID,
		.owner_pid = owner < 0 ? 0 : 700,
		.owner_tid = owner < 0 ? 0 : 701 + owner,
	};

	synth_wait_begin(g->s, 0, CANNED_START + g->now, 700, 701 + i, &b);
	g->waits[i] = lock;
	g->since[i] = g->now;
}

static void end(struct game *g, int i)
{
	const struct waitrec_end e = {.magic = WAITREC_END_MAGIC,
				      .lock = LOCK(g->waits[i]),
				      .tid = 701 + i,
				      .ret = draw(g, 4) ? 0 : -4};

	synth_wait_end(g->s, 0, CANNED_START + g->now, 700, 701 + i, &e);
	g->waits[i] = -1;
}

static void emit_holder(struct game *g, int i, int lock, enum holdrec_what what,
			enum holdrec_state is)
{
	const struct holdrec r = {.magic = HOLDREC_MAGIC,
				  .lock = LOCK(lock),
				  .pid = 700,
				  .tid = 701 + i,
				  .what = what,
				  .state = is,
				  .comm = "task"};

	if (i >= 0)
		synth_holder(g->s, 0, CANNED_START + g->now, &r);
}

static void play_step(struct game *g)
{
	int i = draw(g, TASKS), lock = draw(g, LOCKS);

	g->now += (uint64_t)(1 + draw(g, 5)) * MS;
	if (g->waits[i] < 0 && draw(g, 4))
		begin(g, i, lock);
	else if (g->waits[i] >= 0 && !draw(g, 3))
		end(g, i);
	else if (first_of(g, lock) < 0)
		return;
	else if (!draw(g, 3))
		emit_holder(g, first_of(g, lock), lock, HOLDREC_HANDED, HOLDREC_ASLEEP);
	else if (draw(g, 2))
		emit_holder(g, runs(g, -1), lock, HOLDREC_SEEN, HOLDREC_RUNNING);
	else
		emit_holder(g, runs(g, -1), lock, HOLDREC_ON, HOLDREC_RUNNING);
}

/* So many steps of the stream of that seed, and then nothing for a while. */
static void play(struct asked *w, unsigned seed, uint64_t quiet_ms)
{
	struct game g = {.seed = seed};

	rig_init(&w->rig, 1);
	g.s = w->rig.synth;
	synth_outputs(g.s);
	synth_round(g.s, CANNED_START);
	for (int i = 0; i < TASKS; i++)
		g.waits[i] = -1;
	for (int n = 2 + draw(&g, STEPS); n; n--)
		play_step(&g);
	synth_tick(g.s, CANNED_START + g.now + quiet_ms * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
}

static const struct model *model_of(const struct asked *w)
{
	return w->rig.engine.model;
}

static int32_t tid_of(const struct model *m, uint32_t task)
{
	return task ? m->tasks->tasks[task].tid : 0;
}

static void again(void **state)
{
	asked_teardown(state);
	asked_setup_empty(state);
}

struct seen {
	unsigned sure, handed, free, none, held;
};

static void check_blame(const struct model *m, const struct wait *w, uint32_t owner)
{
	uint32_t node = m->locks->locks[w->lock].blame;
	const struct blame_hold *h = &m->blame->holds[m->blame->nodes[node].holds];

	assert_int_not_equal(node, 0);
	if (owner == OWNER_NONE) {
		/* Or it is the task that waits. */
		assert_true(!m->blame->nodes[node].holds || h->task == w->task);
		return;
	}
	assert_int_not_equal(m->blame->nodes[node].holds, 0);
	assert_int_equal(h->free, cell_owner_is_free(owner));
	assert_int_equal(tid_of(m, h->task),
			 tid_of(m, h->free ? cell_owner_next(owner) : cell_owner_task(owner)));
	if (h->free)
		assert_int_equal(h->state, h->task ? BLAME_RUNNABLE : BLAME_UNKNOWN);
}

/* Only the owner known in the end counts: a task that never waited, or no task has waited since. */
static void check_held(const struct model *m, const struct wait *w, uint32_t owner,
		       struct seen *seen)
{
	const struct hold *h = &m->holds->v[m->locks->locks[w->lock].holds];

	if (!m->locks->locks[w->lock].holds || owner == OWNER_NONE ||
	    h->got_ns < m->locks->locks[w->lock].waits_ns)
		return;
	seen->held++;
	assert_int_equal(h->free, cell_owner_is_free(owner));
	assert_int_equal(tid_of(m, h->task),
			 tid_of(m, h->free ? cell_owner_next(owner) : cell_owner_task(owner)));
}

static void check_named(const struct model *m, const struct table *t, size_t row, uint32_t owner,
			const char *column)
{
	const struct value *tid = cell_at(t, row, column), *next = cell_at(t, row, "next_tid");

	assert_int_equal(tid->known ? tid->i : 0, tid_of(m, cell_owner_task(owner)));
	assert_int_equal(next->known ? next->i : 0, tid_of(m, cell_owner_next(owner)));
}

static void check_waiters(struct asked *w, const struct wait *of, uint32_t owner)
{
	struct table t = asked_waiters(w, (struct query_spec){0});
	const struct model *m = model_of(w);

	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_at(&t, i, "tid")->i == tid_of(m, of->task))
			check_named(m, &t, i, owner, "owner_tid");
}

/* Of a holder that waits for no lock itself. */
static void check_chains(struct asked *w, uint32_t owner)
{
	const struct model *m = model_of(w);
	uint32_t task = cell_owner_task(owner);
	struct query_spec spec = {0};
	struct table t;
	bool is_root = false;

	if (owner == OWNER_NONE || owner == OWNER_FREE || (task && m->tasks->tasks[task].depth))
		return;
	assert_int_equal(query_chains(&w->q, &spec, &t, NULL), 0);
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct value *v = cell_at(&t, i, task ? "tid" : "next_tid");
		if (strcmp(cell_s(&t, i, "row"), "root") == 0 && v->known)
			is_root |= v->i == tid_of(m, task ? task : cell_owner_next(owner));
	}
	assert_true(is_root);
}

static void count(struct seen *s, uint32_t owner)
{
	s->none += owner == OWNER_NONE;
	s->handed += cell_owner_next(owner) != 0;
	s->free += owner == OWNER_FREE;
	s->sure += cell_owner_task(owner) != 0;
}

static void all_name_the_same_holder(void **state)
{
	struct seen seen = {0};

	for (unsigned seed = 1; seed <= STREAMS; seed++) {
		if (seed > 1)
			again(state);
		struct asked *w = *state;
		play(w, seed, 0);
		const struct model *m = model_of(w);
		for (uint32_t i = 1; i < m->waits->high; i++) {
			uint64_t ns;
			if (!m->waits->waits[i].used)
				continue;
			uint32_t owner = holder_now(m, &m->waits->waits[i], &ns);
			check_blame(m, &m->waits->waits[i], owner);
			check_held(m, &m->waits->waits[i], owner, &seen);
			check_waiters(w, &m->waits->waits[i], owner);
			check_chains(w, owner);
			count(&seen, owner);
		}
	}
	assert_true(seen.sure > 100 && seen.handed > 100 && seen.free > 10 && seen.none > 10);
	assert_true(seen.held > 100);
}

/* The root of the wait at this moment: a task of 701 to 708; 0: it is not known. */
static int root_of(const struct model *m, const struct wait *w)
{
	for (int steps = 0; steps < TASKS; steps++) {
		uint64_t ns;
		uint32_t owner = holder_now(m, w, &ns), task = cell_owner_task(owner);
		if (cell_owner_next(owner))
			return tid_of(m, cell_owner_next(owner));
		const struct task *t = &m->tasks->tasks[task];
		if (!task || !t->depth)
			return tid_of(m, task);
		/* It has just got the lock: or it waits for another one. */
		if (m->waits->waits[t->waits[0]].addr == w->addr)
			return tid_of(m, task);
		w = &m->waits->waits[t->waits[0]];
	}
	return -1; /* they wait for each other */
}

enum { BLAME, DID, TABLES };

struct sums {
	double ns[TABLES][TASKS];
};

static void add_up(const struct table *t, double ns[TASKS])
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (cell_at(t, i, "tid")->known)
			ns[cell_at(t, i, "tid")->i - 701] += (double)cell_u(t, i, "waited_ns");
}

/* Time charged to each task as the root, and as the holder. */
static struct sums charged(struct asked *w)
{
	struct query_spec spec = {0};
	struct sums ret = {0};
	struct table t;

	assert_int_equal(query_blame(&w->q, &(struct query_blame_spec){.by = BLAME_BY_TASK}, &spec,
				     &t, NULL),
			 0);
	add_up(&t, ret.ns[BLAME]);
	assert_int_equal(
		query_blame(&w->q, &(struct query_blame_spec){.set = BLAME_DID}, &spec, &t, NULL),
		0);
	add_up(&t, ret.ns[DID]);
	return ret;
}

/* Time to be charged for a while without events; false: some tasks wait for each other. */
static bool expect(const struct model *m, struct sums *to, unsigned *n)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		uint64_t ns;
		if (!w->used)
			continue;
		uint32_t owner = holder_now(m, w, &ns);
		uint32_t by =
			cell_owner_next(owner) ? cell_owner_next(owner) : cell_owner_task(owner);
		int root = root_of(m, w);
		if (root < 0)
			return false;
		if (root)
			to->ns[BLAME][root - 701] += QUIET_MS * MS;
		if (by)
			to->ns[DID][tid_of(m, by) - 701] += QUIET_MS * MS;
		*n += root > 0;
	}
	return true;
}

static void what_is_waited_is_charged_to_it(void **state)
{
	unsigned n = 0;

	for (unsigned seed = 1; seed <= STREAMS; seed++) {
		if (seed > 1)
			again(state);
		play(*state, seed, 0);
		struct sums before = charged(*state), after;
		bool is_sure = expect(model_of(*state), &before, &n);
		again(state);
		play(*state, seed, QUIET_MS);
		after = charged(*state);
		for (int i = 0; is_sure && i < TABLES * TASKS; i++)
			assert_int_equal((int64_t)after.ns[i / TASKS][i % TASKS] / MS,
					 (int64_t)before.ns[i / TASKS][i % TASKS] / MS);
	}
	assert_true(n > 200);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(all_name_the_same_holder),
		TEST(what_is_waited_is_charged_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
