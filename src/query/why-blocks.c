// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest sleeps of chosen tasks, each with the chain of those who ended it: the task that woke
 * it, and what that one did meanwhile, back to one that slept for no other task. The model has the
 * tasks; whether one of them woke the next, or an interrupt that came while it ran, is known from
 * the call chain of the wakeup: there the chain ends.
 */
#include "blocked-rows.h"
#include "group.h"
#include "internal.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/query-why.h"
#include "kontend/units.h"
#include "names/names.h"
#include "rows.h"
#include "why.h"

#include <errno.h>

static const char *lock_name(struct query *q, uint32_t lock)
{
	return lock ? query_lock_name(q, lock - 1) : NULL;
}

static const char *holder_name(struct query *q, const struct runs_pause *p)
{
	const struct runs_who *h = &p->holder;

	return h->tid ? query_slash(&q->arena, query_in_words(q, h->comm), h->tid, "-") : NULL;
}

/* Has the task that had the lock woken it? A process has the lock of a file, with all threads. */
static bool is_holder(const struct query *q, const struct runs_pause *p)
{
	if (!p->holder.tid)
		return false;
	return locktype_is_file(q->model->locks->locks[p->lock - 1].type)
		       ? p->holder.pid == p->waker.pid
		       : p->holder.tid == p->waker.tid;
}

const char *query_why_ended(struct query *q, const char *holder, bool is_holder, const char *end)
{
	return is_holder ? arena_printf(&q->arena, "held and ended by %s", end)
	       : holder	 ? arena_printf(&q->arena, "held by %s, ended by %s", holder, end)
			 : arena_printf(&q->arena, "ended by %s", end);
}

static void fill_link(struct why_stacks *s, const struct runs_link *l, struct query_why_link *ret)
{
	const struct runs_who *who = &s->of->tasks[l->task].who;
	const struct runs_pause *p = &l->longest;

	*ret = (struct query_why_link){
		.task = query_slash(&s->q->arena, query_in_words(s->q, who->comm), who->tid, "-"),
		.pid = taskid_number(who->pid),
		.tid = taskid_number(who->tid),
		.comm = query_in_words(s->q, who->comm),
		.all_ns = l->all_ns,
		.slept_ns = l->slept_ns,
		.ready_ns = l->ready_ns,
		.ran_ns = l->all_ns - l->slept_ns - l->ready_ns,
	};
	if (!p->off_ns)
		return;
	ret->longest_ns = runs_slept_ns(p);
	ret->cause = why_cause_text(s, why_cause(s, p->stack, p->state, p->lock), p->lock);
	ret->lock = lock_name(s->q, p->lock);
	ret->holder = holder_name(s->q, p);
	ret->is_holder = is_holder(s->q, p);
	ret->sleeps_in = why_sleeps_in(s, p->stack);
	ret->end = why_end_text(s, p->waker_stack, &p->waker);
	const struct query_origin *o = query_run_origin(s->q, s->of, p->stack);
	ret->syscall = o->syscall;
	ret->at = o->at;
	const char *why;
	ret->on = why_on(s, p->on, &why);
}

/* The end of the chain, in words. */
static const char *end_of_chain(struct why_stacks *s, const struct runs_chain *c, uint32_t n,
				enum why_end last, const struct runs_who *waker)
{
	if (last != WHY_END_TASK)
		return "it ends with an interrupt or a timer";
	if (n < c->n || n == RUNS_LINKS)
		return "it is longer, and cut here";
	if (c->not_followed)
		return arena_printf(&s->q->arena, "%s was not followed yet",
				    why_end_text(s, 0, waker));
	return "the last task did not sleep";
}

static int fill_chain(struct why_stacks *s, const struct runs_pause *p, const struct runs_chain *c,
		      struct query_why_block *ret)
{
	struct query_why_link *links = arena_alloc(&s->q->arena, (c->n + 1) * sizeof(*links));
	enum why_end end = why_end_of(s, p->waker_stack, p->waker.tid);
	const struct runs_who *waker = &p->waker;
	uint32_t n = 0;

	if (!links)
		return -ENOMEM;
	while (n < c->n && end == WHY_END_TASK) {
		const struct runs_pause *slept = &c->links[n].longest;
		fill_link(s, &c->links[n], &links[n]);
		n++;
		if (!slept->off_ns)
			break;
		end = why_end_of(s, slept->waker_stack, slept->waker.tid);
		waker = &slept->waker;
	}
	ret->links = links;
	ret->n_links = n;
	ret->chain_end = end_of_chain(s, c, n, end, waker);
	return 0;
}

static int describe(struct why_stacks *s, const struct runs_pause *p, const struct runs_chain *c,
		    struct query_why_block *ret)
{
	const struct runs_who *who = &s->of->tasks[p->task].who;
	struct query *q = s->q;

