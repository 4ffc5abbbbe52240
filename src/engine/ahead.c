// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ahead. The thread writes batches of events and records, the engine reads them; a ring of
 * batches lies between. An event is copied, but for the parts that it borrows from its record: so
 * records that the merge gives back stay with the batch and go back to the source when the engine
 * is through with that. Source, decoder and merge see only the one thread.
 *
 * All that the model may ask of the merge is written beside the events, so that the result does not
 * depend on how far ahead the thread is.
 *
 * A file decides how much memory its records take: a packed snapshot of a few hundred bytes may
 * unpack to 16 MB. So the thread also counts bytes. When it has taken HELD_MOST more than were held
 * the last time, it waits until the engine has read all batches, and gives back all that they held.
 * Records that the engine keeps do not count, as the engine bounds these itself.
 */
#include "engine-int.h"
#include "kontend/mem.h"
#include <pthread.h>

/*
 * A batch fits into a cache of a core. A thread that waits does so for half of the ring: on an idle
 * machine, waking a thread takes longer than reading a few batches.
 */
enum { EVENTS = 512, RECORDS = 32, RUNS = 256, BATCHES = 128, WAKE = BATCHES / 2 };
/* More snapshots than the engine holds, with those of all batches. */
enum { GIVEN = 1024 + RECORDS * BATCHES };
enum { IDLE_MS = 1000 };

static const uint64_t HELD_MOST = 64 << 20;

struct entry {
	struct record record;
	struct engine_merged merged;
	uint32_t before; /* how many of the events come first */
	bool is_kept;
};

struct batch {
	size_t n_events, n_records, n_runs;
	int end;
	struct error err;
	struct engine_merged merged; /* at each event but for last_time */
	uint64_t last_times[EVENTS];
	struct event events[EVENTS];
	struct entry records[RECORDS];
	struct record runs[RUNS]; /* which the merge has given back */
};

struct ahead {
	struct source deferred; /* the merge's: what it gives back goes into the batch */
	struct source *source;
	struct decode *decode;
	struct order *order;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	uint64_t written, read; /* batches so far */
	bool stop, ended;
	bool waits;   /* the engine, for WAKE batches or the end */
	bool blocked; /* the thread, for room for so many */
	bool drains;  /* the thread, until the engine has read all */
	struct record given[GIVEN];
	size_t n_given;
	/* The thread's. */
	struct batch *batch;  /* being written */
	uint64_t held_before; /* bytes, after all was given back that could be */
	bool is_over;
	char apart[128]; /* no line of a cache is shared */
	/* The engine's. */
	struct batch *at;
	size_t event, record;
	struct batch batches[BATCHES];
};

static void clear(struct ahead *a)
{
	a->order->source = a->source;
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	pthread_cond_destroy(&a->room);
	mem_free(a);
}

/* Gives back what the engine is through with. */
static void recycle(struct ahead *a, struct batch *b)
{
	for (size_t i = 0; i < b->n_runs; i++)
		source_release(a->source, &b->runs[i]);
	for (size_t i = 0; i < b->n_records; i++)
		if (!b->records[i].is_kept)
			source_release(a->source, &b->records[i].record);
	b->n_events = b->n_records = b->n_runs = 0;
}

static void take_given(struct ahead *a)
{
	for (size_t i = 0; i < a->n_given; i++)
		source_release(a->source, &a->given[i]);
	a->n_given = 0;
}

/* With the lock held: the engine may have the batch. */
static void publish(struct ahead *a)
{
	a->written++;
	if (a->waits && (a->ended || a->drains || a->written - a->read >= WAKE)) {
		a->waits = false;
		pthread_cond_signal(&a->more);
	}
}

/* On to the next batch, once the engine is through with its old contents. */
static void hand_over(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	publish(a);
	a->blocked = a->written - a->read == BATCHES;
	while (!a->stop && a->blocked)
		pthread_cond_wait(&a->room, &a->lock);
	a->is_over = a->stop;
	take_given(a);
	pthread_mutex_unlock(&a->lock);
	a->batch = &a->batches[a->written % BATCHES];
	recycle(a, a->batch);
}

/* Too many bytes are held: the engine reads all batches, and then what they held goes. */
static void drain(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->drains = true;
	publish(a);
	while (!a->stop && a->read < a->written)
		pthread_cond_wait(&a->room, &a->lock);
	a->drains = false;
	a->is_over = a->stop;
	take_given(a);
	pthread_mutex_unlock(&a->lock);
	for (size_t i = 0; !a->is_over && i < BATCHES; i++)
		recycle(a, &a->batches[i]);
	a->batch = &a->batches[a->written % BATCHES];
	recycle(a, a->batch);
	a->held_before = source_held(a->source);
}

/* The merge gives a run back, which events before may still borrow from. */
static void defer(struct source *s, struct record *r)
{
	struct ahead *a = (struct ahead *)s;

	if (a->batch->n_runs == RUNS)
		hand_over(a);
	a->batch->runs[a->batch->n_runs++] = *r;
}

