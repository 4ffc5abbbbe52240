// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders and waiters of contended locks, from the latest lock snapshot. It is taken a moment after
 * the tick that it is shown for: a task that waits by the events up to the tick may have got the
 * lock by then. The model knows its waits that no event reports.
 */
#include "queues.h"
#include "../internal.h"
#include "../snapshots.h"
#include "kontend/blame.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "sched.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A task that runs when a snapshot is taken has had a sample not much longer ago. */
static const uint64_t SAMPLE_NS = 100000000;

struct query_queue_cache {
	struct locksnap snap;
	struct query_decoded of;
};

void query_queues_deinit(struct query *q)
{
	if (q->queues)
		locksnap_deinit(&q->queues->snap);
	mem_free(q->queues);
	q->queues = NULL;
}

int query_queues_init(struct query *q)
{
	q->queues = mem_calloc(1, sizeof(*q->queues));
	return q->queues ? 0 : -ENOMEM;
}

const struct locksnap *query_queues(struct query *q)
{
	struct query_queue_cache *c = q->queues;
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_LOCKS);

	return query_decode(q, &c->of, &locksnap_sections, &c->snap, s) ? &c->snap : NULL;
}

const struct locksnap_queue *query_queue_at(struct query *q, uint64_t addr)
{
	const struct locksnap *s = query_queues(q);

	for (size_t i = 0; s && i < s->n_queues; i++)
		if (s->queues[i].addr == addr)
			return &s->queues[i];
	return NULL;
}

const struct locksnap_waiter *query_queue_waiter(struct query *q,
						 const struct locksnap_queue *queue, int32_t tid)
{
	const struct locksnap *s = query_queues(q);

	for (size_t i = 0; s && i < s->n_waiters; i++)
		if (&s->queues[s->waiters[i].queue] == queue && s->waiters[i].tid == tid)
			return &s->waiters[i];
	return NULL;
}

const char *query_queue_holder(struct query *q, const struct locksnap_queue *queue)
{
	const struct locksnap *s = query_queues(q);

	if (!s || queue->certainty == LOCKSNAP_NOBODY || !queue->holder_tid)
		return NULL;
	const char *comm = locksnap_text(s, queue->holder_comm);
	const char *mode = queue->type == LOCKSNAP_USER_RWLOCK				   ? " W"
			   : queue->type >= LOCKSNAP_USER_MUTEX				   ? ""
			   : queue->certainty != LOCKSNAP_SURE				   ? " R?"
			   : queue->type == LOCKSNAP_RWSEM || queue->type == LOCKSNAP_PCPU ? " W"
											   : "";
	if (queue->type == LOCKSNAP_SEM ||
	    (locksnap_is_file(queue) && queue->certainty != LOCKSNAP_SURE))
		mode = "?";
	return arena_printf(&q->arena, "%s%s", query_slash(&q->arena, comm, queue->holder_tid, "-"),
			    mode);
}

const char *query_queue_certainty(const struct locksnap_queue *queue)
{
	if (queue->certainty == LOCKSNAP_NOBODY || !queue->holder_tid)
		return NULL;
	if (queue->certainty == LOCKSNAP_EVIDENCE)
		return "evidence";
	return queue->certainty == LOCKSNAP_SURE ? "sure" : "hint";
}

static const char *const state_names[LOCKSNAP_STATES] = {
	[LOCKSNAP_RUNNING] = "running",
	[LOCKSNAP_RUNNABLE] = "runnable",
	[LOCKSNAP_ASLEEP] = "asleep",
};

const char *query_queue_state(const struct locksnap_queue *queue)
{
	return query_queue_certainty(queue) ? state_names[queue->holder_state] : NULL;
}