	*ret = (struct query_why_block){
		.begin_ns = p->off_ns,
		.length_ns = runs_slept_ns(p),
		.at_ns = p->off_ns > q->model->start_ns ? p->off_ns - q->model->start_ns : 0,
		.task = query_slash(&q->arena, query_in_words(q, who->comm), who->tid, "-"),
		.pid = taskid_number(who->pid),
		.tid = taskid_number(who->tid),
		.comm = query_in_words(q, who->comm),
		.cause = why_cause_text(s, why_cause(s, p->stack, p->state, p->lock), p->lock),
		.lock = lock_name(q, p->lock),
		.holder = holder_name(q, p),
		.is_holder = is_holder(q, p),
		.sleeps_in = why_sleeps_in(s, p->stack),
		.end = why_end_text(s, p->waker_stack, &p->waker),
	};
	const struct query_origin *o = query_run_origin(q, s->of, p->stack);
	ret->syscall = o->syscall;
	ret->syscall_why = o->syscall_why;
	ret->at = o->at;
	ret->at_why = o->at_why;
	ret->on = why_on(s, p->on, &ret->on_why);
	if (p->waker.tid > 0 && why_end_of(s, p->waker_stack, p->waker.tid) == WHY_END_TASK) {
		ret->waker_pid = taskid_number(p->waker.pid);
		ret->waker_tid = taskid_number(p->waker.tid);
		ret->waker_comm = query_in_words(q, p->waker.comm);
	}
	return fill_chain(s, p, c, ret);
}

static bool is_wanted(const struct runs_task *t, int32_t tid)
{
	return tid ? t->who.tid == tid : t->is_chosen;
}

/* Of those that are kept: a window, or one task. */
static int from_kept(struct why_stacks *s, int32_t tid, uint64_t begin_ns,
		     struct query_why_block *list, size_t *ret_n)
{
	const struct runs *r = s->of;
	struct runs_block *best = arena_alloc(&s->q->arena, RUNS_LONGEST * sizeof(*best));
	uint32_t n = 0;
	int code = best ? 0 : -ENOMEM;

	for (uint32_t i = r->n_kept > RUNS_KEPT ? r->n_kept - RUNS_KEPT : 0; best && i < r->n_kept;
	     i++) {
		const struct runs_pause *p = runs_at(r, i + 1);
		if (p && p->woken_ns > begin_ns && is_wanted(&r->tasks[p->task], tid))
			runs_longest_slot(best, &n, p);
	}
	for (uint32_t i = 0; code == 0 && i < n; i++) {
		runs_chain(r, &best[i].pause, &best[i].chain);
		code = describe(s, &best[i].pause, &best[i].chain, &list[i]);
	}
	*ret_n = n;
	return code;
}

int query_why_blocks(struct query *q, int32_t tid, const struct query_why_block **ret,
		     size_t *ret_n)
{
	const struct runs *r = q->engine->model->runs;
	struct query_why_block *list = arena_alloc(&q->arena, RUNS_LONGEST * sizeof(*list));
	struct why_stacks s;
	size_t n = 0;
	int code = query_sync(q) < 0 || !list ? -ENOMEM : query_run_origins_load(q, r);

	code = code < 0 ? code : why_stacks_init(&s, q);

	if (code == 0 && (tid || query_has_window(q)))
		code = from_kept(&s, tid, query_window_begin(q), list, &n);
	else
		for (; code == 0 && n < r->n_longest; n++)
			code = describe(&s, &r->longest[n].pause, &r->longest[n].chain, &list[n]);
	*ret = list;
	*ret_n = code == 0 ? n : 0;
	return code < 0 || q->cache->failed ? -ENOMEM : 0;
}

const char *query_why_place(struct query *q, const char *syscall, const char *on, const char *at)
{
	if (!syscall && !at)
		return NULL;
	return arena_printf(&q->arena, "%s%s%s%s%s", syscall ? syscall : "", on ? " on " : "",
			    on ? on : "",
			    !at	      ? ""
			    : syscall ? " at "
				      : "at ",
			    at ? at : "");
}

const char *query_why_link_text(struct query *q, const struct query_why_link *l)
{
	char all[UNITS_BUF], ns[UNITS_BUF], ready[UNITS_BUF] = "";
	const bool slept = l->longest_ns != 0;
	const char *waited =
		l->ready_ns > l->all_ns / 20
			? arena_printf(&q->arena, ", runnable %s", units_ns(ready, l->ready_ns))
			: "";

	units_ns(all, l->all_ns);
	units_ns(ns, slept ? l->slept_ns : l->ran_ns);
	return arena_printf(&q->arena, "%s: %s %s%s of %s%s%s%s%s", l->task,
			    slept ? "blocked" : "ran", ns, waited ? waited : "", all,
			    slept ? ": " : "", slept ? l->cause : "", slept && l->lock ? " " : "",
			    slept && l->lock ? l->lock : "");
}
