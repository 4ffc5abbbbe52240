// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trigger fires when its condition becomes true, and its incident is made at that moment, as its
 * facts may be gone later: a wait that ended, the holder of its lock. Until the trigger fires
 * again, `last` follows the condition. Incidents wait in a queue for the caller; the queue is
 * bounded, and the cooldown bounds the cost of making them. An incident whose trigger fires again
 * while it is in the queue is changed there; of those that the caller took only the latest can
 * still be in progress, and `before` keeps its final state, however often the trigger has fired
 * since.
 */
#include "kontend/query-caught.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "trigger-int.h"

#include <stdio.h>
#include <string.h>

static const char *value_text(enum trigger_kind k, uint64_t value, char buf[UNITS_BUF])
{
	char number[UNITS_BUF];

	switch (k) {
	case TRIGGER_WAIT:
	case TRIGGER_BLOCKED:
	case TRIGGER_HUNG:
	case TRIGGER_ROTATION:
		return units_ns(buf, value);
	case TRIGGER_WAIT_S:
		units_tasks(number, (double)value);
		snprintf(buf, UNITS_BUF, "%.*s tasks", UNITS_BUF - 8, number);
		return buf;
	default:
		return units_count(buf, value);
	}
}

/* "wait 312ms", "waiting 34", "slots: 4 of 4 breakpoint slots of CPU 1" */
static void say_fired(const struct trigger *tr, const struct found *f, struct incident *in)
{
	char buf[UNITS_BUF], text[sizeof(in->fired)];
	struct textbuf b = textbuf_make(text, sizeof(text));

	textbuf_str(&b, trigger_name(tr->x.kind));
	textbuf_str(&b, f->text ? ": " : " ");
	textbuf_str(&b, f->text ? f->text : value_text(tr->x.kind, f->value, buf));
	text_clean(in->fired, sizeof(in->fired), textbuf_end(&b));
}

/* The task that waits, and the holder that it waits for. */
static void say_wait(struct triggers *t, struct trigger *tr, const struct wait *w)
{
	struct incident *in = &tr->last;
	struct query_caught c;

	query_begin(&t->q);
	tr->looks = t->engine->model->n_snapshots[SNAPSHOT_LOCKS];
	in->lock = w->addr;
	if (query_caught(&t->q, w, &c) < 0)
		return;
	in->pid = c.pid;
	in->tid = c.tid;
	in->holder_pid = c.holder_pid;
	in->holder_tid = c.holder_tid;
	text_clean(in->lock_name, sizeof(in->lock_name), c.lock);
	text_clean(in->task, sizeof(in->task), c.task);
	text_clean(in->because, sizeof(in->because), c.because);
	text_clean(in->syscall, sizeof(in->syscall), c.syscall);
	text_clean(in->on, sizeof(in->on), c.on);
	text_clean(in->at, sizeof(in->at), c.at);
	if (*c.chain)
		text_clean(in->chain, sizeof(in->chain), c.chain);
	tr->said = *c.because;
}

/* The task that sleeps, and the one because of which. */
static void say_task(struct trigger *tr, const struct query_caught_task *task)
{
	struct incident *in = &tr->last;

	in->pid = task->pid;
	in->tid = task->tid;
	in->holder_pid = task->by_pid;
	in->holder_tid = task->by_tid;
	text_clean(in->task, sizeof(in->task), task->comm);
	text_clean(in->because, sizeof(in->because), task->because);
	text_clean(in->chain, sizeof(in->chain), task->chain);
}

static void put_fired(struct triggers *t, struct trigger *tr)
{
	tr->nth = 0;
	if (t->n_put - t->n_taken == TRIGGERS_QUEUED) {
		t->count.lost++;
		return;
	}
	t->queue[t->n_put % TRIGGERS_QUEUED] = tr->last;
	tr->nth = ++t->n_put;
	t->count.fired++;
}

/* An incident in the queue is updated to its current state. */
static void put_again(struct triggers *t, const struct trigger *tr)
{
	if (tr->nth > t->n_taken)
		t->queue[(tr->nth - 1) % TRIGGERS_QUEUED] = tr->last;
}