/* Skips functions that every sleeper passes, and those of probes on the scheduler. */
static bool is_schedule(const char *name)
{
	static const char *const prefixes[] = {"schedule", "__schedule", "preempt_schedule",
					       "__traceiter_", "__bpf_trace_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

uint32_t query_sleeps_in(struct query *q, const uint64_t *frames, uint32_t n)
{
	uint32_t func = 0;

	for (uint32_t i = 0; i < n; i++) {
		func = query_func(q, frames[i]);
		const char *name = query_func_name(q, func);
		if (name && !is_schedule(name))
			break;
	}
	return func;
}

static const char *sleeps_in(struct query *q, const uint64_t *frames, uint32_t n)
{
	return query_func_name(q, query_sleeps_in(q, frames, n));
}

const char *query_queue_function(struct query *q, const struct locksnap_queue *queue)
{
	const struct locksnap *s = query_queues(q);

	if (!s || queue->holder_state != LOCKSNAP_ASLEEP || !query_queue_certainty(queue))
		return NULL;
	return sleeps_in(q, s->frames + queue->holder_frame, queue->holder_n_frames);
}

const char *query_queue_last_function(struct query *q, int32_t tid)
{
	const struct lockname_holder *h =
		q->model->lock_names ? lockname_holder(q->model->lock_names, tid) : NULL;

	return h ? sleeps_in(q, h->frames, h->n_frames) : NULL;
}

void query_spot_of(struct query *q, uint32_t stack, struct query_spot *ret)
{
	const struct stack_table *t = q->model->stacks;

	*ret = (struct query_spot){0};
	if (stack == STACK_OTHER || stack >= t->n || !t->stacks[stack].n)
		return;
	const uint64_t *frames = stack_frames(t, stack);
	if (map_frame_is_mark(frames[0]))
		return;
	ret->frame = frames[0];
	ret->func = query_func(q, frames[0]);
	ret->in = query_func_name(q, ret->func);
	ret->call = ret->in ? query_syscall(q, frames, t->stacks[stack].n) : NULL;
}

void query_runs_in(struct query *q, int32_t tid, struct query_spot *ret)
{
	const uint32_t *task = map64_get(&q->model->tasks->by_tid, (uint32_t)tid);
	const struct locksnap *s = query_queues(q);
	uint64_t look_ns = s ? s->head.time_ns : q->model->now_ns;

	query_spot_of(
		q,
		task ? blame_runs_in(q->model, *task, look_ns > SAMPLE_NS ? look_ns - SAMPLE_NS : 0)
		     : STACK_OTHER,
		ret);
}

const char *query_spot_text(struct query *q, const struct query_spot *p)
{
	return p->call ? arena_printf(&q->arena, "%s (%s)", p->in, p->call) : p->in;
}

/* The function of the work that a kworker does, which its loop has called; NULL: it is none. */
static const char *work_of(struct query *q, const struct locksnap_queue *queue)
{
	const struct locksnap *s = query_queues(q);
	const uint64_t *frames = s ? s->frames + queue->holder_frame : NULL;

	for (uint32_t i = 1; s && i < queue->holder_n_frames; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		if (name && strcmp(name, "process_one_work") == 0)
			return query_func_name(q, query_func(q, frames[i - 1]));
	}
	return NULL;
}

/* ", its host took 12% of that CPU in the last 1.00s": a part that matters. */
static const char *steal_of(struct query *q, const struct locksnap_queue *l)
{
	char pct[UNITS_BUF], ns[UNITS_BUF];

	if (!l->steal_of_ns || l->steal_ns < l->steal_of_ns / 100)
		return "";
	return arena_printf(&q->arena, ", the host took %s%% of that CPU in the last %s",
			    units_pct(pct, 100 * (double)l->steal_ns / (double)l->steal_of_ns),
			    units_ns(ns, l->steal_of_ns));
}

static const char *holder_is(struct query *q, const struct locksnap_queue *queue)
{
	const char *state = query_queue_state(queue), *in = query_queue_function(q, queue);

	if (!state || queue->holder_state == LOCKSNAP_ASLEEP) {
		const char *work = in ? work_of(q, queue) : NULL;
		return in ? arena_printf(&q->arena, "%s %s%s%s", state, in, work ? ", does " : "",
					 work ? work : "")
			  : state;
	}
	if (queue->holder_cpu < 0)
		return state;
	const char *why = query_run_why(q, queue);
	struct query_spot spot = {0};
	if (queue->holder_state == LOCKSNAP_RUNNING)
		query_runs_in(q, queue->holder_tid, &spot);
	const char *steal = steal_of(q, queue);
	return arena_printf(&q->arena, "%s on %" PRId32 "%s%s%s%s", state, queue->holder_cpu,
			    spot.in ? " in " : "", spot.in ? query_spot_text(q, &spot) : "",
			    why ? why : "", steal ? steal : "");
}

const struct locksnap_reader *query_queue_reader(struct query *q,
						 const struct locksnap_queue *queue, uint32_t nth)
{
	const struct locksnap *s = query_queues(q);

	for (size_t i = 0; s && i < s->n_readers; i++)
		if (&s->queues[s->readers[i].queue] == queue && !nth--)
			return &s->readers[i];
	return NULL;
}

const char *query_queue_reads_in(struct query *q, const struct locksnap_reader *r)
{
	const struct locksnap *s = query_queues(q);

	if (!s || r->in >= r->n_frames)
		return NULL;
	return query_func_name(q, query_func(q, s->frames[r->frame + r->in]));
}

/* "running on 1, by show_smap": what it does, and the call that says that it is a reader. */
static const char *reader_is(struct query *q, const struct locksnap_reader *r)
{
	const struct locksnap *s = query_queues(q);
	const char *by = query_queue_reads_in(q, r), *in = NULL, *text = state_names[r->state];

	if (r->state == LOCKSNAP_ASLEEP)
		in = sleeps_in(q, s->frames + r->frame, r->n_frames);
	if (in)
		text = arena_printf(&q->arena, "%s %s", text, in);
	else if (text && r->state != LOCKSNAP_ASLEEP && r->cpu >= 0)
		text = arena_printf(&q->arena, "%s on %" PRId32, text, r->cpu);
	return arena_printf(&q->arena, "%s%s%s%s", text ? text : "", text && by ? ", " : "",
			    by ? "by " : "", by ? by : "");
}

const char *query_queue_readers(struct query *q, const struct locksnap_queue *queue,
				const char *between)
{
	const struct locksnap *s = query_queues(q);
	const struct locksnap_reader *r;
	const char *text = NULL;

	for (uint32_t n = 0; (r = query_queue_reader(q, queue, n)); n++) {
		const char *name = query_slash(&q->arena, locksnap_text(s, r->comm), r->tid, "-");
		const char *is = reader_is(q, r);
		text = arena_printf(&q->arena, "%s%s%s%s%s", text ? text : "", text ? between : "",
				    name ? name : "-", is && *is ? ", " : "", is ? is : "");
	}
	return text;
}

static const struct locksnap_sleep *call_of(struct query *q, int32_t tid)
{
	const struct locksnap *s = query_queues(q);

	for (size_t i = 0; s && i < s->n_sleeps; i++)
		if (s->sleeps[i].tid == tid)
			return &s->sleeps[i];
	return NULL;
}

const struct locksnap_sleep *query_queue_sleep(struct query *q, int32_t tid)
{
	const struct locksnap_sleep *f = call_of(q, tid);

	return f && f->doing != LOCKSNAP_SENDS ? f : NULL;
}

const char *query_queue_message(struct query *q, int32_t tid)
{
	const struct locksnap_sleep *f = call_of(q, tid);

	return f && f->doing == LOCKSNAP_SENDS ? locksnap_text(query_queues(q), f->file) : NULL;
}

const char *query_queue_about(struct query *q, int32_t tid)
{
	static const char *const doing[LOCKSNAP_DOINGS] = {
		[LOCKSNAP_READS] = "reads", [LOCKSNAP_WRITES] = "writes",
		[LOCKSNAP_SYNCS] = "syncs", [LOCKSNAP_CONTROLS] = "is at",
		[LOCKSNAP_SENDS] = "sends",
	};
	const struct locksnap *s = query_queues(q);
	const struct locksnap_sleep *f = call_of(q, tid);
	const char *file = f ? locksnap_text(s, f->file) : "";
	const char *device = f ? locksnap_text(s, f->device) : "";

	if (!f || !doing[f->doing] || !(*file || *device))
		return NULL;
	if (!*file)
		return arena_printf(&q->arena, "%s (%s)", doing[f->doing], device);
	return arena_printf(&q->arena, "%s %s%s%s%s", doing[f->doing], file, *device ? " (" : "",
			    device, *device ? ")" : "");
}

const char *query_queue_by_evidence(struct query *q, const struct locksnap_queue *queue)
{
	const struct locksnap_reader *r =
		queue->certainty == LOCKSNAP_EVIDENCE ? query_queue_reader(q, queue, 0) : NULL;

	return r ? query_queue_reads_in(q, r) : NULL;
}

const char *query_queue_holder_is(struct query *q, const struct locksnap_queue *queue)
{
	const char *is = holder_is(q, queue), *by = query_queue_by_evidence(q, queue);
	const char *message = query_queue_message(q, queue->holder_tid);

	if (is && message)
		return arena_printf(&q->arena, "%s, sends %s", is, message);
	return is && by ? arena_printf(&q->arena, "%s, by %s", is, by) : is;
}

uint64_t query_queue_held_ns(const struct query *q, const struct locksnap_queue *queue)
{
	const struct lockname_set *s = q->model->lock_names;

	if (!s || !queue->holder_tid)
		return 0;
	uint64_t seen_ns = lockhold_ns(&s->holds, queue->addr, queue->holder_tid);
	uint64_t got_ns = lock_last_got_ns(q->model->locks, queue->addr);
	if (seen_ns <= s->holds.time_ns && got_ns > s->holds.time_ns - seen_ns)
		return got_ns < s->holds.time_ns ? s->holds.time_ns - got_ns : 0;
	return seen_ns;
}

const char *query_queue_frames(struct query *q, const uint64_t *frames, uint32_t n)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		text = arena_printf(&q->arena, "%s%s%s", text ? text : "", text ? "\n" : "",
				    name ? name : query_hex(&q->arena, frames[i]));
	}
	return text;
}