static const struct source_ops deferred_ops = {.release = defer};

static void put_event(struct ahead *a, const struct event *ev)
{
	const struct order *o = a->order;
	struct batch *b = a->batch;
	bool differs = b->merged.n_late != o->n_late || b->merged.n_bad != a->decode->n_bad;

	if (b->n_events == EVENTS || (b->n_events && differs)) {
		hand_over(a);
		b = a->batch;
	}
	if (!b->n_events)
		merge_look(a->decode, o, &b->merged);
	b->last_times[b->n_events] = o->last_time;
	b->events[b->n_events++] = *ev;
}

static void merge(struct ahead *a, uint64_t until)
{
	const struct event *ev;

	order_flush(a->order, until);
	while (!a->is_over && !order_pop(a->order, &ev))
		put_event(a, ev);
}

static void put_record(struct ahead *a, const struct record *r)
{
	if (a->batch->n_records == RECORDS)
		hand_over(a);
	struct batch *b = a->batch;
	struct entry *e = &b->records[b->n_records++];
	*e = (struct entry){.record = *r, .before = (uint32_t)b->n_events};
	merge_look(a->decode, a->order, &e->merged);
	if (r->kind == RECORD_TICK)
		e->merged.mark = source_mark(a->source);
}

/* 0, SOURCE_END or a negative errno. */
static int step_ahead(struct ahead *a, struct error *err)
{
	struct record rec;
	uint64_t until;
	int r = source_next(a->source, IDLE_MS, &rec, err);

	if (r == SOURCE_END)
		merge(a, UINT64_MAX);
	if (r)
		return r == SOURCE_IDLE ? 0 : r;
	r = merge_take(a->decode, a->order, &rec, err);
	if (r < 0)
		source_release(a->source, &rec);
	if (r)
		return r < 0 ? r : 0;
	if (merge_until(&rec, &until))
		merge(a, until);
	put_record(a, &rec);
	if (source_held(a->source) > a->held_before + HELD_MOST && !a->is_over)
		drain(a);
	return 0;
}

static void *run(void *arg)
{
	struct ahead *a = arg;
	struct error err = {0};
	int r = 0;

	while (!r && !a->is_over)
		r = step_ahead(a, &err);
	a->batch->end = r;
	a->batch->err = err;
	pthread_mutex_lock(&a->lock);
	a->ended = true;
	publish(a);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct ahead *ahead_new(struct source *s, struct decode *d, struct order *o)
{
	struct ahead *a = mem_calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->deferred.ops = &deferred_ops;
	a->source = s;
	a->decode = d;
	a->order = o;
	a->batch = a->batches;
	a->held_before = source_held(s);
	o->source = &a->deferred;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->more, NULL);
	pthread_cond_init(&a->room, NULL);
	if (!pthread_create(&a->thread, NULL, run, a))
		return a;
	clear(a);
	return NULL;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->room);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	for (size_t i = 0; i < BATCHES; i++)
		recycle(a, &a->batches[i]);
	take_given(a);
	clear(a);
}

static struct batch *next_batch(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->waits = a->read == a->written;
	while (a->waits)
		pthread_cond_wait(&a->more, &a->lock);
	pthread_mutex_unlock(&a->lock);
	a->event = a->record = 0;
	return &a->batches[a->read % BATCHES];
}

static void leave_batch(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->read++;
	if (a->drains && a->read == a->written)
		pthread_cond_signal(&a->room);
	if (a->blocked && a->written - a->read <= BATCHES - WAKE) {
		a->blocked = false;
		pthread_cond_signal(&a->room);
	}
	pthread_mutex_unlock(&a->lock);
	a->at = NULL;
}

/* False: there is nothing more in the batch. */
static bool next_in(struct ahead *a, struct batch *b, struct ahead_item *ret)
{
	struct entry *e = a->record < b->n_records ? &b->records[a->record] : NULL;
	size_t from = a->event, to = e ? e->before : b->n_events;

	a->event = to;
	if (from < to) {
		*ret = (struct ahead_item){.events = b->events + from,
					   .last_times = b->last_times + from,
					   .n = to - from,
					   .merged = b->merged};
		return true;
	}
	a->record += e != NULL;
	if (e)
		*ret = (struct ahead_item){.record = &e->record, .merged = e->merged};
	else
		*ret = (struct ahead_item){.end = b->end};
	return e || b->end;
}

void ahead_next(struct ahead *a, struct ahead_item *ret, struct error *err)
{
	for (;;) {
		if (!a->at)
			a->at = next_batch(a);
		if (next_in(a, a->at, ret))
			break;
		leave_batch(a);
	}
	if (ret->end < 0)
		*err = a->at->err;
}

void ahead_keep(struct ahead *a)
{
	a->at->records[a->record - 1].is_kept = true;
}

void ahead_release(struct ahead *a, const struct record *r)
{
	pthread_mutex_lock(&a->lock);
	a->given[a->n_given++] = *r;
	pthread_mutex_unlock(&a->lock);
}
