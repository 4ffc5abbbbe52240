// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers about tasks in state D. Waits for locks are judged by events, as those of other
 * triggers; all other sleeps by each new snapshot of the tasks. Each sleep makes one incident:
 * those that a snapshot shows to be too long for the first time make one together, about the
 * longest of them, also while an earlier one goes on. So a task that hangs for ever hides no other.
 */
#include "kontend/query-caught.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "trigger-int.h"

/* It has not run since it was seen. */
static bool is_same(const struct asleep *a, const struct query_caught_task *t)
{
	return a->tid == t->tid && t->ran_ns < a->seen_ns;
}

static bool is_known(const struct asleep_now *a, const struct query_caught_task *t)
{
	for (size_t i = 0; i < a->n_known; i++)
		if (is_same(&a->known[i], t))
			return true;
	return false;
}

/* Those of before that are still there, and with @all the others, too. */
static void keep(struct asleep_now *a, const struct query_caught_task *tasks, size_t n, bool all)
{
	struct asleep_now old = *a;

	a->n = n;
	a->n_known = 0;
	for (size_t i = 0; i < n && a->n_known < ASLEEP_MOST; i++)
		if (all || is_known(&old, &tasks[i]))
			a->known[a->n_known++] = (struct asleep){tasks[i].tid, tasks[i].seen_ns};
}

/* "2.3s, for jbd2 commit vda1" */
static bool fire(struct triggers *t, struct trigger *tr, struct query_caught_task *task)
{
	char ns[UNITS_BUF];
	struct found f = {.value = task->slept_ns,
			  .begin_ns = t->now_ns > task->slept_ns ? t->now_ns - task->slept_ns : 0,
			  .worst_ns = task->slept_ns,
			  .task = task};

	query_caught_chain(&t->q, task);
	f.text = arena_printf(&t->q.arena, "%s, for %s", units_ns(ns, task->slept_ns), task->cause);
	if (!trigger_other(t, tr, &f))
		return false;
	tr->asleep->last = (struct asleep){task->tid, task->seen_ns};
	return true;
}

/* The first snapshot that has a wait from before is only compared with events after that. */
static void add_chain(struct triggers *t, struct trigger *tr, struct query_caught_task *task)
{
	if (*tr->last.chain)
		return;
	query_caught_chain(&t->q, task);
	text_clean(tr->last.chain, sizeof(tr->last.chain), task->chain);
}

/* How the incident continues, if it is about one of the tasks. */
static void follow(struct triggers *t, struct trigger *tr, struct query_caught_task *tasks,
		   size_t n)
{
	struct found f = {.end_ns = t->now_ns};

	if (!tr->asleep->last.tid || tr->last.end_ns)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!is_same(&tr->asleep->last, &tasks[i]))
			continue;
		f = (struct found){.value = tasks[i].slept_ns, .worst_ns = tasks[i].slept_ns};
		add_chain(t, tr, &tasks[i]);
	}
	trigger_true(t, tr, &f);
}

/* While the trigger is silent new sleeps wait for their incident. */
static void take_snapshot(struct triggers *t, struct trigger *tr)
{
	struct query_caught_task *tasks, *longest = NULL;
	bool fired = false;
	size_t n;

	query_begin(&t->q);
	if (tr->x.no_tasks ||
	    query_caught_blocked(&t->q, tr->x.limit, tr->x.tasks,
				 tr->x.kind == TRIGGER_HUNG || tr->x.no_waits, &tasks, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (!is_known(tr->asleep, &tasks[i]) &&
		    (!longest || tasks[i].slept_ns > longest->slept_ns))
			longest = &tasks[i];
	if (longest && t->now_ns >= tr->silent_ns)
		fired = fire(t, tr, longest);
	keep(tr->asleep, tasks, n, fired);
	follow(t, tr, tasks, n);
}

void trigger_wait_ended(struct triggers *t, struct trigger *tr, const struct found *f)
{
	struct asleep_now *a = tr->asleep;

	if (!a || !a->last.tid)
		trigger_pulse(t, tr, f);
	else if (!a->waits && trigger_other(t, tr, f))
		a->last = (struct asleep){0};
}

static void check_waits(struct triggers *t, struct trigger *tr)
{
	struct asleep_now *a = tr->asleep;
	struct found f = {0};
	bool before = a->waits;

	a->waits =
		tr->x.kind == TRIGGER_BLOCKED && !tr->x.no_waits && trigger_find_longest(t, tr, &f);
	if (a->waits && !a->last.tid)
		trigger_true(t, tr, &f);
	else if (a->waits && !before && trigger_other(t, tr, &f))
		a->last = (struct asleep){0};
	else if (!a->waits && before && !a->last.tid && tr->on && !tr->last.end_ns)
		trigger_true(t, tr, &(struct found){.end_ns = t->now_ns});
}

void trigger_check_tasks(struct triggers *t, struct trigger *tr, bool looked)
{
	check_waits(t, tr);
	if (looked)
		take_snapshot(t, tr);
	if (tr->asleep->waits || tr->asleep->n)
		return;
	trigger_false(t, tr);
	tr->asleep->last = (struct asleep){0};
}