const char *query_queue_holder_stack(struct query *q, const struct locksnap_queue *queue)
{
	const struct locksnap *s = query_queues(q);

	if (!s || !query_queue_certainty(queue))
		return NULL;
	return query_queue_frames(q, s->frames + queue->holder_frame, queue->holder_n_frames);
}

/* "work (app)", "app+0x4060", "0x7f12": as far as it is known; "work" without the file. */
static const char *user_call(struct query *q, const struct locksnap *s,
			     const struct locksnap_user_frame *f, bool with_file)
{
	const char *function = locksnap_text(s, f->function);
	const char *file = locksnap_text(s, f->object);

	file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (*function)
		return with_file ? arena_printf(&q->arena, "%s (%s)", function, file) : function;
	return arena_printf(&q->arena, "%s%s0x%" PRIx64, file, *file ? "+" : "", f->at);
}

/* The calls of the program, a line for each. */
static const char *user_stack(struct query *q, const struct locksnap *s,
			      const struct locksnap_waiter *w)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < w->user_n_frames; i++)
		text = arena_printf(&q->arena, "%s%s%s", text ? text : "", text ? "\n" : "",
				    user_call(q, s, &s->user_frames[w->user_frame + i], true));
	return text;
}

const char *query_queue_stack(struct query *q, const struct locksnap_waiter *w)
{
	const struct locksnap *s = query_queues(q);

	if (s && w->user_n_frames)
		return user_stack(q, s, w);
	return s ? query_queue_frames(q, s->frames + w->frame, w->n_frames) : NULL;
}

const char *query_queue_site(struct query *q, const struct locksnap_waiter *w)
{
	const struct locksnap *s = query_queues(q);

	return s && w->user_site < w->user_n_frames
		       ? user_call(q, s, &s->user_frames[w->user_frame + w->user_site], false)
		       : NULL;
}
