// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds the locks that are waited for, and who waits, as the latest snapshot of locks has it.
 * It is taken a moment after the tick that it is shown for: a waiter whom the events up to the tick
 * do not know may just have come. One who was in the snapshot before, too, has waited since before
 * there were events.
 */
#include "query-queues.h"
#include "kontend/mem.h"
#include "query-int.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct decoded {
	struct locksnap snap;
	const struct snapshot *of;
	uint64_t time_ns;
	size_t len;
	int code;
	struct held held;
};

struct query_queue_cache {
	struct decoded now, before;
	struct map64 waited; /* (task, lock) of the snapshot before */
	uint64_t waited_ns;  /* of which time */
};

void query_queues_deinit(struct query *q)
{
	if (q->queues) {
		locksnap_deinit(&q->queues->now.snap);
		locksnap_deinit(&q->queues->before.snap);
		map64_deinit(&q->queues->waited);
	}
	mem_free(q->queues);
	q->queues = NULL;
}

/* NULL: there is none that can be read. */
static const struct locksnap *decode(struct query *q, struct decoded *d, const struct snapshot *s)
{
	if (!s)
		return NULL;
	if (d->of != s || d->time_ns != s->head.time_ns || d->len != s->len || d->code == -ENOMEM) {
		if (d->code != -ENOMEM)
			held_renew(&d->held, &q->frame);
		d->code = locksnap_decode(&d->snap, s->bytes, s->len);
		d->of = s;
		d->time_ns = s->head.time_ns;
		d->len = s->len;
	}
	return d->code ? NULL : &d->snap;
}

int query_queues_init(struct query *q)
{
	q->queues = mem_calloc(1, sizeof(*q->queues));
	return q->queues ? 0 : -ENOMEM;
}

const struct locksnap *query_queues(struct query *q)
{
	return decode(q, &q->queues->now, snapshot_set_get(&q->model->snapshots, SNAPSHOT_LOCKS));
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
	const char *mode = queue->certainty == LOCKSNAP_HINT ? " R?"
			   : queue->type == LOCKSNAP_RWSEM   ? " W"
							     : "";
	if (queue->type == LOCKSNAP_SEM)
		mode = "?";
	return arena_printf(&q->arena, "%s%s", query_slash(&q->arena, comm, queue->holder_tid, "-"),
			    mode);
}

const char *query_queue_certainty(const struct locksnap_queue *queue)
{
	if (queue->certainty == LOCKSNAP_NOBODY || !queue->holder_tid)
		return NULL;
	return queue->certainty == LOCKSNAP_SURE ? "sure" : "hint";
}

const char *query_queue_state(const struct locksnap_queue *queue)
{
	static const char *const names[LOCKSNAP_STATES] = {
		[LOCKSNAP_RUNNING] = "running",
		[LOCKSNAP_RUNNABLE] = "runnable",
		[LOCKSNAP_ASLEEP] = "asleep",
	};

	return query_queue_certainty(queue) ? names[queue->holder_state] : NULL;
}

/* What every sleeper goes through says nothing. */
static bool is_schedule(const char *name)
{
	static const char *const prefixes[] = {"schedule", "__schedule", "preempt_schedule"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static const char *sleeps_in(struct query *q, const uint64_t *frames, uint32_t n)
{
	const char *name = NULL;

	for (uint32_t i = 0; i < n; i++) {
		name = query_func_name(q, query_func(q, frames[i]));
		if (name && !is_schedule(name))
			break;
	}
	return name;
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

const char *query_queue_holder_is(struct query *q, const struct locksnap_queue *queue)
{
	const char *state = query_queue_state(queue), *in = query_queue_function(q, queue);

	if (!state || queue->holder_state == LOCKSNAP_ASLEEP)
		return in ? arena_printf(&q->arena, "%s %s", state, in) : state;
	if (queue->holder_cpu < 0)
		return state;
	return arena_printf(&q->arena, "%s on %" PRId32, state, queue->holder_cpu);
}

uint64_t query_queue_held_ns(const struct query *q, const struct locksnap_queue *queue)
{
	const struct lockname_set *s = q->model->lock_names;

	return s && queue->holder_tid ? lockhold_ns(&s->holds, queue->addr, queue->holder_tid) : 0;
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

const char *query_queue_stack(struct query *q, const struct locksnap_waiter *w)
{
	const struct locksnap *s = query_queues(q);

	return s ? query_queue_frames(q, s->frames + w->frame, w->n_frames) : NULL;
}

const char *query_queue_caller(struct query *q, const struct locksnap_waiter *w)
{
	const struct locksnap *s = query_queues(q);

	if (!s || !w->n_frames)
		return NULL;
	const uint64_t *frames = s->frames + w->frame;
	return query_func_name(q, query_func(q, frames[sym_caller(q->sym, frames, w->n_frames)]));
}

enum lock_type query_queue_type(const struct locksnap_queue *queue,
				const struct locksnap_waiter *waiter)
{
	if (queue->type == LOCKSNAP_RWSEM)
		return waiter->reader ? LOCK_RWSEM_R : LOCK_RWSEM_W;
	return queue->type == LOCKSNAP_SEM ? LOCK_SEMAPHORE : LOCK_MUTEX;
}

static uint64_t queue_key(const struct locksnap *s, const struct locksnap_waiter *w)
{
	return map64_hash(s->queues[w->queue].addr) ^ (uint32_t)w->tid;
}

/* Who waited for what in the snapshot before. 0 or -ENOMEM. */
static int index_before(struct query *q, const struct locksnap *before)
{
	struct query_queue_cache *c = q->queues;

	if (c->waited_ns == c->before.time_ns)
		return 0;
	map64_clear(&c->waited);
	for (size_t i = 0; i < before->n_waiters; i++)
		if (map64_put(&c->waited, queue_key(before, &before->waiters[i]), 1) < 0)
			return -ENOMEM;
	c->waited_ns = c->before.time_ns;
	return 0;
}

/* Is there a wait of the thread for that lock in the stream? */
static bool is_told(const struct model *m, int32_t tid, uint64_t addr)
{
	const uint32_t *at = map64_get(&m->tasks.by_tid, (uint32_t)tid);
	const struct task *t = at && *at < m->tasks.n ? &m->tasks.tasks[*at] : NULL;

	for (int i = 0; t && i < t->depth; i++)
		if (m->waits.waits[t->waits[i]].addr == addr)
			return true;
	return false;
}

int query_queue_untold(struct query *q, uint32_t **ret, size_t *ret_n)
{
	const struct locksnap *s = query_queues(q), *before = NULL;

	*ret_n = 0;
	if (s && strcmp(q->model->host.targets, "all CPUs") == 0)
		before = decode(q, &q->queues->before,
				snapshot_set_get(&q->model->snapshots_before, SNAPSHOT_LOCKS));
	if (!s || !before)
		return q->queues->now.code == -ENOMEM || q->queues->before.code == -ENOMEM ? -ENOMEM
											   : 0;
	*ret = arena_alloc(&q->arena, (s->n_waiters + 1) * sizeof(**ret));
	if (!*ret || index_before(q, before) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_waiters; i++) {
		const struct locksnap_waiter *w = &s->waiters[i];
		if (map64_get(&q->queues->waited, queue_key(s, w)) &&
		    !is_told(q->model, w->tid, s->queues[w->queue].addr))
			(*ret)[(*ret_n)++] = (uint32_t)i;
	}
	return 0;
}
