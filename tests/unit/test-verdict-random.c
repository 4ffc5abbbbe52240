// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict on random waits: its second line is about the lock of its first, which has holders of
 * its own here; no task is named twice, no figure is a dash, and the present tense is only used for
 * tasks that wait at that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/query-overview.h"
#include "kontend/query-verdict.h"
#include "lock-snaps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 4, PROCESSES = 3, THREADS = 4, TICKS = 6, STEPS = 30, RUNS = 60 };
enum { PER_LOCK = PROCESSES * THREADS };

#define MS 1000000ull
#define START (1000 * MS)
#define LOCK(i) (0xffff888044444400ull + (uint64_t)(i)*0x100)

/* Tasks take one lock each: whose lock a name belongs to is in its number. */
static int pid_of(int lock, int task)
{
	return 1000 * (lock + 1) + 100 * (task / THREADS);
}

static int tid_of(int lock, int task)
{
	return pid_of(lock, task) + task % THREADS;
}

struct plain {
	struct plain_lock {
		bool waits[PER_LOCK];
		int n, holder; /* -1: it is not known */
	} locks[LOCKS];
	struct synth *y;
	uint64_t t;
};

static void random_step(struct plain *p)
{
	int lock = rand() % LOCKS, task = rand() % PER_LOCK;
	struct plain_lock *l = &p->locks[lock];
	int pid = pid_of(lock, task), tid = tid_of(lock, task);

	p->t += (uint64_t)(rand() % 60 + 1) * MS;
	if (l->waits[task]) {
		synth_end(p->y, 0, p->t, pid, tid, LOCK(lock), rand() % 6 ? 0 : -4);
		l->holder = task;
	} else {
		synth_begin(p->y, 0, p->t, pid, tid, LOCK(lock), LCB_F_WRITE, NULL, 0);
	}
	l->waits[task] = !l->waits[task];
	l->n += l->waits[task] ? 1 : -1;
}

/* Some ticks have a look, which sees some queues. */
static void check_verdict(struct plain *p)
{
	struct locksnap s = {0};

	for (int i = 0; i < LOCKS; i++) {
		struct plain_lock *l = &p->locks[i];
		if (!l->n || l->holder < 0 || l->waits[l->holder] || rand() % 2)
			continue;
		const struct locksnap_queue q = {.addr = LOCK(i),
						 .type = LOCKSNAP_RWSEM,
						 .certainty = LOCKSNAP_SURE,
						 .holder_pid = pid_of(i, l->holder),
						 .holder_tid = tid_of(i, l->holder),
						 .holder_comm = locksnap_add_text(&s, "t"),
						 .holder_state = LOCKSNAP_RUNNING,
						 .writers_waiting = (uint32_t)l->n};
		lock_snap_name(&s, LOCK(i), LOCKSNAP_INODE, -1, pid_of(i, 0), "t", "/f", 0);
		for (int k = 0; k < PER_LOCK; k++)
			if (l->waits[k])
				lock_snap_waiter(&s, 1, pid_of(i, k), tid_of(i, k), "t", false);
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
	}
	lock_snap_emit(p->y, &s, p->t);
}

static struct query_verdict judge(struct asked *w, bool average)
{
	struct query_overview now;
	struct query_perf_sum perf = {0};
	struct query_rotation_sum rotation = {0};
	struct query_uprobe_sum uprobe = {0};
	const struct query_verdict_facts f = {.now = &now,
					      .perf = &perf,
					      .rotation = &rotation,
					      .uprobe = &uprobe,
					      .average = average};
	struct query_verdict v;

	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &now), 0);
	assert_int_equal(query_verdict(&w->q, &f, &v), 0);
	return v;
}

/* The number after a slash at @s or later; 0: there is none. */
static int next_task(const char **s)
{
	const char *slash = *s;

	while ((slash = strchr(slash, '/')) && !isdigit((unsigned char)slash[1]))
		slash++;
	if (!slash)
		return 0;
	*s = slash + 1;
	return atoi(*s);
}

