// SPDX-License-Identifier: GPL-2.0-only
/*
 * A set of triggers watches the events of an engine. For most events a few comparisons are enough
 * for the whole set: was the wait that ends longer than the lowest limit, does a rate count it, is
 * it time to evaluate lasting conditions (trigger-state.c). Everything else happens when a trigger
 * fires. A screen that is paused goes back and replays the same events: events that were judged
 * once are not judged again.
 */
#include "kontend/mem.h"
#include "kontend/query-caught.h"
#include "kontend/rotation.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "trigger-int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COOLDOWN_NS 1000000000ull

/* Is the trigger about the duration of such a wait? If it is about tasks in D, they must have
 * slept. */
static bool is_about_length(const struct trigger *tr, const struct wait *w)
{
	return tr->x.kind == TRIGGER_WAIT ||
	       (tr->x.kind == TRIGGER_BLOCKED && !tr->x.no_waits && !(w->flags & LCB_F_SPIN));
}

static void breaks(struct triggers *t, const struct wait *w, bool ends)
{
	for (size_t i = 0; t->breaks && i < t->n; i++)
		trigger_waits_changed(t, &t->all[i], w, ends);
}

static void pulse(struct triggers *t, struct trigger *tr, const struct wait *w)
{
	uint64_t ns = t->now_ns - w->begin_ns;

	trigger_wait_ended(t, tr,
			   &(struct found){.value = ns,
					   .begin_ns = w->begin_ns,
					   .end_ns = t->now_ns,
					   .worst = w,
					   .worst_ns = ns});
}

/* A mutex waiter begins to spin again: until now its task has slept. */
static void slept(struct triggers *t, const struct wait *w)
{
	uint64_t ns = t->now_ns - w->begin_ns;

	if (w->doubtful || ns <= t->least_ns)
		return;
	for (size_t i = 0; i < t->n; i++) {
		struct trigger *tr = &t->all[i];
		if (tr->x.kind == TRIGGER_BLOCKED && !tr->x.no_waits && ns > tr->x.limit &&
		    filter_cache_has(&tr->meant, t->engine->model, w))
			pulse(t, tr, w);
	}
}

/* Called again when a wait in flight changes, for example from spinning to sleeping. */
static void wait_began(struct triggers *t, const struct wait *w)
{
	bool goes_on = w->begin_ns < t->now_ns;
	bool spins = w->flags & LCB_F_SPIN && w->flags & LCB_F_MUTEX;

	if (!goes_on)
		breaks(t, w, false);
	else if (spins && t->blocked)
		slept(t, w);
}

static void wait_ended(struct triggers *t, const struct wait *w)
{
	const struct model *m = t->engine->model;
	uint64_t ns = t->now_ns > w->begin_ns ? t->now_ns - w->begin_ns : 0;

	if (w->doubtful || (ns <= t->least_ns && !t->rates && !t->breaks))
		return;
	breaks(t, w, true);
	for (size_t i = 0; i < t->n; i++) {
		struct trigger *tr = &t->all[i];
		bool is_long = is_about_length(tr, w) && ns > tr->x.limit;
		bool counts = tr->rate && tr->x.kind != TRIGGER_LOST;
		if ((!is_long && !counts) || !filter_cache_has(&tr->meant, m, w))
			continue;
		if (is_long)
			pulse(t, tr, w);
		else if (tr->x.kind == TRIGGER_WAITS_S)
			rate_add(tr->rate, t->now_ns, 1);
		else
			rate_add_span(tr->rate,
				      w->begin_ns > t->checked_ns ? w->begin_ns : t->checked_ns,
				      t->now_ns);
	}
}

static void rotated(struct triggers *t, const struct expiry *x, const struct event *ev)
{
	const struct rotation *r = t->engine->model->rotation;
	uint64_t ns = ev->time - x->ns;
	char text[64];

	if (x->timer != ev->timer.timer || !x->ns || ev->time < x->ns || x->ns < r->lost_until)
		return;
	for (size_t i = 0; i < t->n; i++) {
		struct trigger *tr = &t->all[i];
		const uint32_t *at = map64_get(&r->by_timer, x->timer);
		if (tr->x.kind != TRIGGER_ROTATION || ns <= tr->x.limit || !at ||
		    !query_caught_rotates(&t->q, r->timers[*at].function))
			continue;
		char buf[UNITS_BUF];
		snprintf(text, sizeof(text), "%s on CPU %u", units_ns(buf, ns), ev->cpu);
		trigger_pulse(
			t, tr,
			&(struct found){
				.value = ns, .begin_ns = x->ns, .end_ns = ev->time, .text = text});
	}
}

static void take_timer(struct triggers *t, const struct event *ev)
{
	struct expiry *x = &t->expiries[ev->cpu % ENTRIES];

	if (ev->kind == EVENT_TIMER_ENTRY) {
		*x = (struct expiry){ev->timer.timer, ev->time};
		return;
	}
	rotated(t, x, ev);
	*x = (struct expiry){0};
}