static void fire(struct triggers *t, struct trigger *tr, const struct found *f)
{
	struct incident *in = &tr->last;

	/* The caller asks later about an incident that it took; others are complete in the
	 * queue. */
	if (tr->nth && tr->nth <= t->n_taken)
		tr->before = *in;
	*in = (struct incident){.fired_ns = t->now_ns,
				.begin_ns = f->begin_ns && f->begin_ns < t->now_ns ? f->begin_ns
										   : t->now_ns,
				.end_ns = f->end_ns,
				.worst_ns = f->worst_ns,
				.value = f->value,
				.trigger = (uint32_t)(tr - t->all)};
	text_clean(in->expr, sizeof(in->expr), tr->text);
	say_fired(tr, f, in);
	tr->said = false;
	tr->silent_ns = t->now_ns + t->cooldown_ns;
	if (f->worst)
		say_wait(t, tr, f->worst);
	if (f->task)
		say_task(tr, f->task);
	put_fired(t, tr);
}

static void follow_wait(struct triggers *t, struct trigger *tr, const struct found *f)
{
	struct incident *in = &tr->last;
	bool looked = tr->looks != t->engine->model->n_snapshots[SNAPSHOT_LOCKS];

	/* Looks names up only if they can be others, or if there may be a holder to blame. */
	if (f->worst->addr != in->lock ? f->worst_ns > in->worst_ns : !tr->said && looked)
		say_wait(t, tr, f->worst);
	if (f->worst_ns > in->worst_ns)
		in->worst_ns = f->worst_ns;
}

/* The condition is still true or true again soon: `last` describes the longest wait of both
 * times. */
static void follow(struct triggers *t, struct trigger *tr, const struct found *f)
{
	tr->last.end_ns = f->end_ns;
	if (f->value > tr->last.value)
		tr->last.value = f->value;
	if (f->worst)
		follow_wait(t, tr, f);
	else if (f->worst_ns > tr->last.worst_ns)
		tr->last.worst_ns = f->worst_ns;
	put_again(t, tr);
}

static void gets_true(struct triggers *t, struct trigger *tr, const struct found *f)
{
	if (tr->on) {
		follow(t, tr, f);
		return;
	}
	tr->on = true;
	if (t->now_ns >= tr->silent_ns) {
		fire(t, tr, f);
		return;
	}
	t->count.again++;
	tr->last.more += tr->last.more < UINT32_MAX;
	follow(t, tr, f);
}

void trigger_true(struct triggers *t, struct trigger *tr, const struct found *f)
{
	struct found since = *f;

	if (!tr->since_ns)
		tr->since_ns = t->now_ns;
	if (t->now_ns - tr->since_ns < tr->x.for_ns)
		return;
	if (tr->x.for_ns && !since.worst)
		since.begin_ns = tr->since_ns;
	gets_true(t, tr, &since);
}

void trigger_false(struct triggers *t, struct trigger *tr)
{
	tr->since_ns = 0;
	if (!tr->on)
		return;
	tr->on = false;
	if (!tr->last.end_ns)
		tr->last.end_ns = t->now_ns;
	put_again(t, tr);
}

bool trigger_other(struct triggers *t, struct trigger *tr, const struct found *f)
{
	tr->on = true;
	if (t->now_ns >= tr->silent_ns) {
		fire(t, tr, f);
		return true;
	}
	t->count.again++;
	tr->last.more += tr->last.more < UINT32_MAX;
	put_again(t, tr);
	return false;
}

void trigger_pulse(struct triggers *t, struct trigger *tr, const struct found *f)
{
	gets_true(t, tr, f);
}

bool triggers_follow(struct triggers *t, struct incident *in)
{
	if (in->trigger >= t->n)
		return false;
	const struct trigger *tr = &t->all[in->trigger];
	const struct incident *last = &tr->last;
	bool is_last = last->fired_ns == in->fired_ns;
	if (!is_last && tr->before.fired_ns != in->fired_ns)
		return false;
	last = is_last ? last : &tr->before;
	uint64_t from = in->from_ns, to = in->to_ns;
	uint32_t flags = in->flags;
	*in = *last;
	in->from_ns = from;
	in->to_ns = to;
	in->flags = flags;
	return is_last && tr->on && !last->end_ns;
}