static int lock_of(const struct asked *w, uint64_t id)
{
	uint64_t addr = w->q.model->locks->locks[lock_by_id(w->q.model->locks, id)].addr;

	return (int)((addr - LOCK(0)) / 0x100);
}

static void names_are_of_that_lock(const struct asked *w, const struct query_finding *f)
{
	const char *at = f->because;
	int seen[8], n = 0, task;

	while ((task = next_task(&at)) && n < 8) {
		if (task / 1000 != lock_of(w, f->lock) + 1)
			fail_msg("lock %d: '%s' because '%s'", lock_of(w, f->lock), f->text,
				 f->because);
		for (int i = 0; i < n; i++)
			if (seen[i] == task)
				fail_msg("twice: %s", f->because);
		seen[n++] = task;
	}
}

static void has_no_dash(const char *s)
{
	for (const char *d = s ? strchr(s, '-') : NULL; d; d = strchr(d + 1, '-'))
		if (!isalnum((unsigned char)d[1]))
			fail_msg("a dash: %s", s);
}

/* The tense matches the number of tasks that wait for that lock now. */
static void tense_is_right(const struct plain *p, const struct asked *w,
			   const struct query_finding *f, bool average)
{
	int n = f->lock ? p->locks[lock_of(w, f->lock)].n : 0;
	bool present = strstr(f->text, " wait for ") || strstr(f->text, " waits for ") ||
		       strstr(f->text, " has waited for ");

	if (present && !n)
		fail_msg("nothing waits: %s", f->text);
	if (f->because && strstr(f->because, "held ") && !n)
		fail_msg("nothing waits: %s, %s", f->text, f->because);
	if (!average && isdigit((unsigned char)f->text[0]) && present)
		assert_int_equal(atoi(f->text), n);
}

struct seen {
	unsigned held, caused, present, past;
};

static void check(const struct plain *p, struct asked *w, bool average, struct seen *seen)
{
	const struct query_verdict v = judge(w, average);

	assert_int_equal(v.more, v.n_findings ? v.n_findings - 1 : 0);
	for (uint32_t i = 0; i < v.n_findings; i++) {
		const struct query_finding *f = &v.findings[i];
		has_no_dash(f->text);
		has_no_dash(f->because);
		tense_is_right(p, w, f, average);
		seen->present += strstr(f->text, " waited for ") == NULL;
		seen->past += strstr(f->text, "tasks waited for ") != NULL;
		if (!f->because)
			continue;
		assert_true(f->lock != 0);
		names_are_of_that_lock(w, f);
		seen->held += strncmp(f->because, "held ", 5) == 0;
		seen->caused += strncmp(f->because, "because of ", 11) == 0;
	}
}

static void play(struct asked *w, struct plain *p)
{
	const struct record_host host = {.clock_ns = START, .cpus = 2, .cpus_online = 2};
	struct model_limits limits = model_limits_of(0);

	limits.held = limits.blame = 4096;
	rig_init(&w->rig, 1);
	*p = (struct plain){.y = w->rig.synth, .t = START};
	for (int i = 0; i < LOCKS; i++)
		p->locks[i].holder = -1;
	synth_record(p->y, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(p->y, START);
	for (int i = 0; i < TICKS; i++) {
		for (int k = rand() % STEPS; k >= 0; k--)
			random_step(p);
		p->t += MS;
		check_verdict(p);
		synth_tick(p->y, p->t);
	}
	asked_play(w, &limits);
}

static void says_what_is_so(void **state)
{
	struct seen seen = {0};
	struct plain p;

	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		void *w;
		srand(run);
		assert_int_equal(asked_setup_empty(&w), 0);
		play(w, &p);
		check(&p, w, false, &seen);
		check(&p, w, true, &seen);
		assert_int_equal(asked_teardown(&w), 0);
	}
	/* Each kind of sentence was there. */
	assert_true(seen.held > 5 && seen.caused > 5 && seen.present > 5 && seen.past > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(says_what_is_so)};

	return cmocka_run_group_tests_name("verdict-random", tests, NULL, NULL);
}