static int take_event(struct engine_watch *w, const struct event *ev, struct error *err)
{
	struct triggers *t = (struct triggers *)w;
	const struct model *m = t->engine->model;

	(void)err;
	if (ev->time < t->now_ns)
		return 0;
	t->now_ns = ev->time;
	if (!t->checked_ns)
		t->checked_ns = ev->time;
	if (event_ends_wait(ev) && m->last_wait)
		wait_ended(t, &m->waits->waits[m->last_wait]);
	else if (ev->kind == EVENT_CONTENTION_BEGIN && m->last_wait && (t->breaks || t->blocked))
		wait_began(t, &m->waits->waits[m->last_wait]);
	else if (t->rotation && (ev->kind == EVENT_TIMER_ENTRY || ev->kind == EVENT_TIMER_EXIT))
		take_timer(t, ev);
	if (ev->time >= t->next_ns)
		triggers_check_levels(t);
	return 0;
}

static void take_passed(struct engine_watch *w, uint64_t time_ns)
{
	struct triggers *t = (struct triggers *)w;

	if (time_ns < t->now_ns || time_ns < t->next_ns)
		return;
	t->now_ns = time_ns;
	if (!t->checked_ns)
		t->checked_ns = time_ns;
	triggers_check_levels(t);
}

static int new_trigger(struct triggers *t, struct trigger *tr, const char *text, struct error *err)
{
	static const char *const asleep =
		"world=kernel !type=spinlock !type=rwlock !stack:_interruptible";
	char *filter = NULL;
	int r = trigger_parse(text, &tr->x, err);

	if (r < 0)
		return r;
	/* Tasks in an interruptible sleep are not in D: those that wait for locks of programs or
	 * files, and others, whose calls have that in their names. */
	if (tr->x.kind == TRIGGER_BLOCKED) {
		filter = mem_join(asleep, " ");
		char *both = filter ? mem_join(filter, tr->x.filter ? tr->x.filter : "") : NULL;
		mem_free(filter);
		mem_free(tr->x.filter);
		tr->x.filter = both;
		if (!both)
			return error_enomem(err, "a trigger");
	}
	tr->text = mem_strdup(text);
	if (tr->x.kind == TRIGGER_WAIT_S || tr->x.kind == TRIGGER_WAITS_S ||
	    tr->x.kind == TRIGGER_LOST) {
		tr->rate = mem_calloc(1, sizeof(*tr->rate));
		r = tr->rate ? 0 : -ENOMEM;
	}
	if (tr->x.kind == TRIGGER_BLOCKED || tr->x.kind == TRIGGER_HUNG) {
		tr->asleep = mem_calloc(1, sizeof(*tr->asleep));
		r = tr->asleep ? 0 : -ENOMEM;
	}
	if (r < 0 || !tr->text)
		return error_enomem(err, "a trigger");
	t->rates |= tr->rate && tr->x.kind != TRIGGER_LOST;
	t->rotation |= tr->x.kind == TRIGGER_ROTATION;
	t->breaks |= tr->x.kind == TRIGGER_WAITING && tr->x.for_ns;
	t->blocked |= tr->x.kind == TRIGGER_BLOCKED && !tr->x.no_waits;
	if ((tr->x.kind == TRIGGER_WAIT || (tr->x.kind == TRIGGER_BLOCKED && !tr->x.no_waits)) &&
	    tr->x.limit < t->least_ns)
		t->least_ns = tr->x.limit;
	return filter_cache_init(&tr->meant, t->engine, tr->x.filter, err);
}

int triggers_new(struct triggers **ret, struct engine *e, const char *const *exprs, size_t n,
		 struct error *err)
{
	struct triggers *t;
	int r = 0;

	if (n > TRIGGERS_MOST)
		return error_set(err, -EINVAL, "Cannot watch for %zu triggers: at most %d", n,
				 TRIGGERS_MOST);
	t = mem_calloc(1, sizeof(*t));
	if (!t)
		return error_enomem(err, "triggers");
	t->watch.event = take_event;
	t->watch.passed = take_passed;
	t->engine = e;
	t->least_ns = UINT64_MAX;
	t->cooldown_ns = COOLDOWN_NS;
	t->all = mem_calloc(n ? n : 1, sizeof(*t->all));
	if (!t->all || query_init(&t->q, e) < 0)
		r = error_enomem(err, "triggers");
	for (; r == 0 && t->n < n; t->n++)
		r = new_trigger(t, &t->all[t->n], exprs[t->n], err);
	t->watch.next = e->watch;
	e->watch = &t->watch;
	if (r < 0)
		triggers_free(t);
	else
		*ret = t;
	return r;
}

static void unlist(struct triggers *t)
{
	struct engine_watch **at = &t->engine->watch;

	while (*at && *at != &t->watch)
		at = &(*at)->next;
	if (*at)
		*at = t->watch.next;
}

void triggers_free(struct triggers *t)
{
	if (!t)
		return;
	unlist(t);
	for (size_t i = 0; t->all && i < t->n; i++) {
		filter_cache_deinit(&t->all[i].meant);
		trigger_expr_deinit(&t->all[i].x);
		mem_free(t->all[i].asleep);
		mem_free(t->all[i].text);
		mem_free(t->all[i].rate);
	}
	mem_free(t->all);
	if (t->q.cache)
		query_deinit(&t->q);
	mem_free(t);
}

void triggers_cooldown(struct triggers *t, uint64_t ns)
{
	t->cooldown_ns = ns;
}

int triggers_next(struct triggers *t, struct incident *ret, struct error *err)
{
	(void)err;
	if (t->n_put == t->n_taken)
		return 0;
	*ret = t->queue[t->n_taken++ % TRIGGERS_QUEUED];
	return 1;
}

struct triggers_count triggers_count(const struct triggers *t)
{
	return t->count;
}
